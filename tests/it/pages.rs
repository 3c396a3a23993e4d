//! The pages under `docs/` that are made from the code say what the code says.

use faultlab::judge::{Finding, Law, Metric};
use faultlab::scenario::{DRAWN_TIME, Knob, Unstated, knobs};
use faultlab::trace::{Author, CANDIDATE, Kind};
use std::fmt::Write;
use std::path::Path;

#[test]
fn the_page_of_the_policy_lists_every_knob_of_it() {
    let mut page = Page::new(POLICY);
    page.tables(knobs().into_iter().filter(|knob| knob.path.starts_with("policy.")));
    check("policy.md", &page.0);
}

#[test]
fn the_page_of_the_scenario_lists_every_other_key_and_every_word() {
    let mut page = Page::new(SCENARIO);
    page.tables(knobs().into_iter().filter(|knob| !knob.path.starts_with("policy.")));
    page.metrics();
    page.laws();
    page.findings();
    page.events();
    check("scenario.md", &page.0);
}

const POLICY: &str = "\
# The policy, knob by knob

Made from the code. The right value of a knob is its default; a wrong one stands here with the incident that
taught it and the law that it breaks, if it breaks one; the defaults break none. What a law says is in
[scenario.md](scenario.md#laws).

What a remedy does:

* `stop`: the caller gets the failure by its real name; nothing else is called.
* `wait_same_then_fallback`: at once on a route with another quota, if there is one; else on the same route after
  the backoff and not before the response allows; else on another route.
* `fallback`: after the backoff, on whatever route is best then.
* `fallback_now`: the same at once.

What a signal does: a `failure` counts against breaker and health, a `success` for them, `neutral` moves nothing.
";

const SCENARIO: &str = "\
# A scenario file, key by key

Made from the code. A scenario is TOML; one that runs is [first-scenario.toml](first-scenario.toml). Quantities are
texts with their unit: `\"80 ms\"`, `\"$0.030\"`, `\"$3.00/Mtok\"`, `\"3/10\"` or `\"30 %\"`. Whatever is wrong with a file is
told at once, with line and caret: `faultlab check FILE`. The table `[policy]` has a page of its own:
[policy.md](policy.md).

A variant is the file with something else: whatever it states (`policy.…`, `[[variant.route]]`, …) is laid over the
file, by name. A pattern is an event and what its fields must be, as in `events.jsonl`:
`{ event = \"replied\", outcome = \"answered\" }`; times and money may have their unit, and
`candidate = { route = \"a\", verdict = \"excluded\" }` looks into the candidates of `considered`.
";

/// A page under construction.
struct Page(String);

impl Page {
    fn new(introduction: &str) -> Page {
        Page(introduction.to_owned())
    }

    /// Knobs, in a table for each table of the file.
    fn tables(&mut self, knobs: impl Iterator<Item = Knob>) {
        let mut tables: Vec<(String, Vec<Knob>)> = Vec::new();
        for knob in knobs {
            let table = knob.path.rsplit_once('.').map_or("", |(table, _)| table).to_owned();
            match tables.iter_mut().find(|known| known.0 == table) {
                Some((_, rows)) => rows.push(knob),
                None => tables.push((table, vec![knob])),
            }
        }
        for (table, rows) in tables {
            self.heading(&heading(&table));
            self.line("| key | wants | if it is not stated | meaning |\n|---|---|---|---|");
            for knob in rows {
                let key = knob.path.rsplit('.').next().unwrap_or_default();
                let unstated = match knob.unstated {
                    Unstated::Default(value) => format!("`{value}`"),
                    Unstated::Absent => "–".to_owned(),
                    Unstated::Problem => "a problem".to_owned(),
                };
                let wrong: String = knob.wrong.iter().map(wrong_value).collect();
                self.line(&format!("| `{key}` | {} | {unstated} | {}{wrong} |", knob.wants, knob.doc));
            }
        }
    }

    fn metrics(&mut self) {
        self.heading("Metrics");
        self.line("Times are nanoseconds, money is dollars, ratios have three decimals.\n");
        let words: Vec<String> = Metric::ALL.iter().map(|metric| format!("`{}`", metric.label())).collect();
        self.line(&words.join(" · "));
    }

    fn laws(&mut self) {
        self.heading("Laws");
        self.line("They hold in every run of every scenario, unless a variant `breaks` them.\n");
        self.line("| law | |\n|---|---|");
        for law in Law::ALL {
            self.line(&format!("| `{}` | {} |", law.name(), law.sentence()));
        }
    }

    fn findings(&mut self) {
        self.heading("Findings");
        self.line("Remarks in `summary.json` that judge nothing.\n");
        let words: Vec<String> =
            Finding::ALL.iter().map(|finding| format!("`{}`", finding.label())).collect();
        self.line(&words.join(" · "));
    }

    fn events(&mut self) {
        self.heading("Events");
        let candidate: Vec<String> = CANDIDATE.iter().map(|field| format!("`{}`", field.label())).collect();
        self.line(
            "The world writes facts, the gateway writes claims. A field that has no value is not written.",
        );
        self.line(&format!("A candidate has {}.\n", candidate.join(" ")));
        self.line("| event | | fields |\n|---|---|---|");
        for kind in Kind::ALL {
            let author = match kind.author() {
                Author::World => "fact",
                Author::Gateway => "claim",
            };
            let fields: Vec<String> =
                kind.fields().iter().map(|field| format!("`{}`", field.label())).collect();
            self.line(&format!("| `{}` | {author} | {} |", kind.label(), fields.join(" ")));
        }
    }

    fn heading(&mut self, text: &str) {
        self.line(&format!("\n## {text}\n"));
    }

    fn line(&mut self, text: &str) {
        writeln!(self.0, "{text}").expect("a text grows");
    }
}

fn heading(table: &str) -> String {
    match table {
        "" => "The file".to_owned(),
        DRAWN_TIME => "A drawn time: `{ … }`".to_owned(),
        _ if table.starts_with(DRAWN_TIME) => {
            format!("A drawn time: `{{ {} = {{ … }} }}`", &table[DRAWN_TIME.len() + 1..])
        }
        _ if table.ends_with("[]") && !table.trim_end_matches("[]").contains("[]") => {
            format!("`[[{}]]`", table.trim_end_matches("[]"))
        }
        _ => format!("`{}`", table.replace("[]", "")),
    }
}

fn wrong_value((value, incident, law): &(&str, &str, &str)) -> String {
    let law = if law.is_empty() { String::new() } else { format!(" (breaks `{law}`)") };
    format!("<br>✗ `{value}`: {incident}{law}")
}

/// The page of this name is `made`; if not, the new one is left where it can be copied from.
fn check(name: &str, made: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let found = std::fs::read_to_string(page).unwrap_or_default().replace("\r\n", "\n");
    if found != made {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&new, made).unwrap();
        panic!("docs/{name} is out of date; copy {} over it and read what changed", new.display());
    }
}
