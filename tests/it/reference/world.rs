//! A small random world, as a value that both sides read: the model directly, the gateway as a scenario file.

use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Write;

/// Times in milliseconds, money in cents.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) routes: Vec<Route>,
    pub(super) requests: Vec<Request>,
    pub(super) attempts_max: u64,
    pub(super) calls_per_route_max: u64,
    pub(super) backoff: u64,
    pub(super) attempt_timeout: Option<u64>,
    /// Failures in a row that open a route's breaker, and for how long.
    pub(super) breaker: Option<(u64, u64)>,
    /// After how long another leg is started, and how many there may be.
    pub(super) hedge: Option<(u64, u64)>,
    pub(super) task_cap: u64,
    pub(super) receipt_max: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) lawful: bool,
    /// What a call costs at most, and if it is answered.
    pub(super) price: u64,
    pub(super) replies: Vec<Reply>,
    /// From a cancel to its receipt; `None` is never.
    pub(super) receipt: Option<u64>,
    /// Whether a cancelled call is billed in full, or not at all.
    pub(super) cancel_costs: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) after: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Answer,
    /// A rate limit: another route after the backoff, says nothing about health.
    Limited,
    /// A 503: another route after the backoff, bad for the breaker; half the price is billed.
    Sick,
    /// A refusal: stop.
    Refused,
    /// A bad key: stop, and the route is closed for good.
    BadKey,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) at: u64,
    pub(super) deadline: u64,
    pub(super) cap: u64,
    pub(super) in_task: bool,
    pub(super) side_effects: bool,
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let kind = prop_oneof![
        4 => Just(Kind::Answer),
        3 => Just(Kind::Limited),
        4 => Just(Kind::Sick),
        1 => Just(Kind::Refused),
        1 => Just(Kind::BadKey),
    ];
    let reply = (0u64..60, kind).prop_map(|(after, kind)| Reply { after: after * 5, kind });
    let route = (
        prop::bool::weighted(0.85),
        1u64..20,
        vec(reply, 1..4),
        proptest::option::weighted(0.8, 0u64..80),
        any::<bool>(),
    )
        .prop_map(|(lawful, price, replies, receipt, cancel_costs)| Route {
            lawful,
            price: price * 2,
            replies,
            receipt,
            cancel_costs,
        });
    let request = (0u64..60, 1u64..120, 5u64..90, any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(at, deadline, cap, in_task, side_effects)| Request {
            at: at * 5,
            deadline: deadline * 5,
            cap,
            in_task,
            side_effects,
        },
    );
    let policy = (
        1u64..5,
        1u64..3,
        0u64..30,
        proptest::option::weighted(0.4, 1u64..40),
        proptest::option::weighted(0.5, (1u64..4, 1u64..60)),
        proptest::option::weighted(0.5, (1u64..30, 2u64..4)),
        10u64..150,
        1u64..60,
    );
    (vec(route, 1..4), vec(request, 1..5), policy).prop_map(
        |(
            routes,
            requests,
            (attempts_max, calls_per_route_max, backoff, timeout, breaker, hedge, task_cap, receipt_max),
        )| World {
            routes,
            requests,
            attempts_max,
            calls_per_route_max,
            backoff: backoff * 5,
            attempt_timeout: timeout.map(|t| t * 5),
            breaker: breaker.map(|(failures, open_for)| (failures, open_for * 5)),
            hedge: hedge.map(|(after, legs_max)| (after * 5, legs_max)),
            task_cap,
            receipt_max: receipt_max * 5,
        },
    )
}

impl World {
    /// The world as a scenario file. A token costs one cent, so a call's price is its number of tokens.
    pub(super) fn toml(&self) -> String {
        let mut t = String::from("format = 1\ntitle = \"a random world\"\n");
        let w = &mut t;
        let _ = writeln!(w, "[policy.ranking]\norder = []");
        let _ = writeln!(
            w,
            "[policy.remedy]\nrate_limit = \"fallback\"\noverload = \"fallback\"\nattempt_timeout = \"fallback\""
        );
        let _ = writeln!(
            w,
            "[policy.retry]\nattempts_max = {}\ncalls_per_route_max = {}\nbackoff = {{ fixed = \"{} ms\" }}",
            self.attempts_max, self.calls_per_route_max, self.backoff
        );
        if let Some(timeout) = self.attempt_timeout {
            let _ = writeln!(w, "[policy.timeouts]\nattempt = \"{timeout} ms\"");
        }
        match self.breaker {
            Some((failures, open_for)) => {
                let _ = writeln!(
                    w,
                    "[policy.breaker]\nscope = \"route\"\nfailures = {failures}\nopen_for = \"{open_for} ms\""
                );
            }
            None => drop(writeln!(w, "[policy.breaker]\nenabled = false")),
        }
        if let Some((after, legs_max)) = self.hedge {
            let _ = writeln!(w, "[policy.hedge]\nafter = \"{after} ms\"\nlegs_max = {legs_max}");
        }
        let _ = writeln!(w, "[policy.budget]\nreceipt_max = \"{} ms\"", self.receipt_max);
        let _ = writeln!(w, "[[task]]\nname = \"task\"\ncost_max = \"${}\"", dollars(self.task_cap));
        for (at, route) in self.routes.iter().enumerate() {
            let region = if route.lawful { "here" } else { "abroad" };
            let _ = writeln!(w, "[[route]]\nname = \"r{at}\"\nregion = \"{region}\"");
            let _ =
                writeln!(w, "price = {{ input = \"${}/Mtok\", output = \"$0.00/Mtok\" }}", route.price * 10);
            let receipt = route.receipt.map_or("never".to_owned(), |ms| format!("{ms} ms"));
            let bill = if route.cancel_costs { "everything" } else { "nothing" };
            let _ = writeln!(w, "upstream.on_cancel = {{ receipt = \"{receipt}\", bill = \"{bill}\" }}");
            let replies: Vec<String> = route.replies.iter().map(|reply| reply.toml(route.price)).collect();
            let _ = writeln!(w, "upstream.replies = [{}]", replies.join(", "));
        }
        for (at, request) in self.requests.iter().enumerate() {
            let _ = writeln!(
                w,
                "[[request]]\nid = \"q{at}\"\nat = \"{} ms\"\ndeadline = \"{} ms\"\ncost_max = \"${}\"\nregions = [\"here\"]",
                request.at,
                request.deadline,
                dollars(request.cap)
            );
            let _ = writeln!(w, "tokens = {{ input = 1000, output_max = 0 }}");
            if request.side_effects {
                let _ = writeln!(w, "side_effects = true");
            }
            if request.in_task {
                let _ = writeln!(w, "task = \"task\"");
            }
        }
        t
    }
}

impl Reply {
    fn toml(&self, price: u64) -> String {
        let after = self.after;
        match self.kind {
            Kind::Answer => format!("{{ after = \"{after} ms\" }}"),
            Kind::Limited => format!("{{ after = \"{after} ms\", status = 429, code = \"rate_limited\" }}"),
            Kind::Sick => {
                format!(
                    "{{ after = \"{after} ms\", status = 503, code = \"overloaded\", bill = \"${}\" }}",
                    dollars(price / 2)
                )
            }
            Kind::Refused => {
                format!("{{ after = \"{after} ms\", status = 403, code = \"compliance_denied\" }}")
            }
            Kind::BadKey => format!("{{ after = \"{after} ms\", status = 401, code = \"invalid_auth\" }}"),
        }
    }
}

fn dollars(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
