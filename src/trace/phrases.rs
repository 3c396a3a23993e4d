//! The phrase book of stories: how each kind of entry is said. `{field}` is the value of a field; what stands in
//! `[…]` is left out if one of its fields is absent.

use super::field::{Field, Value};
use super::kind::Kind;
use super::reading::Values;

fn deadline_below(word: &str) -> &'static str {
    match word {
        "passed" => ", which is told its deadline",
        "its_own" => ", which is not told its deadline and gives itself {deadline_below_after_ns}",
        _ => ", which is told no deadline",
    }
}

fn cancel_below(word: &str) -> &'static str {
    if word == "passed" {
        " and hears that it stops waiting"
    } else {
        " and never hears that it stops waiting"
    }
}

/// The phrases that make up the sentence for an entry of `kind` with `values`.
pub(super) fn phrases(kind: Kind, values: &Values) -> Vec<&'static str> {
    let word = |field| values.text(field).unwrap_or_default();
    match kind {
        Kind::DeclaredLayer => vec![
            "it asks {below}",
            deadline_below(word(Field::DeadlineBelow)),
            cancel_below(word(Field::CancelBelow)),
            "[, and hears every failure of it as a bare {hears_http_status}]",
            "[; one request of a caller may lead to at most {stack_calls_max} upstream calls]",
        ],
        Kind::DeclaredLimits => vec![LIMITS],
        Kind::DeclaredBreaker => {
            vec!["breaker {breaker}", OPENS, "[, then probes at once: {probes_max}]"]
        }
        Kind::DeclaredTenant => vec!["tenant {tenant}", cap(values), "[ in each {window_ns}]"],
        Kind::DeclaredTask => vec!["task {task}", cap(values)],
        Kind::DeclaredQuota => vec![
            "quota of project {project}[ on model {model}]: {quota_limit} in a window, {quota_used} used before",
        ],
        Kind::DeclaredRoute => {
            let keys = "[; called with {credentials}]";
            vec![maker(values), place(values), OFFER, PRICES, LONG_PRICES, keys, PROFILE]
        }
        Kind::DeclaredApproval => vec!["route {route} is approved after {class}, for {cap_usd} in all"],
        Kind::Arrived => vec![ARRIVED, NEEDS, TOKENS, MAXIMA, delivery(word(Field::Delivery)), EFFECT],
        Kind::TaskBegan => vec!["{task} begins"],
        Kind::TaskEnded => vec![task_end(word(Field::Result))],
        Kind::Abandoned => vec!["the caller of {request} hangs up"],
        Kind::Woke => vec![wait(word(Field::Wait))],
        Kind::Operated => vec![command(word(Field::Command)), subject(word(Field::Scope))],
        Kind::RunEnded => vec!["the run is over"],
        Kind::CallBegun => vec!["{route} takes {call} with {credential}", script(word(Field::Scripted))],
        Kind::CallVisible => vec!["the first output of {call} on {route} is visible"],
        Kind::CallEnded => vec![result(word(Field::Result)), used_up(word(Field::Truth)), USED, bill(values)],
        Kind::CallLost => vec!["the receipt of {call} on {route} is lost"],
        Kind::Considered => vec![choice(values)],
        Kind::Called => {
            vec![role(word(Field::Role)), " with {credential}: {call}[ (breaker generation {generation})]"]
        }
        Kind::Committed => {
            vec!["{request} is committed to {call} on {route}: the caller sees its output only"]
        }
        Kind::Cancelled => vec![stop(word(Field::Class))],
        Kind::Replied => vec![
            outcome(values),
            "[; last failure {last_class} ({last_code})]",
            "; calls made: {attempts}, time taken {elapsed_ns}, left {left_ns}",
        ],
        Kind::Closed => vec!["{request} is closed; it cost {spent_usd} in all"],
        Kind::Reserved => vec![
            "{reserved_usd} and {reserved_tokens} tokens are set aside for {request} on {route}",
            "[, in window {window} of its tenant]",
        ],
        Kind::Denied => vec!["{request} cannot pay for {route}: ", denial(word(Field::Counted))],
        Kind::Classified => vec![
            "{call} on {route} is taken for {class} ({code}, by rule {rule})",
            "; it concerns the {scope}",
            resend(word(Field::Resend)),
            "[; asks to wait {hint_ns}][; asks to wait until {hint_at_ns}][; {signal} to health]",
        ],
        Kind::Signalled => vec![
            "{call} counts as {signal}[ ({class})]",
            standing(word(Field::Standing)),
            "[; failures at its breaker: {breaker_failures}][, bad results in a row: {health_failures}]",
        ],
        Kind::BreakerMoved => vec![
            "breaker {breaker} goes from {from} to {to}[ until {until_ns}]",
            " (generation {generation})",
        ],
        Kind::HealthMoved => vec!["health {health} goes from {from} to {to}[ until {until_ns}]"],
        Kind::Benched => vec![subject(word(Field::Scope)), " is left alone ({class})", until(values)],
        Kind::Freed => vec![subject(word(Field::Scope)), " is free again"],
        Kind::Alerted => vec!["alert: credential {credential} fails with {class} ({code})"],
        Kind::Settled => vec![basis(word(Field::Basis)), " at {billed_usd}", released(values)],
        Kind::RetryScheduled => vec![
            "{request} will try again in {delay_ns}, at {at_ns}, on {route} for at most {quoted_usd}",
            "[; the response asked to wait {hint_ns}]",
        ],
        Kind::WaitRefused => vec!["{request} does not wait {wait_ns}: ", refusal(word(Field::Why))],
        Kind::HedgeSkipped => vec!["{request} starts no other leg: ", skip(word(Field::Why))],
        Kind::Queued => vec!["{request} waits for a free slot; {waiting} in the queue"],
        Kind::FuseBlew => vec!["a fuse blows: ", blown(word(Field::Fuse))],
        Kind::Status => vec![
            status(word(Field::Of)),
            if word(Field::Of) == "bench" { subject(word(Field::Scope)) } else { "" },
        ],
        Kind::TimedOut => vec!["{call} on {route} has taken too long: {class}"],
    }
}

/// Why a candidate was chosen, and what it can cost.
pub(super) fn won(values: &Values) -> Vec<&'static str> {
    let why = match values.text(Field::By) {
        None => "",
        Some("plan") => ", as planned",
        Some("tries") => ", called less often so far",
        Some(_) => ", on {by}",
    };
    vec![why, WORST_CASE]
}

fn lost(values: &Values) -> &'static str {
    match values.text(Field::By).unwrap_or_default() {
        "plan" => " by the plan",
        "tries" => ", called more often so far",
        _ => " on {by}",
    }
}

const WORST_CASE: &str = ", worst case {worst_case_usd}";

/// How a candidate that was not chosen is said.
pub(super) fn candidate(values: &Values) -> Vec<&'static str> {
    let says = |word: &str| values.text(Field::Reasons).is_some_and(|reasons| reasons.contains(word));
    match values.text(Field::Verdict).unwrap_or_default() {
        "chosen" => [vec!["{route}: chosen"], won(values)].concat(),
        "outranked" => vec!["{route}: outranked", lost(values), "[, {health_state}]", WORST_CASE],
        "excluded" if says("request_budget") => {
            vec!["{route}: excluded, {reasons}, worst case {worst_case_usd}"]
        }
        "excluded" => vec!["{route}: excluded, {reasons}"],
        "gated" => vec![gate(values.text(Field::Gate).unwrap_or_default(), values.get(Field::RetryAt))],
        "spent" => vec!["{route}: called often enough"],
        "taken" => vec!["{route}: another leg is on it"],
        "unapproved" => vec!["{route}: not approved after that fault"],
        "unaffordable" => vec!["{route}: not affordable for the {level}, worst case {worst_case_usd}"],
        _ => vec!["{route}: {verdict}"],
    }
}

const LIMITS: &str = "limits:[ {attempts_max} calls a request,] {legs_max} at a time[, {attempt_cost_max_usd} a call]\
                      [, {attempt_tokens_max} tokens a call][, waits up to {hint_max_ns}]\
                      [, {route_legs_max} at a time on a route][, {task_legs_max} at a time for a task]\
                      [, {tenant_legs_max} at a time for a tenant][, {calls_per_task} calls a task]\
                      [, {calls_per_run} calls in all]\
                      [, {identical_per_task} identical calls a task][, {failing_per_task} failing ones][, a terminal fault stops the {terminal_scope}]\
                      [, a breaker opens on {opens_on}: {opens_after}][ of {opens_of}][, for {open_for_ns}]\
                      [, and who meets it open: {when_open}][; {policy_version}][; {prices_version}][; {registry_version}]";

const OPENS: &str = " opens on {opens_on}: {opens_after}[ of {opens_of}][, for {open_for_ns}]";

const PROFILE: &str = "[; {calls_per_route_max} calls a request on it][; a wait after its failures is {backoff}]\
                       [, from {backoff_base_ns}][ to {backoff_max_ns}][, {jitter} jitter]\
                       [; a call may take {attempt_timeout_ns}][, {first_byte_timeout_ns} to its first byte]\
                       [, {idle_timeout_ns} in silence]";

const OFFER: &str = " data up to {data_class_max}[, has {capabilities}][, for {task_types}][, speaks {protocol}]\
                     [, keeps {contract}][, context of {context_tokens_max}][, output of {output_tokens_max}]";

const PRICES: &str = "; a million tokens: {input_usd_per_mtok} in, {output_usd_per_mtok} out\
                      [, {cache_read_usd_per_mtok} from the cache][, {cache_write_usd_per_mtok} into the cache]\
                      [, {image_usd_per_mtok} image][, {audio_usd_per_mtok} audio]";

const LONG_PRICES: &str = "[; above {long_above_tokens} in: {long_input_usd_per_mtok} in, \
                           {long_output_usd_per_mtok} out][, {long_cache_read_usd_per_mtok} from the cache]\
                           [, {long_cache_write_usd_per_mtok} into the cache][, {long_image_usd_per_mtok} image]\
                           [, {long_audio_usd_per_mtok} audio]";

const ARRIVED: &str = "{request} arrives[ as {call}][ in {task}][ for {tenant}][, asking \"{content}\"]:";

const NEEDS: &str = "[ needs {capabilities},][ only in {regions},][ only on {deployments},][ {data_class} data,]\
                     [ for {task_type},][ over {protocol},][ with {contract},]";

const TOKENS: &str = "[ {input_tokens} tokens in,][ {cache_read_tokens} from the cache,]\
                      [ {cache_write_tokens} into the cache,][ {image_tokens} image,][ {audio_tokens} audio,]\
                      [ at most {output_tokens_max} out]";

const MAXIMA: &str = "[, at most {cost_max_usd}][, at most {tokens_max} tokens][, answer by {deadline_ns}]";

const EFFECT: &str = "[, priority {priority}]";

const USED: &str = "[, {input_tokens} tokens in][, {cache_read_tokens} from the cache]\
                    [, {cache_write_tokens} into the cache][, {image_tokens} image][, {audio_tokens} audio]\
                    [, {output_tokens} out]";

/// A route whose model and provider have no names of their own is called by its own name alone.
fn maker(values: &Values) -> &'static str {
    let has = |field| values.get(field) != values.get(Field::Route);
    if has(Field::Model) || has(Field::Provider) {
        "route {route}: {model} of {provider},"
    } else {
        "route {route}:"
    }
}

/// What any route is unless it says otherwise, a shared endpoint somewhere, is not said.
fn place(values: &Values) -> &'static str {
    let is = |field, unsaid: &str| values.text(field).is_none_or(|word| word == unsaid);
    match (is(Field::Region, "anywhere"), is(Field::Deployment, "shared")) {
        (true, true) => "",
        (false, true) => " in {region},",
        (true, false) => " {deployment},",
        (false, false) => " {deployment} in {region},",
    }
}

fn role(word: &str) -> &'static str {
    match word {
        "primary" => "{request} calls {route}",
        "retry" => "{request} calls {route} again",
        "fallback" => "{request} falls back to {route}",
        "hedge" => "{request} starts another leg beside the slow one, on {route}",
        "approved" => "{request} goes on as approved, and calls {route}",
        _ => "{request} makes a {role} call to {route}",
    }
}

fn cap(values: &Values) -> &'static str {
    match (values.get(Field::Cap), values.get(Field::CapTokens)) {
        (Some(_), Some(_)) => " may use {cap_usd} and {cap_tokens} tokens",
        (Some(_), None) => " may use {cap_usd}",
        (None, Some(_)) => " may use {cap_tokens} tokens",
        (None, None) => " has no cap",
    }
}

fn delivery(word: &str) -> &'static str {
    if word == "stream" { ", as a stream" } else { "" }
}

fn wait(word: &str) -> &'static str {
    match word {
        "deadline" => "the deadline of {request} comes",
        "attempt" => "the time for {call} on {route} is over",
        "first_byte" => "{call} on {route} has not begun to answer",
        "idle" => "{call} on {route} has fallen silent",
        "receipt" => "no receipt for {call} on {route} has come",
        "health" => "the cooldown of health {health} is over",
        "hedge" => "the patience of {request} with its slow leg is over",
        "retry" => "the wait of {request} is over",
        _ => "a wait is over: {wait}",
    }
}

fn command(word: &str) -> &'static str {
    match word {
        "reset_bench" => "an operator frees ",
        "reset_breaker" => "an operator resets breaker {breaker}",
        "reset_health" => "an operator resets health {health}",
        "show_status" => "an operator asks how things stand",
        _ => "an operator orders {command} ",
    }
}

fn status(of: &str) -> &'static str {
    match of {
        "breaker" => "breaker {breaker} is {state}[ until {retry_at_ns}]",
        "health" => "health {health} is {state}[ until {until_ns}]",
        "bench" => "left alone[ until {until_ns}]: ",
        "fuse" => {
            "fuse {fuse}[ of {task}] is {state}: {calls} counted[ of {calls_per_task}][ of {calls_per_run}]\
             [ of {identical_per_task}][ of {failing_per_task}]"
        }
        "stop" => "all calls[ on the account of {project}] are stopped by {class}[ ({code})]",
        "budget" => {
            "[{task}][{tenant}][what is approved for {route}] has spent [{settled_usd}][ and holds {held_usd}][ of {cap_usd}]\
             [, {settled_tokens} and holds {held_tokens}][ of {cap_tokens} tokens]"
        }
        _ => "{of} is {state}",
    }
}

fn subject(scope: &str) -> &'static str {
    match scope {
        "credential" => "credential {credential}",
        "project" => "project {project}",
        "model" => "model {model} for project {project}",
        "provider" => "provider {provider}",
        "route" => "route {route}",
        _ => "",
    }
}

fn script(word: &str) -> &'static str {
    if word == "forbidden" { ", a call that its script forbids" } else { "" }
}

fn result(word: &str) -> &'static str {
    match word {
        "answered" => "{call} on {route} ends after {elapsed_ns} with an answer",
        "failed" => {
            "{call} on {route} fails after {elapsed_ns}: [{http_status} ]{code}[, in truth {truth}][, {signal} to health]"
        }
        "cancelled" => "{call} on {route}, cut off, ends after {elapsed_ns}",
        _ => "{call} on {route} ends after {elapsed_ns}: {result}",
    }
}

fn used_up(truth: &str) -> &'static str {
    if truth == "quota_exhausted" { ": that quota is used up" } else { "" }
}

fn bill(values: &Values) -> &'static str {
    if values.get(Field::Bill).is_some() { ", billed {bill_usd}" } else { ", at a price that nobody says" }
}

fn choice(values: &Values) -> &'static str {
    if values.get(Field::Chosen).is_some() {
        "{chosen} is chosen for {request}"
    } else {
        "no route is left for {request}"
    }
}

fn outcome(values: &Values) -> &'static str {
    match values.text(Field::Outcome).unwrap_or_default() {
        "answered" => "{request} is answered by {route}",
        "truncated" => "{request} breaks off on {route}: truncated",
        "terminal" => "{request} stops: {class} ({code})",
        "exhausted" => "{request} is exhausted by its limit of {limit}",
        "BUDGET_EXCEEDED" => "{request} ends with BUDGET_EXCEEDED for the {level}",
        "all_gated" => "{request} finds every route closed[ until {retry_at_ns}]",
        "no_candidate" => "{request} has no candidate: every route is unhealthy[ until {retry_at_ns}]",
        "CALL_BUDGET_EXCEEDED" => "{request} ends with CALL_BUDGET_EXCEEDED: the fuse {fuse} is blown",
        "stopped" => "{request} is stopped: a call met {class}[ ({code})], and that fuse is blown",
        "no_eligible_route" => "{request} may use no route",
        "deadline_exceeded" => "{request} is over its deadline",
        "abandoned" => "{request} is abandoned by its caller",
        _ => "{request} ends: {outcome}",
    }
}

fn denial(unit: &str) -> &'static str {
    match unit {
        "money" => {
            "{settled_usd} settled + {held_usd} held + {wanted_usd} wanted = {projected_usd}, \
             above {cap_usd}, the cap of the {level}"
        }
        "tokens" => {
            "{settled_tokens} settled + {held_tokens} held + {wanted_tokens} wanted = {projected_tokens} tokens, \
             above {cap_tokens}, the cap of the {level}"
        }
        _ => "the cap of the {level}",
    }
}

fn resend(word: &str) -> &'static str {
    match word {
        "same" => "; worth sending again later",
        "other" => "; worth sending elsewhere only",
        "none" => "; not worth sending again",
        _ => "; worth sending again: {resend}",
    }
}

fn standing(word: &str) -> &'static str {
    if word == "stale" { ", too late to count" } else { "" }
}

fn until(values: &Values) -> &'static str {
    if values.get(Field::Until).is_some() { " until {until_ns}" } else { " until an operator frees it" }
}

fn released(values: &Values) -> &'static str {
    let has = |field| values.number(field).is_some_and(|amount| amount > 0);
    match (has(Field::Overrun), has(Field::Released)) {
        (true, _) => ", {overrun_usd} more than was set aside",
        (false, true) => "; of {reserved_usd} set aside {released_usd} is free again",
        (false, false) => ", all that was set aside",
    }
}

fn basis(word: &str) -> &'static str {
    match word {
        "receipt" => "{call} is settled by its receipt,",
        "assumed" => "{call} is settled at its worst case, for want of a receipt,",
        "corrected" => "{call} is settled anew, by a late receipt,",
        _ => "{call} is settled ({basis})",
    }
}

fn refusal(word: &str) -> &'static str {
    match word {
        "deadline" => "only {left_ns} is left",
        "too_long" => "that is longer than the policy waits ({left_ns} left)",
        _ => "{why}",
    }
}

fn task_end(word: &str) -> &'static str {
    match word {
        "answered" => "{task} ends after {elapsed_ns}: every step was answered",
        "failed" => "{task} ends after {elapsed_ns}: a step was not answered",
        _ => "{task} ends after {elapsed_ns}: {result}",
    }
}

fn stop(class: &str) -> &'static str {
    match class {
        "cancelled" => "{call} on {route} is cancelled: it is needed no longer",
        "abandoned" => "{call} on {route} is cancelled: its caller is gone",
        "deadline" => "{call} on {route} is cancelled: the deadline has come",
        _ => "{call} on {route} is cancelled: {class}",
    }
}

fn skip(word: &str) -> &'static str {
    match word {
        "attempts" => "it has made its calls",
        "money" => "what is left does not pay for one",
        "slot" => "no slot is free",
        "fuse" => "it would blow a fuse",
        "route" => "no other route can be called",
        _ => "{why}",
    }
}

fn blown(word: &str) -> &'static str {
    match word {
        "calls_per_task" => "{task} has made {calls} calls, and {request} wants one more",
        "calls_per_run" => "{calls} calls were made in all, and {request} wants one more",
        "identical_per_task" => {
            "{task} has made {calls} identical calls in a row, and {request} wants one more"
        }
        "failing_per_task" => "{calls} calls of {task} have failed in a row, and {request} wants one more",
        "terminal" => "{request} has met a terminal fault, after {calls} calls in all",
        _ => "{fuse}, by {request}, after {calls} calls",
    }
}

fn gate(word: &str, retry_at: Option<&Value>) -> &'static str {
    match (word, retry_at) {
        ("concurrency", _) => "{route}: no slot is free",
        ("health", Some(_)) => "{route}: {health_state} until {retry_at_ns}",
        ("fuse", _) => "{route}: closed by the fuse of its account, {class}[ ({code})]",
        (_, Some(_)) => "{route}: closed by its {gate} until {retry_at_ns}",
        (_, None) => "{route}: closed by its {gate} until an operator opens it",
    }
}
