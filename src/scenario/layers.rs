//! `[[layer]]` and `[stack]`: the gateways above the file's own, outermost first. Each has a policy of its own and one
//! route, which leads to the layer below; what it states of that layer it states once, at the door between the two.

use super::faults::{Ear, plain};
use super::findings::{Shape, about, knob};
use super::form::Form;
use super::lower::{World, limits, new_name};
use super::policy::knobs;
use super::quantity::{COUNT_FROM_ONE, DURATION};
use crate::gateway::{Policy, Profile, Registry, Route};
use crate::policy::eligibility::Offer;
use crate::policy::prices::{Prices, Tier};
use crate::sim::{
    Above, Catalog, CredentialFact, FailedReply, Handed, Hears, LayerFact, Machines, Merits, RouteFact, Told,
};
use crate::units::{
    BreakerId, CredentialId, Duration, HealthId, ModelId, Name, Names, ProjectId, ProviderId, Set64,
};
use crate::wire::Response;

/// The name of the gateway that a file describes as a whole.
const OWN: &str = "gateway";

/// The most layers of a file.
const LAYERS_MAX: usize = 16;

/// A layer, as a file states it.
pub(super) struct Layer {
    name: Name,
    policy: Policy,
    pub(super) deadline: Handed,
    cancel: Told,
    hears: Option<u16>,
}

/// A layer.
pub(super) fn layer(f: &mut Form<'_, '_>, world: &mut World) {
    let own = world.catalog.names.intern(OWN);
    let routes = world.catalog.routes.iter().map(|route| route.name);
    let layers = world.layers.iter().map(|layer| layer.name);
    let taken: Vec<Name> = routes.chain(layers).chain([own]).collect();
    let doc = "Its name; the file's own gateway is called `gateway`.";
    let name = new_name(f, "name", doc, &mut world.catalog.names, taken);
    let mut above = World::default();
    let doc = "Its own knobs, each as in `[policy]`. Its only route is the layer below, so \
               `retry.calls_per_route_max` says how often it asks; it has no `profile`, and nothing is approved in it. \
               It reads no response, so it has no `dialect`.";
    f.alike(about("policy", doc), ("a policy", Shape::Policy), |f| knobs(f, &mut above));
    let (deadline, cancel) = f.table("passes", passes);
    let hears = hears(f);
    if world.layers.len() >= LAYERS_MAX {
        f.problem(&f.span(), format!("this is one layer too many: {LAYERS_MAX} fit"), None);
    } else if let Some(name) = name {
        world.layers.push(Layer { name, policy: above.policy, deadline, cancel, hears });
    }
}

/// What the layer below learns of its caller.
fn passes(f: &mut Form<'_, '_>) -> (Handed, Told) {
    let about_deadline = knob(
        "deadline",
        "Whether the layer below gets the deadline of the request that it is called for.",
        &[("false", "the layers below plan waits and calls for which nobody can wait", "")],
    );
    let about_cancel = knob(
        "cancel",
        "Whether the layer below hears that nobody waits for it any more: at a timeout, a deadline, a hang-up.",
        &[("false", "the turn is run again while its first run goes on, for nobody", "no_call_for_nobody")],
    );
    let deadline = f.switch(about_deadline, Told::AtOnce, Told::Never, "true");
    let doc =
        "How long the layer below gives itself instead, from the arrival of a request; for ever by default.";
    let own: Option<Duration> = f.optional(about("own_deadline", doc), &DURATION);
    let cancel = f.switch(about_cancel, Told::AtOnce, Told::Never, "true");
    let deadline = match deadline {
        Told::AtOnce => {
            if own.is_some() {
                let help = Some("state `deadline = false` beside it".to_owned());
                f.problem(&f.span_of("own_deadline"), "the layer below gets a deadline already", help);
            }
            Handed::Down
        }
        Told::Never => Handed::Not(own),
    };
    (deadline, cancel)
}

/// What the failures of the layer below come as.
fn hears(f: &mut Form<'_, '_>) -> Option<u16> {
    let about_hears = knob(
        "hears",
        "As what a failure of the layer below comes: as it was, with its code and the wait that it asks for \
         (`as_it_was`; if no failure was met, a 504 after a timeout, a 503 if everything is closed for now, and a 400 \
         if nothing may be tried); or always as this status, without a code.",
        &[
            ("bare_429", "an invalid key becomes a limit that is waited for", "terminal_stops"),
            ("bare_500", "an empty account becomes an error that is tried again", "terminal_stops"),
            ("bare_503", "an invalid key becomes \"all models are busy\", one layer up", "terminal_stops"),
        ],
    );
    let words =
        [("as_it_was", None), ("bare_429", Some(429)), ("bare_500", Some(500)), ("bare_503", Some(503))];
    f.choice(about_hears, &words, "as_it_was")
}

/// What the stack as a whole may do.
pub(super) fn stack(f: &mut Form<'_, '_>, world: &mut World) {
    let doc = "Calls to upstreams that one request of a caller may lead to, through all layers together; as many as \
               the most persistent layer may make alone, by default.";
    let calls_max = f.optional(about("calls_max", doc), &COUNT_FROM_ONE);
    if let (Some(calls_max), true) = (calls_max, world.layers.is_empty()) {
        let help = Some(format!("state `policy.retry.attempts_max = {calls_max}`"));
        f.problem(&f.span_of("calls_max"), "there is no `[[layer]]` above the file's own gateway", help);
    }
    world.catalog.stack.calls_max = calls_max.unwrap_or(0);
}

/// Puts the layers on top of each other. Everything else has been read.
pub(super) fn build(world: &mut World) -> Vec<Above> {
    let mut layers: Vec<Layer> = std::mem::take(&mut world.layers);
    if layers.is_empty() {
        return Vec::new();
    }
    layers.reverse();
    let names = &mut world.catalog.names;
    let own = names.intern(OWN);
    let stack: Vec<Name> = std::iter::once(own).chain(layers.iter().map(|layer| layer.name)).collect();
    let keys: Vec<Name> = stack.iter().map(|name| key_of(*name, names)).collect();
    let reply = |status, names: &mut Names| -> FailedReply {
        plain(&Response { status: Some(status), code: None, retry_after: None }, &Ear::default(), names)
    };
    let (late, closed, refused) = (reply(504, names), reply(503, names), reply(400, names));
    let always: Vec<Option<FailedReply>> =
        layers.iter().map(|layer| layer.hears.map(|status| reply(status, names))).collect();
    let most = layers.iter().map(|layer| layer.policy.retry.attempts_max).max().unwrap_or(0);
    let facts = &mut world.catalog.stack;
    facts.names = stack.clone();
    if facts.calls_max == 0 {
        facts.calls_max = most.max(world.policy.retry.attempts_max);
    }
    let prices = least(&world.catalog);
    let class_max = world.catalog.classes.len().saturating_sub(1) as u8;
    let base = world.catalog.clone();
    let mut above = Vec::new();
    for (at, (layer, always)) in layers.into_iter().zip(always).enumerate() {
        let door = Door { name: stack[at], key: keys[at], class_max, prices };
        let Layer { policy, deadline, cancel, hears, .. } = layer;
        let registry = door.registry(world);
        let catalog = door.catalog(&base, &policy, &registry);
        world.catalog.stack.above.push(LayerFact { catalog, deadline, cancel, hears });
        let hears = Hears { always, late, closed, refused };
        above.push(Above { policy, registry, hears });
    }
    above
}

fn key_of(name: Name, names: &mut Names) -> Name {
    let key = format!("key-{}", names.text(name));
    names.intern(&key)
}

/// The least that each kind of token costs on any route: a layer that knows no routes quotes no more than that, and
/// refuses nothing that a route could do.
fn least(catalog: &Catalog) -> Prices {
    let tiers = catalog.routes.iter().flat_map(|route| {
        let prices = &route.offer.prices;
        [Some(prices.base), prices.long.map(|(_, tier)| tier)].into_iter().flatten()
    });
    let least = |a: Tier, b: Tier| Tier {
        input: a.input.min(b.input),
        cache_read: a.cache_read.min(b.cache_read),
        cache_write: a.cache_write.min(b.cache_write),
        image: a.image.min(b.image),
        audio: a.audio.min(b.audio),
        output: a.output.min(b.output),
    };
    Prices { base: tiers.reduce(least).unwrap_or_default(), long: None }
}

/// The one route of a layer: it leads to the layer below, admits everything, and asks no more than the least.
struct Door {
    /// The name of the layer below.
    name: Name,
    key: Name,
    /// The most sensitive class of data that there is.
    class_max: u8,
    prices: Prices,
}

impl Door {
    const fn offer(&self) -> Offer {
        Offer {
            capabilities: Set64::ALL,
            region: Set64::EMPTY,
            deployment: Set64::EMPTY,
            class_max: self.class_max,
            task_types: Set64::ALL,
            protocol: None,
            contract: None,
            context_max: u64::MAX,
            output_max: u32::MAX,
            prices: self.prices,
        }
    }

    /// What is declared of the layer that has this door.
    fn catalog(&self, base: &Catalog, policy: &Policy, registry: &Registry) -> Catalog {
        let route = RouteFact {
            name: self.name,
            provider: ProviderId(0),
            model: ModelId(0),
            pool: vec![CredentialId(0)],
            offer: self.offer(),
            breaker: BreakerId(0),
            health: HealthId(0),
            profile: Profile::default(),
            merits: Merits::default(),
        };
        Catalog {
            providers: vec![self.name],
            models: vec![self.name],
            projects: vec![self.name],
            credentials: vec![CredentialFact { name: self.key, project: ProjectId(0) }],
            routes: vec![route],
            breakers: vec![self.name],
            healths: vec![self.name],
            quotas: Vec::new(),
            approvals: Vec::new(),
            limits: limits(policy),
            machines: Machines::of(policy, registry),
            ..base.clone()
        }
    }

    /// What that layer believes. Who pays is known in every layer.
    fn registry(&self, world: &World) -> Registry {
        let route = Route {
            offer: self.offer(),
            provider: ProviderId(0),
            model: ModelId(0),
            pool: vec![CredentialId(0)],
            breaker: BreakerId(0),
            health: HealthId(0),
            latency_p95: Duration::from_secs(1),
            quality: 0,
            weight: 0,
            draw: world.catalog.names.hash(self.name),
            profile: Profile::default(),
        };
        Registry {
            routes: vec![route],
            credentials: vec![ProjectId(0)],
            tasks: world.registry.tasks.clone(),
            tenants: world.registry.tenants.clone(),
            breakers: 1,
            healths: 1,
            ..Registry::default()
        }
    }
}
