//! Gateways on top of each other, from the file to the lines: what passes down, what comes back, and when.

use crate::support::{lines_of_seed, read};
use faultlab::judge::{Judge, Law, Metric, RunVerdict};
use faultlab::scenario::Scenario;
use faultlab::sim::{Rest, run};
use serde_json::Value;

/// One question through these layers; `own` is the retry of the gateway below all of them.
fn stack_with(own: &str, layers: &str, reply: &str, ask: &str) -> Scenario {
    let text = format!(
        "format = 1\ntitle = \"A stack\"\n[policy]\n{own}breaker.enabled = false\n\
         [[route]]\nname = \"model\"\nprice = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\n\
         upstream.replies = [{reply}]\n[[request]]\nid = \"ask\"\n\
         tokens = {{ input = 8000, output_max = 1000 }}\n{ask}\n{layers}"
    );
    read("stack", &text)
}

const ONCE: &str = "retry = { attempts_max = 1 }\n";

fn stack(layers: &str, reply: &str, ask: &str) -> Scenario {
    stack_with(ONCE, layers, reply, ask)
}

const TWO: &str = "[[layer]]\nname = \"agent\"\n[[layer]]\nname = \"sdk\"\npolicy.breaker.enabled = false\n";

fn judged(scenario: &Scenario) -> RunVerdict {
    let setup = scenario.variants[0].setup_for(1);
    let mut judge = Judge::new(&setup.catalog, &[], 0, 1);
    let ending = run(&setup, &mut judge);
    assert_eq!(ending.rest, Rest::Quiescent);
    let verdict = judge.finish(&ending);
    for law in Law::ALL {
        let stack = [Law::StackWithinBudget, Law::NoCallForNobody];
        assert!(stack.contains(&law) || verdict.laws.tally(law).breaches == 0, "{}", law.name());
    }
    verdict
}

/// The entries of an event, as `layer time field=value …`.
fn told(scenario: &Scenario, event: &str, fields: &[&str]) -> Vec<String> {
    judged(scenario);
    let lines = lines_of_seed(scenario, &scenario.variants[0], 1);
    let entries = lines.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_event = entries.filter(|entry| entry["event"] == event);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    of_event
        .map(|entry| {
            let ms = entry["t_ns"].as_u64().unwrap() / 1_000_000;
            let fields = fields.iter().map(|field| format!(" {field}={}", text(&entry[*field])));
            format!("{} {ms}{}", text(&entry["layer"]), fields.collect::<String>())
        })
        .collect()
}

#[test]
fn an_answer_goes_up_at_the_instant_it_comes_and_so_does_its_bill() {
    let scenario = stack(TWO, "{ after = \"400 ms\" }", "");
    let replies = told(&scenario, "replied", &["request", "outcome", "route"]);
    assert_eq!(
        replies,
        [
            "gateway 400 request=ask/gateway/1 outcome=answered route=model",
            "sdk 400 request=ask/sdk/1 outcome=answered route=gateway",
            "agent 400 request=ask outcome=answered route=sdk",
        ]
    );
    let closed = told(&scenario, "closed", &["spent_usd"]);
    assert!(closed.iter().all(|line| line.ends_with("spent_usd=0.016")), "{closed:?}");
    let arrived = told(&scenario, "arrived", &["request", "call", "input_tokens"]);
    assert_eq!(
        arrived,
        [
            "agent 0 request=ask call=null input_tokens=8000",
            "sdk 0 request=ask/sdk/1 call=ask#1 input_tokens=8000",
            "gateway 0 request=ask/gateway/1 call=ask/sdk/1#1 input_tokens=8000",
        ]
    );
}

#[test]
fn what_several_calls_below_were_billed_is_the_bill_of_the_call_above() {
    let layers = format!(
        "{TWO}policy.retry = {{ attempts_max = 3, calls_per_route_max = 3, backoff = {{ fixed = \"10 ms\" }} }}\n"
    );
    let reply = "{ after = \"100 ms\", status = 503, bill = \"$0.002\" }";
    let scenario = stack(&layers, &format!("{reply}, {reply}, {{ after = \"100 ms\" }}"), "");
    let bills = told(&scenario, "call_ended", &["bill_usd"]);
    let expected = [
        "gateway 100 bill_usd=0.002",
        "sdk 100 bill_usd=0.002",
        "gateway 210 bill_usd=0.002",
        "sdk 210 bill_usd=0.002",
        "gateway 320 bill_usd=0.016",
        "sdk 320 bill_usd=0.016",
        "agent 320 bill_usd=0.020",
    ];
    assert_eq!(bills, expected);
}

#[test]
fn a_failure_comes_up_as_it_was_with_its_code_and_its_wait() {
    let reply = "{ after = \"50 ms\", status = 429, code = \"rate_limited\", retry_after = \"7 s\" }";
    let layers = TWO.replace("policy.breaker", "policy.retry.attempts_max = 1\npolicy.breaker");
    let layers = layers.replacen("name = \"agent\"", "name = \"agent\"\npolicy.retry.attempts_max = 1", 1);
    let read = told(&stack(&layers, reply, ""), "classified", &["class", "code", "hint_ns"]);
    let rest = "class=rate_limit code=rate_limited hint_ns=7000000000";
    assert_eq!(read, ["gateway", "sdk", "agent"].map(|layer| format!("{layer} 50 {rest}")));
}

#[test]
fn a_caller_who_hangs_up_is_heard_by_every_layer_at_once() {
    let ask = "hangs_up = \"300 ms\"";
    let scenario = stack(TWO, "{ after = \"9 s\" }", ask);
    let gone = told(&scenario, "replied", &["outcome"]);
    assert_eq!(gone, ["agent", "sdk", "gateway"].map(|layer| format!("{layer} 300 outcome=abandoned")));
    let cut = told(&scenario, "call_ended", &["result"]);
    assert_eq!(cut, ["gateway", "sdk", "agent"].map(|layer| format!("{layer} 300 result=cancelled")));
}

#[test]
fn a_deadline_that_is_passed_down_ends_every_layer_and_one_that_is_not_does_not() {
    let ask = "deadline = \"2 s\"";
    let passed = stack(TWO, "{ after = \"9 s\" }", ask);
    let deadlines = told(&passed, "arrived", &["deadline_ns"]);
    assert!(deadlines.iter().all(|line| line.ends_with("deadline_ns=2000000000")), "{deadlines:?}");
    assert_eq!(told(&passed, "replied", &["outcome"])[0], "agent 2000 outcome=deadline_exceeded");
    let own = "name = \"agent\"\npasses = { deadline = false, own_deadline = \"5 s\", cancel = false }";
    let kept = stack(&TWO.replacen("name = \"agent\"", own, 1), "{ after = \"9 s\" }", ask);
    let ends = told(&kept, "replied", &["outcome"]);
    let expected = [
        "agent 2000 outcome=deadline_exceeded",
        "sdk 5000 outcome=deadline_exceeded",
        "gateway 5000 outcome=abandoned",
    ];
    assert_eq!(ends, expected, "at one instant the layer above goes first");
    let late = judged(&kept);
    assert_eq!(late.metrics.value(Metric::CostForNobody, None), Some(16_000_000_000));
    assert_eq!(late.metrics.value(Metric::CallsForNobody, None), Some(0), "it began for somebody");
}

#[test]
fn a_stream_is_visible_in_every_layer_and_cuts_the_retries_of_all() {
    let reply = "{ after = \"900 ms\", first_byte = \"200 ms\", status = 200, code = \"stream_cut\" }";
    let ask = "delivery = \"stream\"";
    let scenario = stack(TWO, reply, ask);
    let seen = told(&scenario, "committed", &["route"]);
    assert_eq!(seen, ["gateway 200 route=model", "sdk 200 route=gateway", "agent 200 route=sdk"]);
    let ends = told(&scenario, "replied", &["outcome"]);
    assert_eq!(ends, ["gateway", "sdk", "agent"].map(|layer| format!("{layer} 900 outcome=truncated")));
}

#[test]
fn a_task_is_over_when_nobody_works_for_it_any_more() {
    let layers = "[[layer]]\nname = \"agent\"\npasses = { deadline = false, own_deadline = \"30 s\", cancel = false }\n";
    let job = "[[job]]\nname = \"turn\"\nevery = \"1 s\"\ncount = 2\n[[job.step]]\nname = \"plan\"\n\
               deadline = \"1 s\"\ntokens = { input = 10, output_max = 10 }\n";
    let scenario = stack(&format!("{layers}{job}"), "{ after = \"9 s\" }", "");
    let ends = told(&scenario, "task_ended", &["task", "result"]);
    assert_eq!(ends, ["agent 9000 task=turn/1 result=failed", "agent 10000 task=turn/2 result=failed"]);
    let replies = told(&scenario, "replied", &["request"]);
    assert!(replies.contains(&"agent 1000 request=turn/1/plan".to_owned()), "{replies:?}");
    assert!(replies.contains(&"gateway 9000 request=turn/1/plan/gateway/1".to_owned()), "{replies:?}");
}

/// What is drawn for the nth call of a question on an upstream is the same in any stack: two designs on one seed meet
/// the same weather.
#[test]
fn a_question_meets_the_same_weather_in_every_stack() {
    let reply = "{ after = { exponential = \"200 ms\" }, status = 503 }";
    let three = "retry = { attempts_max = 3, calls_per_route_max = 3, backoff = { fixed = \"0 ms\" } }\n";
    let lengths = |layers: &str, own: &str| {
        let scenario = stack_with(own, layers, reply, "");
        let ends = told(&scenario, "call_ended", &["elapsed_ns", "route"]);
        let of_model = ends.into_iter().filter(|line| line.ends_with("route=model"));
        of_model.map(|line| line.split_once("elapsed_ns").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let alone = lengths("", three);
    let above = lengths(&format!("[[layer]]\nname = \"sdk\"\npolicy.{three}"), ONCE);
    assert_eq!(alone.len(), 3);
    assert_eq!(alone, above);
}

/// Neither slots nor the numbers of calls key a draw: who asks besides moves nobody's.
#[test]
fn another_question_moves_nobodys_dice() {
    let reply = "{ after = { exponential = \"200 ms\" }, status = 503 }";
    let layer = "[[layer]]\nname = \"sdk\"\npolicy.breaker.enabled = false\n\
                 policy.retry = { attempts_max = 3, calls_per_route_max = 3, backoff = { fixed = \"40 ms\", jitter = \"full\" } }\n";
    let ours = "[[arrivals]]\nname = \"ours\"\ncount = 6\ngap = \"30 ms\"\n\
                tokens = { input = 10, output_max = 10 }\n";
    let theirs = ours.replace("ours", "theirs").replace("30 ms", "11 ms");
    let times = |more: &str| {
        let scenario = stack(&format!("{layer}{more}"), reply, "");
        let ended = told(&scenario, "call_ended", &["elapsed_ns", "request", "call"]);
        let mut own: Vec<String> = ended.into_iter().filter(|line| line.contains("request=ours/")).collect();
        own.sort();
        own
    };
    let alone = times(ours);
    assert_eq!(alone.len(), 2 * 3 * 6);
    assert_eq!(alone, times(&format!("{theirs}{ours}")));
}

/// What calls of the SDK end as, above a gateway that is asked twice.
fn heard(own: &str, reply: &str, second: &str) -> Vec<String> {
    let layers = format!(
        "[[layer]]\nname = \"sdk\"\npolicy.retry.attempts_max = 1\n\
         [[request]]\nid = \"second\"\n{second}tokens = {{ input = 8000, output_max = 1000 }}\n"
    );
    let ends = told(&stack_with(own, &layers, reply, ""), "call_ended", &["request", "http_status", "truth"]);
    ends.into_iter().filter(|line| line.starts_with("sdk")).collect()
}

#[test]
fn what_several_calls_below_used_is_the_usage_of_the_call_above() {
    let layers = "[[layer]]\nname = \"sdk\"\n";
    let replies = "{ after = \"100 ms\", status = 503, usage = { input = 700, output = 20 } }, \
                   { after = \"100 ms\", usage = { input = 7000, output = 300 } }";
    let scenario = stack_with("retry.backoff = { fixed = \"10 ms\" }\n", layers, replies, "");
    let used = told(&scenario, "call_ended", &["input_tokens", "output_tokens"]);
    let expected = [
        "gateway 100 input_tokens=700 output_tokens=20",
        "gateway 210 input_tokens=7000 output_tokens=300",
        "sdk 210 input_tokens=7700 output_tokens=320",
    ];
    assert_eq!(used, expected);
}

/// Nobody above is told of a fault as if it had been met: what stops a request and was met by another comes as a 400.
#[test]
fn a_reply_that_names_what_another_met_does_not_come_up_as_what_was_met_last() {
    let own = "fuse.terminal = \"run\"\nretry.backoff = { fixed = \"1 s\" }\n";
    let reply = "{ after = \"100 ms\", status = 503 }, { after = \"300 ms\", status = 402 }";
    let ends =
        ["request=ask http_status=400 truth=non_retryable", "request=second http_status=402 truth=funds"];
    assert_eq!(heard(own, reply, ""), ends.map(|end| format!("sdk 300 {end}")));
}

#[test]
fn that_everything_is_closed_comes_up_as_a_503() {
    let own = format!("{ONCE}cooldown.rate_limit = \"10 s\"\n");
    let reply = "{ after = \"50 ms\", status = 429, code = \"rate_limited\" }";
    let ends = [
        "sdk 50 request=ask http_status=429 truth=rate_limit",
        "sdk 1000 request=second http_status=503 truth=overload",
    ];
    assert_eq!(heard(&own, reply, "at = \"1 s\"\n"), ends);
}

/// The reply of the SDK goes up behind the end of a call that it no longer waits for, while another one goes on.
#[test]
fn a_bill_that_comes_in_at_the_instant_of_the_reply_comes_up_with_it() {
    let own = "fuse.terminal = \"run\"\nretry.backoff = { fixed = \"10 s\" }\n";
    let layers = "[[layer]]\nname = \"agent\"\npolicy.retry.attempts_max = 1\n[[layer]]\nname = \"sdk\"\n\
                  passes = { cancel = false }\npolicy.timeouts.attempt = \"1 s\"\npolicy.retry = { attempts_max = 3, \
                  calls_per_route_max = 3, backoff = { fixed = \"10 ms\" } }\npolicy.breaker.enabled = false\n";
    let replies = "{ after = \"20 s\" }, \
                   { after = \"1500 ms\", status = 402, usage = { input = 700, output = 20 } }, \
                   { after = \"100 ms\", status = 503, usage = { input = 60, output = 1 } }";
    let scenario = stack_with(own, layers, replies, "");
    let used = told(&scenario, "call_ended", &["request", "input_tokens"]);
    let expected = [
        "gateway 2120 request=ask/gateway/3 input_tokens=60",
        "gateway 2510 request=ask/gateway/2 input_tokens=700",
        "sdk 2510 request=ask/sdk/1 input_tokens=60",
        "sdk 2510 request=ask/sdk/1 input_tokens=700",
        "agent 2510 request=ask input_tokens=760",
        "gateway 20000 request=ask/gateway/1 input_tokens=8000",
        "sdk 20000 request=ask/sdk/1 input_tokens=8000",
    ];
    assert_eq!(used, expected);
}
