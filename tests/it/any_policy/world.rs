//! A random world as a scenario file: whatever can be declared, done and ordered, on up to four routes.

use super::knobs::{approvals, policy, profile};
use super::layers::{self, Layer};
use super::menu::{Choices, Menu, braced, choices, chosen};
use super::reply::{Reply, reply};
use faultlab::policy::taxonomy::{Hint, Scope};
use faultlab::sim::Setup;
use faultlab::units::{Duration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(super) struct World {
    busy: Choices,
    any: Choices,
    profile: Choices,
    approved: [Choices; 2],
    parties: Choices,
    routes: Vec<Route>,
    requests: Vec<Request>,
    arrivals: Vec<Request>,
    jobs: Vec<Job>,
    quotas: Vec<Choices>,
    orders: Vec<(Index, Index)>,
    /// Gateways above, outermost first: mostly none.
    layers: Vec<Layer>,
    /// What failures concern, and when they say to come back, where no file can say it.
    twists: Vec<(Index, Index)>,
    pub(super) seed: u64,
}

#[derive(Clone, Debug)]
struct Route {
    keys: Choices,
    cancel: Choices,
    replies: Vec<Reply>,
    faults: Vec<(Choices, Reply)>,
}

#[derive(Clone, Debug)]
struct Job {
    keys: Choices,
    steps: Vec<(Choices, Request)>,
}

#[derive(Clone, Debug)]
struct Request {
    keys: Choices,
    envelope: Choices,
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let route = (choices(5), choices(2), vec(reply(), 1..4), vec((choices(3), reply()), 0..3));
    let route = route.prop_map(|(keys, cancel, replies, faults)| Route { keys, cancel, replies, faults });
    let job = (choices(4), vec((choices(3), request(4)), 1..4)).prop_map(|(keys, steps)| Job { keys, steps });
    let policy = (choices(14), choices(4), choices(4), [choices(4), choices(4)], choices(3));
    let traffic = (vec(request(7), 0..4), vec(request(9), 0..3), vec(job, 0..2));
    let pairs = |most| vec(any::<(Index, Index)>(), 0..most);
    let layers = layers::layers();
    let rest = (vec(choices(5), 0..3), pairs(5), layers, pairs(3), 0..1_000_000u64);
    (policy, vec(route, 1..5), traffic, rest).prop_map(
        |(
            (busy, any, profile, approved, parties),
            routes,
            (requests, arrivals, jobs),
            (quotas, orders, layers, twists, seed),
        )| World {
            busy,
            any,
            profile,
            approved,
            parties,
            routes,
            requests,
            arrivals,
            jobs,
            quotas,
            orders,
            layers,
            twists,
            seed,
        },
    )
}

fn request(most: usize) -> impl Strategy<Value = Request> {
    (choices(most), choices(1)).prop_map(|(keys, envelope)| Request { keys, envelope })
}

const PARTIES: Menu = &[
    ("tenant_cost", &["\"$0.05\"", "\"$0\"", "\"$0.30\""]),
    ("tenant_tokens", &["3000", "0", "20000"]),
    ("tenant_window", &["\"1 s\"", "\"100 ms\"", "\"1 h\""]),
    ("task_cost", &["\"$0.05\"", "\"$0\"", "\"$0.30\""]),
    ("task_tokens", &["3000", "0", "20000"]),
];

const ROUTE: Menu = &[
    ("provider", &["\"acme\"", "\"other\""]),
    ("model", &["\"large\"", "\"small\""]),
    ("region", &["\"north\"", "\"south\""]),
    (
        "credentials",
        &[
            "[\"key-a\"]",
            "[\"key-a\", \"key-b\"]",
            "[\"key-a\", \"key-c\"]",
            "[\"key-c\", \"key-b\", \"key-a\"]",
        ],
    ),
    ("latency_p95", &["\"100 ms\"", "\"0 ms\"", "\"5 s\""]),
    ("quality", &["5", "9"]),
    ("weight", &["1", "7"]),
    ("capabilities", &["[\"tools\"]", "[\"tools\", \"json\"]"]),
    ("class_max", &["\"restricted\"", "\"internal\""]),
    ("context_max", &["1500", "100"]),
    ("output_max", &["500", "10"]),
    ("task_types", &["[\"chat\"]", "[\"batch\"]"]),
    ("deployment", &["\"dedicated\""]),
    ("contract", &["\"v1\"", "\"v2\""]),
    ("protocol", &["\"chat\""]),
    ("long_price", &["{ above = 500, input = \"$30.00/Mtok\", output = \"$90.00/Mtok\" }"]),
];

/// One in the first place, what is far in the second: prices a route cannot do without.
const PRICES: [&str; 3] = [
    "price = { input = \"$5.00/Mtok\", output = \"$20.00/Mtok\" }\n",
    "price = { input = \"$0.00/Mtok\", output = \"$0.00/Mtok\" }\n",
    "price = { input = \"$9.00/Mtok\", output = \"$50.00/Mtok\", cache_read = \"$1.00/Mtok\" }\n",
];

const CANCEL: Menu = &[
    ("receipt", &["\"150 ms\"", "\"never\"", "\"5 s\"", "\"0 ms\""]),
    ("bill", &["\"unknown\"", "\"nothing\"", "\"elapsed\"", "\"everything\""]),
];

const FAULT: Menu = &[
    ("rate", &["\"1/2\"", "\"1/5\"", "\"9/10\""]),
    ("from", &["\"200 ms\"", "\"1 s\""]),
    ("to", &["\"1500 ms\"", "\"6 s\""]),
];

const REQUEST: Menu = &[
    ("at", &["\"50 ms\"", "\"80 ms\"", "\"400 ms\"", "\"1 s\"", "\"3 s\""]),
    ("first", &["\"50 ms\"", "\"400 ms\"", "\"1 s\""]),
    ("count", &["4", "12", "30"]),
    ("gap", &["\"100 ms\"", "\"0 ms\"", "{ exponential = \"60 ms\" }", "\"20 ms\""]),
    ("deadline", &["\"1 s\"", "\"600 s\"", "\"5 s\"", "\"300 ms\"", "\"80 ms\"", "\"0 ms\""]),
    ("cost_max", &["\"$0.03\"", "\"$0.012\"", "\"$0\""]),
    ("tokens_max", &["2500", "1100", "0"]),
    (
        "tokens",
        &[
            "{ input = 1000, output_max = 100 }",
            "{ output_max = 0 }",
            "{ input = 300, cache_read = 600, output_max = 300 }",
        ],
    ),
    ("delivery", &["\"stream\""]),
    ("side_effects", &["true"]),
    ("priority", &["1", "255"]),
    ("hangs_up", &["\"80 ms\"", "\"400 ms\"", "\"0 ms\""]),
    ("tenant", &["\"someone\""]),
    ("task", &["\"errand\""]),
    ("content", &["\"the same\""]),
    ("delivery", &["\"stream\""]),
];

/// What a request demands of a route: seldom, or nobody is called.
const ENVELOPE: Menu = &[
    ("capabilities", &["[\"tools\"]", "[\"json\"]"]),
    ("regions", &["[\"north\"]", "[\"south\", \"north\"]"]),
    ("class", &["\"internal\"", "\"restricted\""]),
    ("task_type", &["\"chat\""]),
    ("contract", &["\"v1\""]),
    ("protocol", &["\"chat\""]),
    ("deployments", &["[\"dedicated\"]", "[\"shared\"]"]),
];

const JOB: Menu = &[
    ("count", &["2", "5"]),
    ("every", &["\"100 ms\"", "\"0 ms\"", "\"1 s\""]),
    ("first", &["\"50 ms\""]),
    ("cost_max", &["\"$0.05\"", "\"$0.20\""]),
    ("tokens_max", &["3000", "20000"]),
];

const STEP: Menu = &[
    ("times", &["2", "3"]),
    ("think", &["\"20 ms\""]),
    ("after", &[FIRST_STEP]),
    ("tenant", &["\"someone\""]),
];

const FIRST_STEP: &str = "the first step of its job";

const QUOTA: Menu = &[
    ("model", &["\"large\"", "\"small\""]),
    ("counts", &["\"tokens\""]),
    ("used", &["1", "900"]),
    ("refused", &["\"counts\""]),
    ("window", &["\"1 s\"", "\"200 ms\"", "{ reset = \"midnight America/Los_Angeles\" }"]),
    ("says_when", &["true"]),
    (
        "refusal",
        &[
            "{ after = \"5 ms\", status = 429, code = \"quota_exhausted\" }",
            "{ after = \"0 ms\", status = 429, code = \"rate_limited\" }",
            "{ after = \"20 ms\", status = 429, retry_after = \"100 ms\" }",
        ],
    ),
];

/// What is reset, and what must be there for it.
const ORDERS: [(&str, &str); 13] = [
    ("route:r0", ""),
    ("breaker:r0", ""),
    ("health:r0", ""),
    ("credential:key-a", ""),
    ("project:ours", ""),
    ("model:ours/large", "model = \"large\""),
    ("provider:acme", "provider = \"acme\""),
    ("credential:key-c", ""),
    ("model:theirs/large", "model = \"large\""),
    ("route:r1", "name = \"r1\""),
    ("breaker:r1", "name = \"r1\""),
    ("health:r1", "name = \"r1\""),
    ("project:theirs", ""),
];

const SCOPES: [Option<Scope>; 6] = [
    None,
    Some(Scope::Request),
    Some(Scope::Credential),
    Some(Scope::Project),
    Some(Scope::Model),
    Some(Scope::Provider),
];

const TIMES: [&str; 8] = ["80 ms", "0 ms", "130 ms", "300 ms", "500 ms", "1 s", "1300 ms", "4 s"];

const TOKENS: &str = "tokens = { input = 1000, output_max = 100 }\n";

impl World {
    pub(super) fn toml(&self) -> String {
        let mut t = String::from(
            "format = 1\ntitle = \"any world\"\nstart = \"2027-03-13T23:59:58[America/Los_Angeles]\"\n",
        );
        let policy = policy(&self.busy, &self.any);
        t.push_str(&policy);
        if self.routes.iter().any(Route::is_of_acme) {
            t.push_str(&profile("acme", &self.profile, &policy));
        }
        t.push_str(&approvals(self.routes.len(), &self.approved));
        for (key, project) in [("key-a", "ours"), ("key-b", "ours"), ("key-c", "theirs")] {
            let _ = write!(t, "\n[[credential]]\nname = \"{key}\"\nproject = \"{project}\"\n");
        }
        self.declare_parties(&mut t);
        for (at, route) in self.routes.iter().enumerate() {
            route.write(at, &mut t);
        }
        self.declare_traffic(&mut t);
        for quota in &self.quotas {
            let keys = chosen(QUOTA, quota);
            let known = |line: &&str| !line.starts_with("model") || t.contains(&format!("\n{line}\n"));
            let keys: String = keys.lines().filter(known).map(|line| format!("{line}\n")).collect();
            let project = if keys.contains("used = 900") { "theirs" } else { "ours" };
            let limit = if keys.contains("tokens") { 5_000 } else { 3 };
            let _ = write!(t, "\n[[quota]]\nproject = \"{project}\"\nlimit = {limit}\n{keys}");
        }
        layers::declare(&self.layers, &mut t);
        for (what, at) in &self.orders {
            let ((what, needs), at) = (ORDERS[what.index(ORDERS.len())], TIMES[at.index(TIMES.len())]);
            if t.contains(needs) {
                let _ = write!(t, "\n[[operator]]\nat = \"{at}\"\nreset = \"{what}\"\n");
            }
        }
        t
    }

    /// The twists, as they are read here.
    pub(super) fn twists(&self) -> String {
        let words = self.twists.iter().map(|(scope, hint)| (scope.index(SCOPES.len()), hint.index(5)));
        format!("{:?}", words.collect::<Vec<_>>())
    }

    /// Lets failures concern other things, and come back at other instants, than a file can say.
    pub(super) fn twist(&self, setup: &mut Setup) {
        let replies = setup.upstreams.iter_mut().flat_map(|upstream| {
            upstream.script.iter_mut().chain(upstream.faults.iter_mut().map(|fault| &mut fault.reply))
        });
        let refusals = setup.quotas.iter_mut().map(|quota| &mut quota.refusal);
        let failures = replies.chain(refusals).filter_map(|reply| reply.failure.as_mut());
        // What is wrong with a credential is wrong with no other.
        let failures = failures.filter(|failure| !failure.truth.is_terminal());
        let told = failures.filter_map(|failure| failure.told.as_mut());
        for (diagnosis, (scope, hint)) in told.zip(self.twists.iter().cycle()) {
            diagnosis.scope = SCOPES[scope.index(SCOPES.len())].unwrap_or(diagnosis.scope);
            diagnosis.hint = match hint.index(5) {
                0 | 1 => diagnosis.hint,
                2 => Hint::Absent,
                3 => Hint::At(Timestamp::from_nanos(700_000_000)),
                _ => Hint::After(Duration::from_millis(40)),
            };
        }
    }

    fn declare_parties(&self, t: &mut String) {
        let caps = chosen(PARTIES, &self.parties);
        for (party, name) in [("tenant", "someone"), ("task", "errand")] {
            let _ = write!(t, "\n[[{party}]]\nname = \"{name}\"\n");
            for line in caps.lines().filter_map(|line| line.strip_prefix(&format!("{party}_"))) {
                let (key, value) = line.split_once(' ').unwrap();
                let key = if key == "window" { "window".to_owned() } else { format!("{key}_max") };
                let _ = writeln!(t, "{key} {value}");
            }
        }
    }

    fn declare_traffic(&self, t: &mut String) {
        let without = |request: &Request, unfit: &[&str]| -> String {
            let keys = chosen(REQUEST, &request.keys) + &chosen(ENVELOPE, &request.envelope);
            let fit = keys.lines().filter(|line| !unfit.contains(&line.split(' ').next().unwrap()));
            fit.map(|line| format!("{line}\n")).collect()
        };
        let complete = |keys: String| if keys.contains("tokens =") { keys } else { keys + TOKENS };
        // Only calls of a task are compared.
        let comparable = |keys: String| -> String {
            let is_of_a_task = keys.contains("task = ");
            let kept = keys.lines().filter(|line| is_of_a_task || !line.starts_with("content"));
            kept.map(|line| format!("{line}\n")).collect()
        };
        if self.requests.is_empty() && self.arrivals.is_empty() && self.jobs.is_empty() {
            let _ = write!(t, "\n[[request]]\nid = \"only\"\n{TOKENS}");
        }
        for (at, keys) in self.requests.iter().enumerate() {
            let keys = comparable(complete(without(keys, &["first", "count", "gap"])));
            let _ = write!(t, "\n[[request]]\nid = \"q{at}\"\n{keys}");
        }
        for (at, keys) in self.arrivals.iter().enumerate() {
            let mut keys = comparable(complete(without(keys, &["at"])));
            if !keys.contains("count =") {
                keys.push_str("count = 8\n");
            }
            if !keys.contains("gap =") {
                keys.push_str("clients = 3\nthink = \"40 ms\"\n");
            }
            let _ = write!(t, "\n[[arrivals]]\nname = \"s{at}\"\n{keys}");
        }
        for (at, job) in self.jobs.iter().enumerate() {
            let mut keys = chosen(JOB, &job.keys);
            if !keys.contains("every =") {
                keys.push_str("every = \"250 ms\"\n");
            }
            let _ = write!(t, "\n[[job]]\nname = \"j{at}\"\n{keys}");
            for (nth, (keys, request)) in job.steps.iter().enumerate() {
                let mut keys = chosen(STEP, keys).replace(FIRST_STEP, &format!("[\"step-{at}-0\"]"));
                if nth == 0 {
                    keys = keys
                        .lines()
                        .filter(|line| !line.starts_with("after"))
                        .map(|l| format!("{l}\n"))
                        .collect();
                }
                let unfit = ["first", "count", "gap", "at", "task", "tenant"];
                let keys = keys + &complete(without(request, &unfit));
                let _ = write!(t, "\n[[job.step]]\nname = \"step-{at}-{nth}\"\n{keys}");
            }
        }
    }
}

impl Route {
    fn is_of_acme(&self) -> bool {
        !chosen(ROUTE, &self.keys).contains("provider = \"other\"")
    }

    fn write(&self, at: usize, t: &mut String) {
        let mut keys = chosen(ROUTE, &self.keys);
        for (key, value) in
            [("provider", "\"acme\""), ("model", "\"large\""), ("credentials", "[\"key-a\", \"key-c\"]")]
        {
            if !keys.lines().any(|line| line.starts_with(&format!("{key} ="))) {
                keys.push_str(&format!("{key} = {value}\n"));
            }
        }
        let price = PRICES[self.keys.first().map_or(0, |first| first.1.index(PRICES.len()))];
        let _ = write!(t, "\n[[route]]\nname = \"r{at}\"\n{keys}{price}");
        let _ = writeln!(t, "upstream.on_cancel = {}", braced(CANCEL, &self.cancel));
        let replies: Vec<String> = self.replies.iter().map(|reply| reply.braced("")).collect();
        let _ = writeln!(t, "upstream.replies = [\n  {},\n]", replies.join(",\n  "));
        let faults: Vec<String> =
            self.faults.iter().map(|(when, reply)| reply.braced(&chosen(FAULT, when))).collect();
        if !faults.is_empty() {
            let _ = writeln!(t, "upstream.faults = [\n  {},\n]", faults.join(",\n  "));
        }
    }
}
