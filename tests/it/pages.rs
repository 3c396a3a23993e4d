//! The pages under `docs/` that are made from the code say what the code says.

use faultlab::judge::{Finding, Law, Metric};
use faultlab::policy::taxonomy::Class;
use faultlab::scenario::{DRAWN_TIME, Knob, Unstated, knobs};
use faultlab::trace::{Author, CANDIDATE, COMMON, Kind};
use faultlab::wire::{Catalogue, Dialect, Input, Verdict, classify, dialect_files, rules, signs};
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

#[test]
fn the_page_of_failures_lists_every_rule_word_and_case() {
    let mut page = Page::new(TAXONOMY);
    page.classes();
    page.rules();
    page.signs();
    page.dialects();
    page.catalogue();
    check("taxonomy.md", &page.0);
}

const POLICY: &str = "\
# The policy, knob by knob

Made from the code. The right value of a knob is its default; a wrong one stands here with the incident that
taught it and the law that it breaks, if it breaks one: a test finds a random world that breaks it with that value
alone, and keeps it without. What a law says is in [scenario.md](scenario.md#laws).

What a remedy does:

* `stop`: the caller gets the failure by its real name; nothing else is called, but what an `approved_failover` names.
* `wait_same_then_fallback`: if a quota is used up, at once on another: with another credential of the same route, or
  on another route. Else on the same route after the backoff and not before the response allows; else on another route.
* `fallback`: after the backoff, on whatever route is best then.
* `fallback_now`: the same at once.

What a signal does: a `failure` counts against breaker and health, a `success` for them, `neutral` moves nothing.

A `[[policy.profile]]` is for the routes of a provider, of a model, or of both, and states only what differs for them: all
else is as in `[policy]`, whoever changes it there. It states as few fields as it needs; one that repeats a field of
`[policy]` keeps it from an operator who changes it for all. The profile that names both goes before one that names
either. Calls are counted inside the one budget of the request, so the smaller of `calls_per_route_max` and
`attempts_max` wins.
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

const TAXONOMY: &str = "\
# What a provider's failure means

Made from the data that the classifier reads. The body decides, not the status; the first rule that has an answer
decides, so their order is the knowledge. A name that a message quotes (a tool, a file, a value) decides nothing about
a bad request. Try it: `faultlab classify FILE`.

A dialect file says what a provider's words mean; yours is asked before these (`faultlab classify --dialect FILE`, or
the knob `policy.dialect_lines` of a scenario). A line is `WORD ARGUMENTS`, `#` begins a comment:

```text
provider groq                     # whose words follow; `any` is for all
alias    groqcloud                # another name
family   gemini                   # whose words are asked after these and before the shared ones
scope    rate model               # the smallest thing to bench: for rate, quota, plan, capacity, fault, auth, funds
clock    day utc-day              # when a window ends: pacific-day, utc-day, utc-week, utc-month, rolling-SECONDS
status   capacity 498             # a status that is a sign here
code     funds billing_hard_limit # a code is a sign wherever it is seen,
here code rate 1302               # … or only here
phrase   funds out of .. credits  # words of a message, `..` for anything between; `here phrase` only here
```

`Retry-After` is read strictly: whole seconds or an HTTP date; anything else is malformed and the next source is asked
(a body's `RetryInfo`, reset headers, words). `as_sent` takes fractions, units and epochs too, `lenient_sdk` what client
libraries take. `status_only` and `adr_113` are wrong on purpose: what a gateway does with them is a scenario
(`look-alikes`).
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
                    Unstated::Inherited => "as in `[policy]`".to_owned(),
                    Unstated::Problem => "a problem".to_owned(),
                };
                let wrong: String = knob.wrong.iter().map(wrong_value).collect();
                self.line(&format!("| `{key}` | {} | {unstated} | {}{wrong} |", knob.wants, knob.doc));
            }
        }
    }

    fn metrics(&mut self) {
        self.heading("Metrics");
        self.line("Times are nanoseconds, money is dollars, ratios have three decimals. In a file with layers, what callers");
        self.line("asked and were told is counted at the outermost layer, what upstreams were called and billed at the");
        self.line("innermost. Of a route, or of a tenant: `where`; not every metric is told of them.\n");
        self.line("| metric | |\n|---|---|");
        for metric in Metric::ALL {
            let route = if metric.is_of_a_route() { " Also of each route." } else { "" };
            self.line(&format!("| `{}` | {}{route} |", metric.label(), metric.sentence()));
        }
    }

    fn laws(&mut self) {
        self.heading("Laws");
        self.line("They hold in every run of every scenario, unless a variant `breaks` them. That a run comes to rest");
        self.line(
            "(`comes_to_rest`) is a check of every run and no law: no variant may declare it broken.\n",
        );
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
        self.line(&format!("A candidate has {}.", candidate.join(" ")));
        let common: Vec<String> = COMMON.iter().map(|field| format!("`{}`", field.label())).collect();
        self.line(&format!(
            "In a file with layers every event has {} before its own fields.\n",
            common.join(" ")
        ));
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

    fn classes(&mut self) {
        self.heading("Classes");
        self.line("What a gateway does after each is policy: [policy.md](policy.md). The machines have finer ones.\n");
        self.line("| class | family | in the machines |\n|---|---|---|");
        let mut labels: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for class in Class::ALL {
            let verdict = Verdict { class: Some(class), ..classify(&Input::default(), &Dialect::standard()) };
            match labels.iter_mut().find(|known| known.0 == verdict.label() && known.1 == verdict.family()) {
                Some(known) => known.2.push(class.label()),
                None => labels.push((verdict.label(), verdict.family(), vec![class.label()])),
            }
        }
        for (label, family, classes) in labels {
            self.line(&format!("| `{label}` | `{family}` | {} |", ticked(&classes, " ")));
        }
    }

    fn rules(&mut self) {
        self.heading("Rules, in the order in which they are asked");
        self.line("| | rule | |\n|---|---|---|");
        for (at, (name, says)) in rules().enumerate() {
            self.line(&format!("| {} | `{name}` | {says} |", at + 1));
        }
        self.line("\nWhat none of them knows is `unclassified`: not to be repeated.");
    }

    fn signs(&mut self) {
        self.heading("Signs");
        self.line("What a word of a dialect file can be a sign of.\n");
        self.line("| sign | |\n|---|---|");
        for (word, says) in signs() {
            self.line(&format!("| `{word}` | {says} |"));
        }
    }

    fn dialects(&mut self) {
        self.heading("Dialects");
        for (_, text) in dialect_files() {
            let lines: Vec<&str> = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .collect();
            self.dialect(&lines);
        }
    }

    /// One file: what it says of itself, then its words by sign. A file may speak for several providers.
    fn dialect(&mut self, lines: &[&str]) {
        let mut words: Vec<(String, Vec<String>)> = Vec::new();
        for line in lines.iter().map(|line| line.split(" #").next().unwrap_or(line).trim()) {
            let mut parts = line.split_whitespace();
            let local = if line.starts_with("here ") { parts.next().map_or("", |_| "here ") } else { "" };
            let (kind, rest) = (parts.next().unwrap_or_default(), parts.collect::<Vec<_>>());
            match kind {
                "provider" => {
                    self.words(&mut words);
                    self.line(&format!("\n### {}\n", rest.join(" ")));
                }
                "version" | "source" | "alias" | "family" | "scope" | "clock" | "trait" => {
                    self.line(&format!("* {kind}: {}", rest.join(" ")));
                }
                _ => {
                    let (sign, text) = (rest[0].to_owned(), rest[1..].join(" "));
                    let mark = match kind {
                        "phrase" => format!("“{text}”"),
                        "status" => format!("status {text}"),
                        _ => format!("`{text}`"),
                    };
                    let mark = if local.is_empty() { mark } else { format!("{mark}°") };
                    match words.iter_mut().find(|known| known.0 == sign) {
                        Some(known) => known.1.push(mark),
                        None => words.push((sign, vec![mark])),
                    }
                }
            }
        }
        self.words(&mut words);
    }

    fn words(&mut self, words: &mut Vec<(String, Vec<String>)>) {
        if words.is_empty() {
            return;
        }
        self.line("\n| sign | codes, “phrases”, statuses (° only here) |\n|---|---|");
        for (sign, marks) in words.drain(..) {
            self.line(&format!("| `{sign}` | {} |", marks.join(" · ").replace('|', "\\|")));
        }
    }

    fn catalogue(&mut self) {
        self.heading("Synthetic responses");
        self.line("For scenarios: `fault = { provider = \"gemini\", case = \"daily_quota\" }`. The truth is declared, and the");
        self.line("judge goes by it whatever the policy's dialect makes of the response.\n");
        self.line(
            "| provider | case | status | truth | wait | rule | decided by |\n|---|---|---|---|---|---|---|",
        );
        let dialect = Dialect::standard();
        for one in Catalogue::standard().cases() {
            let verdict = classify(&one.input, &dialect);
            let status = one.input.status.map_or("–".to_owned(), |status| status.to_string());
            let health = one.health.map_or(String::new(), |health| format!(", {} to health", health.label()));
            let truth = one.truth.map_or("none", Class::label);
            let wait = verdict.retry_after_ms.map_or("–".to_owned(), |ms| format!("{ms} ms"));
            let by: Vec<String> = verdict.decided_by.iter().map(ToString::to_string).collect();
            let by: Vec<&str> = by.iter().map(String::as_str).collect();
            let (provider, case, rule) = (&one.provider, &one.case, verdict.rule);
            self.line(&format!(
                "| `{provider}` | `{case}` | {status} | `{truth}`{health} | {wait} | `{rule}` | {} |",
                ticked(&by, " ")
            ));
        }
    }

    fn heading(&mut self, text: &str) {
        self.line(&format!("\n## {text}\n"));
    }

    fn line(&mut self, text: &str) {
        writeln!(self.0, "{text}").expect("a text grows");
    }
}

fn ticked(words: &[&str], between: &str) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(between)
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

#[test]
fn every_check_of_the_page_of_incidents_is_one_of_the_suite_and_no_scenario_is_left_out() {
    let read = |path: &str| {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let (page, pinned) = (read("docs/incidents.md"), read("scenarios/checks.txt"));
    let pinned: Vec<&str> = pinned.lines().collect();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let told: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let unknown: Vec<&&str> = told.iter().filter(|check| !pinned.contains(check)).collect();
    assert!(unknown.is_empty(), "no checks of the suite: {unknown:?}");
    for one in faultlab::suite::embedded() {
        let is_told = told.iter().any(|check| check.split('/').next() == Some(one.name));
        assert!(is_told, "docs/incidents.md does not say where {} is from", one.name);
    }
}
