//! `[[policy.approved_failover]]`: the one route that may be called after a terminal fault of a class, and what that may
//! cost in all. Without it a terminal fault stops.

use super::findings::{Shape, about, knob};
use super::form::Form;
use super::lower::{World, position};
use super::parties::id;
use super::problems::instead_of;
use super::quantity::MONEY;
use super::tree::{Node, Word};
use crate::gateway::{Approval, Policy};
use crate::policy::taxonomy::{Class, Remedy};
use crate::units::{Money, Name, RouteId};

/// An approval as it is read: before the routes are.
pub(super) struct Stated {
    on: Class,
    route: Word,
    cost_max: Money,
}

/// One approval.
pub(super) fn approval(f: &mut Form<'_, '_>, policy: &Policy) -> Option<Stated> {
    let doc = "After faults of this class. What a policy refuses cannot be approved: nobody else may be asked for it.";
    let wants = ("`funds` or `auth`", Shape::Words(CLASSES.map(|class| class.0).to_vec()));
    let on = f.custom(about("on", doc), wants, |f, node| class(f, node, policy));
    if !f.has("on") {
        f.missing("on", "`on = \"funds\"`");
    }
    let doc = "The route that is called then, once for each request. Before such a fault it is a route like any other, and \
               what is called then is not counted here: a reserve ranks last.";
    let route = f.required_text(about("route", doc));
    let about_cost = knob(
        "cost_max",
        "The most that all such calls may cost in the run; after that the fault stops, by its name.",
        &[("$1000000", "an approval that never ends: the next account is emptied too", "")],
    );
    let cost_max = f.required(about_cost, &MONEY);
    Some(Stated { on: on?, route: route?, cost_max: cost_max? })
}

const CLASSES: [(&str, Class); 2] = [("funds", Class::Funds), ("auth", Class::Auth)];

fn class(f: &mut Form<'_, '_>, node: &Node, policy: &Policy) -> Option<Class> {
    let word = f.word("on", node)?;
    let Some((_, class)) = CLASSES.into_iter().find(|class| class.0 == word.text) else {
        if word.text == Class::PolicyRefusal.label() {
            let help = Some("a refusal that is asked elsewhere is washed into success".to_owned());
            f.problem(&word.span, "a refusal of policy cannot be approved", help);
        } else {
            let text = format!("`{}` is no class that can be approved", word.text);
            f.problem(&word.span, text, instead_of(&word.text, CLASSES.map(|class| class.0)));
        }
        return None;
    };
    if policy.taxonomy.remedy(class) != Remedy::Stop {
        let text = format!("nothing is approved where `policy.remedy.{}` does not stop", word.text);
        f.problem(&word.span, text, None);
    }
    Some(class)
}

/// Approvals by name become approvals of routes.
pub(super) fn give(f: &mut Form<'_, '_>, world: &mut World) {
    let routes: Vec<Name> = world.catalog.routes.iter().map(|route| route.name).collect();
    for Stated { on, route, cost_max } in std::mem::take(&mut world.approvals) {
        if world.registry.approvals.iter().any(|known| known.on == on) {
            let text = format!("two routes are approved after `{}`", on.label());
            f.problem(&route.span, text, Some("one route is approved for a class".to_owned()));
        } else if let Some(at) = position(f, "route", &route, &routes, &world.catalog.names) {
            world.registry.approvals.push(Approval { on, route: RouteId(id(at)), cost_max });
        }
    }
    world.catalog.approvals.clone_from(&world.registry.approvals);
}
