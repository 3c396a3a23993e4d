//! Who pays and with which key: `[[credential]]`, `[[tenant]]`, `[[task]]`.

use super::findings::about;
use super::form::Form;
use super::lower::{World, new_name};
use super::quantity::{DURATION, LARGE_COUNT, MONEY};
use crate::policy::ledger::Amount;
use crate::sim::{CredentialFact, TaskFact, TenantFact};
use crate::units::{CredentialId, Duration, Money, Name, ProjectId};

/// A credential: an alias, never a key.
pub(super) fn credential(f: &mut Form<'_, '_>, world: &mut World) {
    let catalog = &mut world.catalog;
    let taken: Vec<Name> = catalog.credentials.iter().map(|credential| credential.name).collect();
    let name = new_name(f, "name", "Its alias.", &mut catalog.names, taken);
    let project = f.text(about("project", "What shares its quota and its bill; its own name by default."));
    let Some(name) = name else { return };
    let project = project.map_or(name, |word| world.catalog.names.intern(&word.text));
    declare_credential(world, name, project);
}

/// Adds a credential of a project.
pub(super) fn declare_credential(world: &mut World, name: Name, project: Name) -> CredentialId {
    let catalog = &mut world.catalog;
    let at = catalog.projects.iter().position(|known| *known == project).unwrap_or_else(|| {
        catalog.projects.push(project);
        catalog.projects.len() - 1
    });
    let project = ProjectId(id(at));
    catalog.credentials.push(CredentialFact { name, project });
    world.registry.credentials.push(project);
    CredentialId(id(catalog.credentials.len() - 1))
}

/// A tenant and its cap in each window.
pub(super) fn tenant(f: &mut Form<'_, '_>, world: &mut World) {
    let catalog = &mut world.catalog;
    let taken: Vec<Name> = catalog.tenants.iter().map(|tenant| tenant.name).collect();
    let name = new_name(f, "name", "Its pseudonym.", &mut catalog.names, taken);
    let cap = cap(f);
    let window = f.optional(about("window", "The length of a window; for ever by default."), &DURATION);
    if window == Some(Duration::ZERO) {
        f.problem(&f.span_of("window"), "a window of no length holds nothing", None);
    }
    if let Some(name) = name {
        world.catalog.tenants.push(TenantFact { name, cap, window });
        world.registry.tenants.push((cap, window));
    }
}

/// A task and its cap.
pub(super) fn task(f: &mut Form<'_, '_>, world: &mut World) {
    let catalog = &mut world.catalog;
    let taken: Vec<Name> = catalog.tasks.iter().map(|task| task.name).collect();
    let name = new_name(f, "name", "Its name.", &mut catalog.names, taken);
    let cap = cap(f);
    if let Some(name) = name {
        world.catalog.tasks.push(TaskFact { name, cap });
        world.registry.tasks.push(cap);
    }
}

/// The most that may be spent and used.
pub(super) fn cap(f: &mut Form<'_, '_>) -> Amount {
    let money = f.optional(about("cost_max", "The most it may cost; no cap by default."), &MONEY);
    let tokens =
        f.optional(about("tokens_max", "The most tokens it may use; no cap by default."), &LARGE_COUNT);
    Amount { money: money.unwrap_or(Money::MAX), tokens: tokens.unwrap_or(u64::MAX) }
}

/// A position as an id. A file of a mebibyte cannot declare more than fit.
pub(super) fn id(at: usize) -> u16 {
    u16::try_from(at).expect("a file is too small to declare 65,536 of anything")
}
