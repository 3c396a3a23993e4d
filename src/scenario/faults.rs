//! What a failed reply is: a status and a code of the lab, or a real response out of the catalogue. Either is read
//! by the policy's dialect, once, when the file is loaded; what it truly means is stated beside it.

use super::findings::{about, knob};
use super::form::Form;
use super::quantity::{COUNT, DURATION};
use super::texts::OF_LINES;
use crate::policy::taxonomy::{Class, Diagnosis, Hint};
use crate::sim::FailedReply;
use crate::units::{Duration, Names};
use crate::wire::{Catalogue, Dialect, Response, classify, hear};
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::standard);
static STANDARD: LazyLock<Dialect> = LazyLock::new(Dialect::standard);

/// How the gateway reads responses; the standard way by default.
#[derive(Default)]
pub(super) struct Ear {
    dialect: Option<Dialect>,
    /// What the file says of it; empty if that is nothing new.
    pub(super) said: String,
}

impl Ear {
    fn dialect(&self) -> &Dialect {
        self.dialect.as_ref().unwrap_or(&STANDARD)
    }
}

/// The dialects that have a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Named {
    Standard,
    AsSent,
    LenientSdk,
    StatusOnly,
    Adr113,
}

/// The knobs of the policy that say how responses are read. There is no path among them: a scenario is one file.
pub(super) fn ear(f: &mut Form<'_, '_>) -> Ear {
    let about_dialect = knob(
        "dialect",
        "How responses are read: by all rules, with waits to the letter of the standard (`standard`); the same, with \
         waits as providers send them (`as_sent`) or as client libraries read them (`lenient_sdk`); or wrongly.",
        &[
            ("status_only", "an empty account is waited for like a minute's limit", "terminal_stops"),
            ("adr_113", "a minute's limit that mentions billing stops everything", "outcome_is_true"),
        ],
    );
    let words = [
        ("standard", Named::Standard),
        ("as_sent", Named::AsSent),
        ("lenient_sdk", Named::LenientSdk),
        ("status_only", Named::StatusOnly),
        ("adr_113", Named::Adr113),
    ];
    let named = f.choice(about_dialect, &words, "standard");
    let doc = "Lines of a dialect file, asked before the standard words, each of at most 200 characters. What a failure \
               truly means stays what the standard words say, unless its `truth` is stated. A dialect that is wrong on \
               purpose has no words.";
    let lines = f.text(about(OF_LINES, doc));
    let read = lines.as_ref().map(|word| (word, Dialect::with_file(&word.text)));
    let own = match read {
        Some((_, Ok(dialect))) => Some(dialect),
        Some((word, Err(error))) => {
            let text = format!("line {} of these: {}", error.line, error.problem);
            f.problem(&word.span, text, Some("the lines are described in docs/taxonomy.md".to_owned()));
            None
        }
        None => None,
    };
    let mut said = if named == Named::Standard { String::new() } else { format!("{named:?}") };
    said.extend(lines.iter().flat_map(|word| ["\n", &word.text]));
    let dialect = match named {
        Named::Standard => own,
        Named::AsSent => Some(own.unwrap_or_else(|| STANDARD.clone()).as_sent()),
        Named::LenientSdk => Some(own.unwrap_or_else(|| STANDARD.clone()).lenient_sdk()),
        Named::StatusOnly => Some(Dialect::status_only()),
        Named::Adr113 => Some(Dialect::adr_113()),
    };
    Ear { dialect, said }
}

/// The keys of a scripted failure.
const SCRIPTED: [&str; 4] = ["status", "code", "retry_after", "truth"];

/// The failure of a reply, if it is one.
pub(super) fn failure(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Option<FailedReply> {
    let real = f.optional_table("fault", |f| real(f, ear, names)).flatten();
    let scripted = scripted(f, ear, names);
    if f.has("fault") {
        let stated: Vec<&str> = SCRIPTED.into_iter().filter(|key| f.has(key)).collect();
        for key in stated {
            let text = format!("a reply with a `fault` has no `{key}`: the catalogue says it");
            f.problem(&f.span_of(key), text, None);
        }
        return real;
    }
    scripted
}

/// A real response. Without `provider` or `case` it is nothing.
fn real(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Option<FailedReply> {
    let provider = f.required_text(about("provider", "In whose shape, as listed in docs/taxonomy.md."));
    let case = f.required_text(about("case", "Which of its failures: `daily_quota`."));
    let doc = "How long the response asks to stay away, in place of what is listed there: whole seconds in the \
               header `retry-after`, else milliseconds, rounded up, in `retry-after-ms`.";
    let retry_after = f.optional(about("retry_after", doc), &DURATION);
    let (provider, case) = (provider?, case?);
    let of_provider = || CATALOGUE.cases().iter().filter(|one| one.provider == provider.text);
    let Some(one) = CATALOGUE.case(&provider.text, &case.text) else {
        if of_provider().next().is_none() {
            let mut known: Vec<&str> = CATALOGUE.cases().iter().map(|one| one.provider.as_str()).collect();
            known.dedup();
            f.unknown("provider", &provider, known.iter().copied());
        } else {
            let known: Vec<&str> = of_provider().map(|one| one.case.as_str()).collect();
            f.unknown(&format!("{} case", provider.text), &case, known.iter().copied());
        }
        return None;
    };
    let asking = retry_after.map(|wait| one.input.asking_for(wait));
    let verdict = classify(asking.as_ref().unwrap_or(&one.input), ear.dialect());
    // What is listed has its truth beside it; a wait that is not listed may make it something else.
    let meant = asking.map(|input| classify(&input, &STANDARD).diagnosis(&one.case, names));
    if let Some(meant) = meant.flatten() {
        refuse_lost_wait(f, retry_after, &meant);
    }
    Some(FailedReply {
        told: verdict.diagnosis(&one.case, names),
        truth: meant.map_or(one.truth, |meant| meant.map(|meant| meant.class))?,
        health: meant.flatten().map_or(one.health, |meant| meant.health),
        code: names.intern(&one.case),
        status: one.input.status,
    })
}

/// A status and a code. Without a status the connection broke before there was one; with neither the reply is an
/// answer.
fn scripted(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Option<FailedReply> {
    let status = f.optional(about("status", "The HTTP status; 200 if there is no `code` either."), &COUNT);
    let code =
        f.text(about("code", "The provider's code, or what is wrong with the answer or the connection."));
    let doc = "How long the response asks to stay away, from its arrival (`Retry-After`); rounded up to a millisecond.";
    let retry_after = f.optional(about("retry_after", doc), &DURATION);
    let classes = Class::ALL.map(|class| (class.label(), class));
    let doc = "What the failure truly means, if the standard dialect gets it wrong.";
    let truth = f.optional_choice(about("truth", doc), &classes);
    let status = match status {
        Some(status) if (100..=599).contains(&status) => u16::try_from(status).ok(),
        Some(status) => {
            f.problem(&f.span_of("status"), format!("`{status}` is not an HTTP status (100 to 599)"), None);
            return None;
        }
        None if code.is_none() => Some(200),
        None => None,
    };
    let response = Response { status, code: code.as_ref().map(|word| word.text.as_str()), retry_after };
    if response.is_answer() {
        if truth.is_some() && !f.has("fault") {
            let help = Some("a failure has a `status` or a `code`".to_owned());
            f.problem(&f.span_of("truth"), "only a failure has a truth", help);
        }
        if retry_after.is_some() && !f.has("fault") {
            let help = Some("a failure has a `status` or a `code`".to_owned());
            f.problem(&f.span_of("retry_after"), "only a failure asks to stay away", help);
        }
        return None;
    }
    let Some(meant) = hear(&response, &STANDARD, names) else {
        let help = Some("state another; a caller who hangs up is `hangs_up` on the request".to_owned());
        f.problem(&f.span_of("status"), "no upstream replies this: it says that it was us who hung up", help);
        return None;
    };
    refuse_lost_wait(f, retry_after, &meant);
    let failure = heard(meant, &response, ear, names);
    Some(FailedReply { truth: truth.unwrap_or(failure.truth), ..failure })
}

/// Says so if a wait that the file states is not one that such a response can ask for: it would be lost on the way.
/// Where waiting does not help nobody reads it, and it may stand there.
fn refuse_lost_wait(f: &mut Form<'_, '_>, stated: Option<Duration>, meant: &Diagnosis) {
    let Some(wait) = stated else { return };
    let could_help = matches!(meant.class, Class::RateLimit | Class::QuotaExhausted | Class::Overload);
    let heard = matches!(meant.hint, Hint::After(heard) if heard >= wait);
    if could_help && !heard {
        let help =
            "a connection that broke asks for nothing, and nobody is ill for more than a day".to_owned();
        f.problem(&f.span_of("retry_after"), "this wait would be lost on the way", Some(help));
    }
}

/// What a failure of a status and a code is that nobody has written into a file.
pub(super) fn plain(response: &Response<'_>, ear: &Ear, names: &mut Names) -> FailedReply {
    let meant = hear(response, &STANDARD, names).expect("what we reply of our own accord is a failure");
    heard(meant, response, ear, names)
}

/// A failure that means this to the standard dialect, and what the gateway hears in it.
fn heard(meant: Diagnosis, response: &Response<'_>, ear: &Ear, names: &mut Names) -> FailedReply {
    let told = hear(response, ear.dialect(), names);
    FailedReply { told, status: response.status, ..FailedReply::told_truly(meant) }
}

#[cfg(test)]
mod tests {
    use crate::policy::signal::Signal;
    use crate::policy::taxonomy::{Class, Hint};
    use crate::scenario::load;
    use crate::sim::FailedReply;
    use crate::units::Duration;

    /// The failure of `reply` under the knobs `policy`.
    fn read(policy: &str, reply: &str) -> FailedReply {
        let text = format!(
            "format = 1\ntitle = \"One route\"\n[policy]\n{policy}\n[[route]]\nname = \"a\"\n\
             price = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\n\
             upstream.replies = [{{ after = \"80 ms\", {reply} }}]\n\
             [[request]]\nid = \"r\"\ntokens = {{ input = 8000, output_max = 1000 }}\n"
        );
        let scenario = load("one.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        scenario.variants[0].setup().upstreams[0].script[0].failure.unwrap()
    }

    /// Under `policy` the gateway takes `reply` for `told`; it is `truth`.
    fn check(policy: &str, reply: &str, told: Option<Class>, truth: Class) -> FailedReply {
        let failure = read(policy, reply);
        assert_eq!((failure.told.map(|told| told.class), failure.truth), (told, truth), "{policy} {reply}");
        failure
    }

    #[test]
    fn the_truth_of_a_real_response_is_the_same_in_every_dialect() {
        let money = "fault = { provider = \"openai\", case = \"out_of_money\" }";
        check("", money, Some(Class::Funds), Class::Funds);
        check("dialect = \"status_only\"", money, Some(Class::RateLimit), Class::Funds);
        let limit = "fault = { provider = \"gemini\", case = \"rate_limit\" }";
        check("dialect = \"adr_113\"", limit, Some(Class::Funds), Class::RateLimit);
        let own = "dialect_lines = \"provider openai\\ncode rate insufficient_quota\"";
        check(own, money, Some(Class::RateLimit), Class::Funds);
    }

    #[test]
    fn a_failure_in_an_answer_s_clothes_is_an_answer_to_those_who_look_at_the_status() {
        let money = "fault = { provider = \"minimax\", case = \"out_of_money_in_200\" }";
        check("", money, Some(Class::Funds), Class::Funds);
        check("dialect = \"status_only\"", money, None, Class::Funds);
    }

    #[test]
    fn a_scripted_failure_is_read_by_a_wrong_dialect_too() {
        let money = "status = 429, code = \"insufficient_quota\"";
        for right in ["", "dialect = \"lenient_sdk\"", "dialect = \"as_sent\""] {
            check(right, money, Some(Class::Funds), Class::Funds);
        }
        check("dialect = \"status_only\"", money, Some(Class::RateLimit), Class::Funds);
        check(
            "dialect = \"status_only\"",
            "status = 200, code = \"empty_answer\"",
            None,
            Class::InvalidAnswer,
        );
        let cut = "status = 200, code = \"stream_cut\"";
        check("dialect = \"status_only\"", cut, Some(Class::Overload), Class::Overload);
    }

    #[test]
    fn a_real_response_asks_for_as_long_as_the_scenario_says() {
        for (wait, hint) in [("30 s", Duration::from_millis(30_000)), ("200 ms", Duration::from_millis(200))]
        {
            let limit = format!(
                "fault = {{ provider = \"openai\", case = \"rate_limit\", retry_after = \"{wait}\" }}"
            );
            let told = read("", &limit).told.unwrap();
            assert_eq!(told.hint, Hint::After(hint), "in place of the 820 ms that are listed");
        }
    }

    #[test]
    fn a_cold_start_is_an_overload_that_says_nothing_about_health() {
        let cold = "fault = { provider = \"huggingface\", case = \"cold_start\" }";
        let failure = check("", cold, Some(Class::Overload), Class::Overload);
        let told = failure.told.and_then(|told| told.health);
        assert_eq!((told, failure.health), (Some(Signal::Neutral), Some(Signal::Neutral)));
        let wrong = read("dialect = \"adr_113\"", cold);
        assert_eq!((wrong.told.and_then(|told| told.health), wrong.health), (None, Some(Signal::Neutral)));
    }
}
