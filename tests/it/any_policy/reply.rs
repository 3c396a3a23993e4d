//! What an upstream replies in a random world.

use super::menu::{Choices, Menu, choices, chosen};
use proptest::prelude::*;
use proptest::sample::Index;

const AFTER: [&str; 10] = [
    "\"80 ms\"",
    "\"0 ms\"",
    "\"300 ms\"",
    "\"2 s\"",
    "\"never\"",
    "{ uniform = [\"0 ms\", \"200 ms\"] }",
    "{ exponential = \"150 ms\" }",
    "{ p50 = \"60 ms\", p95 = \"400 ms\", p99 = \"2 s\", max = \"9 s\" }",
    "{ log_normal = { median = \"90 ms\", p99 = \"2 s\" } }",
    "\"50 ms\"",
];

/// What a reply is. Answers are many, or nothing ever succeeds.
const KINDS: [&str; 33] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    ", status = 429, code = \"rate_limited\"",
    ", status = 429",
    ", status = 429, code = \"quota_exhausted\"",
    ", status = 503, code = \"rate_limited\"",
    ", status = 503, code = \"overloaded\"",
    ", status = 500",
    ", status = 529",
    ", code = \"connect_failed\"",
    ", code = \"stream_cut\"",
    ", status = 200, code = \"empty_answer\"",
    ", status = 200, code = \"contract_violation\"",
    ", status = 401",
    ", status = 403, code = \"invalid_auth\"",
    ", status = 429, code = \"insufficient_quota\"",
    ", status = 403, code = \"compliance_denied\"",
    ", status = 400",
    ", status = 418, code = \"teapot\"",
    ", status = 101",
    ", fault = { provider = \"openai\", case = \"rate_limit\" }",
    ", fault = { provider = \"openai\", case = \"rate_limit\", retry_after = \"300 ms\" }",
    ", fault = { provider = \"openai\", case = \"unavailable\" }",
    ", fault = { provider = \"mistral\", case = \"rate_limit\" }",
    ", fault = { provider = \"gemini\", case = \"daily_quota\" }",
    ", fault = { provider = \"openai\", case = \"empty_answer\" }",
    ", fault = { provider = \"anthropic\", case = \"spend_cap\" }",
    ", fault = { provider = \"gemini\", case = \"blocked\" }",
];

const REPLY: Menu = &[
    ("first_byte", &["\"20 ms\"", "\"200 ms\"", "{ exponential = \"60 ms\" }", "\"never\""]),
    ("first_byte", &["\"20 ms\"", "\"50 ms\""]),
    ("first_byte", &["\"20 ms\"", "\"0 ms\""]),
    ("progress", &["\"30 ms\"", "\"400 ms\""]),
    ("retry_after", &["\"500 ms\"", "\"0 ms\"", "\"50 ms\"", "\"5 s\"", "\"200 s\""]),
    ("retry_after", &["\"100 ms\"", "\"20 ms\"", "\"1 s\""]),
    ("bill", &["\"$0.001\"", "\"$0\"", "\"$0.09\""]),
    ("usage", &["{ input = 500, output = 100 }", "{ input = 90000, output = 1 }"]),
];

#[derive(Clone, Debug)]
pub(super) struct Reply {
    after: Index,
    /// What it is: mostly an answer.
    kind: Index,
    keys: Choices,
}

pub(super) fn reply() -> impl Strategy<Value = Reply> {
    let reply = (any::<Index>(), any::<Index>(), choices(3));
    reply.prop_map(|(after, kind, keys)| Reply { after, kind, keys })
}

impl Reply {
    /// The reply as a table in braces, with more lines in it.
    pub(super) fn braced(&self, lines: &str) -> String {
        let (after, kind) = (AFTER[self.after.index(AFTER.len())], KINDS[self.kind.index(KINDS.len())]);
        let keys = chosen(REPLY, &self.keys);
        // An answer, a connection that broke and what is listed state no wait of their own.
        let waits = ["fault", "connect_failed", "stream_cut"];
        let unfit =
            if kind.is_empty() || waits.iter().any(|word| kind.contains(word)) { "retry_after" } else { "" };
        let rest: String = keys
            .lines()
            .chain(lines.lines())
            .filter(|line| unfit.is_empty() || !line.starts_with(unfit))
            .map(|line| format!(", {line}"))
            .collect();
        format!("{{ after = {after}{kind}{rest} }}")
    }
}
