//! `[[route]]`: what the gateway may choose, and what it truly offers.

use super::findings::about;
use super::form::Form;
use super::lower::{Domain, World, member, members, new_name, position};
use super::parties::{declare_credential, id};
use super::quantity::{COUNT, DURATION, LARGE_COUNT, PRICE, TOKENS};
use super::tree::Word;
use super::upstreams::upstream;
use crate::gateway::{Profile, Route};
use crate::policy::eligibility::Offer;
use crate::policy::prices::{Prices, Tier};
use crate::sim::{Merits, RouteFact};
use crate::units::{BreakerId, CredentialId, HealthId, ModelId, Name, Price, ProviderId, Set64};

/// A route.
pub(super) fn route(f: &mut Form<'_, '_>, world: &mut World) {
    let taken: Vec<Name> = world.catalog.routes.iter().map(|route| route.name).collect();
    let name = new_name(f, "name", "Its name.", &mut world.catalog.names, taken);
    let unnamed = world.catalog.names.intern("");
    let identity = identity(f, world, name.unwrap_or(unnamed));
    let pool = pool(f, world, identity.provider_name);
    let offer = offer(f, world, identity.region);
    let latency_p95 =
        f.value(about("latency_p95", "Its P95 latency before any is measured."), &DURATION, "1 s");
    let quality = f.value(about("quality", "Its measured quality; higher is better."), &COUNT, "0");
    let doc = "Its share of the traffic among routes that tie; zero comes before all that have a weight.";
    let weight = f.value(about("weight", doc), &COUNT, "0");
    let upstream = f.table("upstream", |f| upstream(f, &world.ear, &mut world.catalog.names));
    let Some(name) = name else { return };
    let (provider, model) = (identity.provider, identity.model);
    let draw = world.catalog.names.hash(name);
    let breaker = BreakerId(domain(world, world.breaker_scope, name, &identity, Machine::Breaker));
    let health = HealthId(domain(world, world.health_scope, name, &identity, Machine::Health));
    let profile = Profile::default(); // given when every route is known
    let merits = Merits { latency_p95, quality, weight };
    let fact =
        RouteFact { name, provider, model, pool: pool.clone(), offer, breaker, health, profile, merits };
    world.catalog.routes.push(fact);
    world.registry.routes.push(Route {
        offer,
        provider,
        model,
        pool,
        breaker,
        health,
        latency_p95,
        quality,
        weight,
        draw,
        profile,
    });
    world.upstreams.push(upstream);
}

/// Who serves a route, what and where.
struct Identity {
    provider: ProviderId,
    provider_name: Name,
    model: ModelId,
    region: Set64,
    /// `provider/model/region`.
    path: String,
}

fn identity(f: &mut Form<'_, '_>, world: &mut World, route: Name) -> Identity {
    let provider = f.text(about("provider", "Who serves it; a provider of its own by default."));
    let model = f.text(about("model", "The model behind it; a model of its own by default."));
    let region = f.text(about("region", "The region it runs in; `anywhere` by default."));
    let catalog = &mut world.catalog;
    let mut name = |word: Option<Word>| word.map_or(route, |word| catalog.names.intern(&word.text));
    let (provider, model) = (name(provider), name(model));
    let unstated = Word { text: "anywhere".to_owned(), span: f.span() };
    let region = region.unwrap_or(unstated);
    let path = [catalog.names.text(provider), catalog.names.text(model), &region.text].join("/");
    Identity {
        provider: ProviderId(id(place(&mut catalog.providers, provider))),
        provider_name: provider,
        model: ModelId(id(place(&mut catalog.models, model))),
        region: member(f, "region", &region, &mut catalog.regions, &mut catalog.names),
        path,
    }
}

/// The position of `name` in `list`, where it is added if it is new.
fn place(list: &mut Vec<Name>, name: Name) -> usize {
    list.iter().position(|known| *known == name).unwrap_or_else(|| {
        list.push(name);
        list.len() - 1
    })
}

/// The credentials of a route; the key of its provider if it states none.
fn pool(f: &mut Form<'_, '_>, world: &mut World, provider: Name) -> Vec<CredentialId> {
    let doc = "Its credentials, the preferred one first; the one key of its provider by default.";
    let stated = f.texts(about("credentials", doc)).filter(|words| !words.is_empty());
    let known: Vec<Name> = world.catalog.credentials.iter().map(|credential| credential.name).collect();
    let Some(words) = stated else {
        let key = format!("key-{}", world.catalog.names.text(provider));
        let key = world.catalog.names.intern(&key);
        let declared = known.iter().position(|name| *name == key);
        return vec![match declared {
            Some(at) => CredentialId(id(at)),
            None => declare_credential(world, key, provider),
        }];
    };
    let mut pool = Vec::new();
    for word in &words {
        if let Some(at) = position(f, "credential", word, &known, &world.catalog.names) {
            pool.push(CredentialId(id(at)));
        }
    }
    pool
}

/// What a route offers.
fn offer(f: &mut Form<'_, '_>, world: &mut World, region: Set64) -> Offer {
    let capabilities = f.texts(about("capabilities", "What it can do."));
    let deployment = f.text(about("deployment", "The kind of deployment; `shared` by default."));
    let task_types = f.texts(about("task_types", "Kinds of task it is approved for; all by default."));
    let class_max =
        f.text(about("class_max", "The most sensitive class of data that may enter; the least by default."));
    let protocol = f.text(about("protocol", "The wire protocol it speaks."));
    let contract = f.text(about("contract", "The tool-schema contract it keeps."));
    let context_max = f
        .optional(about("context_max", "The most tokens that fit, input and output together."), &LARGE_COUNT);
    let output_max = f.optional(about("output_max", "The most tokens it can write."), &TOKENS);
    let prices = prices(f);
    let deployment = deployment.unwrap_or_else(|| Word { text: "shared".to_owned(), span: f.span() });
    let catalog = &mut world.catalog;
    let names = &mut catalog.names;
    let class_max = class_max.and_then(|word| position(f, "class", &word, &catalog.classes, names));
    Offer {
        capabilities: members(
            f,
            "capability",
            &capabilities.unwrap_or_default(),
            &mut catalog.capabilities,
            names,
        ),
        region,
        deployment: member(f, "deployment", &deployment, &mut catalog.deployments, names),
        class_max: class_max.map_or(0, rank),
        task_types: task_types
            .map_or(Set64::ALL, |words| members(f, "kind of task", &words, &mut catalog.task_types, names)),
        protocol: protocol.map(|word| names.intern(&word.text)),
        contract: contract.map(|word| names.intern(&word.text)),
        context_max: context_max.unwrap_or(u64::MAX),
        output_max: output_max.unwrap_or(u32::MAX),
        prices,
    }
}

/// The rank of a class.
pub(super) fn rank(at: usize) -> u8 {
    u8::try_from(at).expect("there are at most 200 classes")
}

/// What a route charges.
fn prices(f: &mut Form<'_, '_>) -> Prices {
    let base = f.optional_table("price", tier);
    if base.is_none() {
        f.missing("price", "`price = { input = \"$1.00/Mtok\", output = \"$4.00/Mtok\" }`");
    }
    let long = f.optional_table("long_price", |f| {
        let doc = "Calls with more input than this are charged these prices, all of them.";
        (f.required(about("above", doc), &LARGE_COUNT), tier(f))
    });
    Prices { base: base.unwrap_or_default(), long: long.and_then(|(above, tier)| Some((above?, tier))) }
}

/// Prices of one tier.
fn tier(f: &mut Form<'_, '_>) -> Tier {
    let input = f.required(about("input", "Fresh input."), &PRICE).unwrap_or_default();
    let output = f.required(about("output", "Output."), &PRICE).unwrap_or_default();
    let mut like_input = |key, doc| -> Price { f.optional(about(key, doc), &PRICE).unwrap_or(input) };
    Tier {
        input,
        output,
        cache_read: like_input("cache_read", "Input read from the cache; as fresh input by default."),
        cache_write: like_input("cache_write", "Input written to the cache; as fresh input by default."),
        image: like_input("image", "Input from images; as fresh input by default."),
        audio: like_input("audio", "Input from audio; as fresh input by default."),
    }
}

enum Machine {
    Breaker,
    Health,
}

/// The fault domain of a route, named by what shares it.
fn domain(world: &mut World, scope: Domain, route: Name, identity: &Identity, machine: Machine) -> u16 {
    let names = &mut world.catalog.names;
    let name = match scope {
        Domain::Route => route,
        Domain::Provider => identity.provider_name,
        Domain::ProviderModelRegion => names.intern(&identity.path),
    };
    let (list, count) = match machine {
        Machine::Breaker => (&mut world.catalog.breakers, &mut world.registry.breakers),
        Machine::Health => (&mut world.catalog.healths, &mut world.registry.healths),
    };
    let at = id(place(list, name));
    *count = id(list.len());
    at
}
