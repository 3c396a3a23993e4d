//! A trace as a story: one readable line an entry, with its time, its number and the number of its cause.

use std::collections::{BTreeMap, BTreeSet};

use super::field::Field;
use super::fields::{Sink, fields};
use super::kind::Kind;
use super::phrases::{candidate, phrases, won};
use super::reading::{Reading, Values};
use super::roll::Roll;
use super::text::Text;
use crate::policy::{breaker, health};
use crate::sim::{Catalog, Entry, Observer};
use crate::units::Money;

/// What a story is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum About {
    /// Everything.
    Everything,
    /// One request and what concerns it: its own entries, what was closed, sick or benched when it arrived, and
    /// what moved while it was open.
    Request(String),
}

impl About {
    /// Whether a line could come of `entry`: asked before anything is put together. The roll must have noted it.
    pub fn may_concern(&self, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) -> bool {
        let About::Request(name) = self else { return true };
        let mut whose = Whose { name, is_of_a_stack: false, others: false };
        fields(entry, roll, catalog, &mut whose);
        !whose.others || Kind::of(&entry.what) == Kind::FuseBlew
    }
}

/// Tells the story of a run while it happens.
#[derive(Clone, Debug)]
pub struct Story<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    plot: Plot,
}

impl<'a> Story<'a> {
    /// A story of a run with this catalogue.
    pub fn new(catalog: &'a Catalog, about: About) -> Story<'a> {
        Story { catalog, roll: Roll::default(), plot: Plot::new(about) }
    }

    /// The lines so far.
    pub fn lines(&self) -> &[String] {
        &self.plot.lines
    }
}

impl Observer for Story<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        if self.plot.about.may_concern(entry, &self.roll, self.catalog) {
            self.plot.take(&Reading::of(entry, &self.roll, self.catalog));
        }
    }
}

/// Chooses and words the lines of a story, from readings in their order.
#[derive(Clone, Debug)]
pub struct Plot {
    about: About,
    phase: Phase,
    lines: Vec<String>,
    told: BTreeSet<u64>,
    /// What stands before the request arrives, by what it is about.
    standing: BTreeMap<String, Reading>,
    /// The task of the request.
    task: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Before,
    During,
    After,
}

impl Plot {
    /// Nothing yet.
    pub fn new(about: About) -> Plot {
        let (lines, told, standing) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        Plot { about, phase: Phase::Before, lines, told, standing, task: None }
    }

    /// The lines so far.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Takes in one entry.
    pub fn take(&mut self, reading: &Reading) {
        let About::Request(name) = &self.about else { return self.tell(reading) };
        match reading.values.text(Field::Request) {
            Some(request) if request == name || is_led_to(reading, request, name) => self.follow(reading),
            Some(_) if reading.kind != Kind::FuseBlew => {}
            Some(_) | None => self.overhear(reading),
        }
    }

    /// An entry of the request, or of what it led to.
    fn follow(&mut self, reading: &Reading) {
        let is_own =
            matches!(&self.about, About::Request(name) if reading.values.text(Field::Request) == Some(name));
        if reading.kind == Kind::Arrived && is_own {
            let mut before: Vec<Reading> = std::mem::take(&mut self.standing).into_values().collect();
            self.task = reading.values.text(Field::Task).map(str::to_owned);
            before.retain(|before| self.is_near(before) && stands_for(before, reading));
            before.sort_by_key(|before| before.seq);
            before.iter().for_each(|before| self.tell(before));
            self.phase = Phase::During;
        }
        self.tell(reading);
        if reading.kind == Kind::Closed && is_own {
            self.phase = Phase::After;
        }
    }

    /// An entry of no request.
    fn overhear(&mut self, reading: &Reading) {
        let is_caused = reading.cause.is_some_and(|cause| self.told.contains(&cause));
        match self.phase {
            Phase::Before => self.keep(reading),
            Phase::During if self.is_near(reading) => self.tell(reading),
            Phase::After if is_caused => self.tell(reading),
            Phase::During | Phase::After => {}
        }
    }

    /// Whether what is said of a task is said of the request's own: its kind, its beginning, its fuse.
    fn is_near(&self, reading: &Reading) -> bool {
        let (Some(task), Some(own)) = (reading.values.text(Field::Task), &self.task) else {
            return reading.values.text(Field::Task).is_none() || is_of_the_run(reading);
        };
        let is_kind = own.strip_prefix(task).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_kind || is_of_the_run(reading)
    }

    /// Keeps the last thing said about a subject, unless it says that all is well.
    fn keep(&mut self, reading: &Reading) {
        let stays = [
            Kind::DeclaredLayer,
            Kind::DeclaredLimits,
            Kind::DeclaredBreaker,
            Kind::DeclaredTenant,
            Kind::DeclaredTask,
            Kind::DeclaredQuota,
            Kind::DeclaredRoute,
            Kind::DeclaredApproval,
            Kind::TaskBegan,
            Kind::BreakerMoved,
            Kind::HealthMoved,
            Kind::Benched,
            Kind::FuseBlew,
        ];
        let named = |field: &Field| Some(format!("{}={}", field.label(), reading.values.text(*field)?));
        let mut subject = SUBJECTS.iter().filter_map(named).collect::<Vec<_>>().join(" ");
        let is_declared =
            [Kind::DeclaredBreaker, Kind::DeclaredQuota, Kind::DeclaredApproval, Kind::DeclaredLayer];
        if is_declared.contains(&reading.kind) {
            subject = format!("declared={}", reading.seq); // a breaker moves too, a project can have several quotas
        }
        let well = [breaker::State::Closed.label(), health::State::Healthy.label()];
        let is_well = reading.values.text(Field::To).is_some_and(|to| well.contains(&to));
        if matches!(reading.kind, Kind::Freed | Kind::TaskEnded) || is_well {
            self.standing.remove(&subject);
        } else if stays.contains(&reading.kind) {
            self.standing.insert(subject, reading.clone());
        }
    }

    fn tell(&mut self, reading: &Reading) {
        self.told.insert(reading.seq);
        self.lines.extend(worded(reading));
    }
}

/// What an entry can be about, beside a request.
const SUBJECTS: [Field; 12] = [
    Field::Layer,
    Field::Scope,
    Field::Credential,
    Field::Project,
    Field::Model,
    Field::Provider,
    Field::Route,
    Field::Breaker,
    Field::Health,
    Field::Task,
    Field::Tenant,
    Field::Fuse,
];

/// Whether what stands matters to a request: of tenants only its own does.
fn stands_for(standing: &Reading, arrived: &Reading) -> bool {
    standing.kind != Kind::DeclaredTenant
        || arrived.values.get(Field::Tenant) == standing.values.get(Field::Tenant)
}

/// A fuse that blew for everybody, whosever task it was.
fn is_of_the_run(reading: &Reading) -> bool {
    let fuse = reading.values.text(Field::Fuse);
    reading.kind == Kind::FuseBlew && fuse.is_some_and(|fuse| !fuse.ends_with("per_task"))
}

/// Whether `request` is what `name` led to in a layer below: `ask/sdk/2` for `ask`.
fn is_below(request: &str, name: &str) -> bool {
    let rest = request.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
    let nth = rest.and_then(|rest| rest.split_once('/')).map(|(_, nth)| nth);
    nth.is_some_and(|nth| nth.parse::<u32>().is_ok())
}

/// Whether an entry of `request` is of what `name` led to in a layer below.
fn is_led_to(reading: &Reading, request: &str, name: &str) -> bool {
    reading.values.get(Field::Layer).is_some() && is_below(request, name)
}

/// Listens for a request that is neither `name` nor what it led to in a layer below.
struct Whose<'a> {
    name: &'a str,
    /// Whether the entry is of one of several layers.
    is_of_a_stack: bool,
    others: bool,
}

impl Sink for Whose<'_> {
    fn text(&mut self, field: Field, text: Text<'_>) {
        self.is_of_a_stack |= field == Field::Layer;
        self.others |= field == Field::Request
            && !text.is(self.name)
            && !(self.is_of_a_stack && is_below(&text.to_string(), self.name));
    }

    fn number(&mut self, _: Field, _: u64) {}

    fn money(&mut self, _: Field, _: Money) {}

    fn list(&mut self, _: Field) {}

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn end(&mut self) {}
}

/// The line of `reading`, and one more for each candidate that was not chosen.
pub fn worded(reading: &Reading) -> Vec<String> {
    let at = reading.at.to_string();
    let seq = format!("#{}", reading.seq);
    let cause = reading.cause.map_or(String::new(), |cause| format!("← #{cause}"));
    let layer = reading.values.text(Field::Layer).map_or(String::new(), |layer| format!("{layer}: "));
    let mut lines = vec![format!("{at:>10}  {seq:<4} {cause:<6}  {layer}{}", sentence(reading))];
    let others = reading.candidates.iter().filter(|other| !is_chosen(other));
    lines.extend(others.map(|other| format!("{:>26}· {}", "", spoken(&candidate(other), other))));
    lines
}

/// What `reading` says, in one sentence.
pub fn sentence(reading: &Reading) -> String {
    let said = spoken(&phrases(reading.kind, &reading.values), &reading.values);
    let chosen = reading.candidates.iter().find(|candidate| is_chosen(candidate));
    match chosen {
        Some(chosen) => {
            let mut how = won(chosen);
            how.insert(1, sickness(chosen, &reading.candidates));
            format!("{said} out of {}{}", routes(reading.candidates.len()), spoken(&how, chosen))
        }
        None => said,
    }
}

/// A chosen route that is not healthy is named; the least bad one if every other that could be called is
/// unhealthy too.
fn sickness(chosen: &Values, candidates: &[Values]) -> &'static str {
    let is_sick = |candidate: &Values| {
        candidate.text(Field::HealthState) == Some(health::State::Unhealthy.label())
            || !matches!(candidate.text(Field::Verdict), Some("chosen" | "outranked"))
    };
    if is_sick(chosen) && candidates.iter().all(is_sick) {
        ", {health_state}, least bad"
    } else {
        "[, {health_state}]"
    }
}

fn routes(n: usize) -> String {
    if n == 1 { "1 route".to_owned() } else { format!("{n} routes") }
}

fn is_chosen(candidate: &Values) -> bool {
    candidate.text(Field::Verdict) == Some("chosen")
}

fn spoken(phrases: &[&str], values: &Values) -> String {
    phrases.iter().map(|phrase| filled(phrase, values)).collect()
}

/// The phrase with its fields filled in, without the parts in `[…]` that lack one.
fn filled(phrase: &str, values: &Values) -> String {
    let mut said = String::new();
    let mut rest = phrase;
    while let Some((plain, optional)) = rest.split_once('[') {
        let (optional, after) = optional.split_once(']').expect("a phrase closes its brackets");
        said.push_str(&replaced(plain, values).0);
        if let (part, Lack::Nothing) = replaced(optional, values) {
            said.push_str(&part);
        }
        rest = after;
    }
    said + &replaced(rest, values).0
}

/// Whether fields were absent.
enum Lack {
    Nothing,
    Something,
}

fn replaced(part: &str, values: &Values) -> (String, Lack) {
    let (mut said, mut lack, mut rest) = (String::new(), Lack::Nothing, part);
    while let Some((plain, field)) = rest.split_once('{') {
        let (field, after) = field.split_once('}').expect("a phrase closes its braces");
        let value = Field::named(field).and_then(|field| values.say(field));
        if value.is_none() {
            lack = Lack::Something;
        }
        said.push_str(plain);
        said.push_str(value.as_deref().unwrap_or("?"));
        rest = after;
    }
    (said + rest, lack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::samples;

    fn story(about: About, play: impl Fn(&mut Story<'_>)) -> String {
        let catalog = samples::catalog();
        let mut story = Story::new(&catalog, about);
        play(&mut story);
        story.lines().join("\n")
    }

    #[test]
    fn a_trace_reads_as_a_story() {
        let story = story(About::Everything, |story| samples::bounded(story));
        for line in [
            "      0 ms  #5           req-demo-002 arrives in task-1 for tenant-7f3a: needs tools+json, only in \
             region-a, restricted data, 8000 tokens in, at most 1000 out, at most $0.030, answer by 1200 ms",
            "      0 ms  #6   ← #5    primary is chosen for req-demo-002 out of 2 routes, on order, worst case $0.016",
            "                          · fallback: outranked on order, worst case $0.016",
            "     80 ms  #10          req-demo-002#1 on primary fails after 80 ms: 429 rate_limited, in truth \
             rate_limit, billed $0.000",
            "     80 ms  #14  ← #10   req-demo-002 will try again in 100 ms, at 180 ms, on fallback for at most \
             $0.016",
            "    630 ms  #23  ← #20   req-demo-002 is answered by fallback; calls made: 2, time taken 630 ms, \
             left 570 ms",
        ] {
            assert!(story.lines().any(|told| told == line), "{line}\nin\n{story}");
        }
    }

    /// These lines, in this order, without their numbers.
    fn check(story: &str, lines: &[&str]) {
        let said = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut told = story.lines().map(said);
        for line in lines {
            assert!(told.any(|told| told.ends_with(line)), "{line}\nin\n{story}");
        }
    }

    #[test]
    fn a_hedge_tells_who_was_started_why_who_won_who_was_cancelled_and_what_each_cost() {
        let story = story(About::Everything, |story| samples::hedged(story));
        check(
            &story,
            &[
                "req-demo-002 calls primary with key-n: req-demo-002#1 (breaker generation 1)",
                "200 ms #5 the patience of req-demo-002 with its slow leg is over",
                "fallback is chosen for req-demo-002 out of 2 routes, worst case $0.016",
                "· primary: another leg is on it",
                "req-demo-002 starts another leg beside the slow one, on fallback with key-s: req-demo-002#2 \
                 (breaker generation 1)",
                "req-demo-002#2 on fallback ends after 500 ms with an answer, 8000 tokens in, 1000 out, billed \
                 $0.016",
                "req-demo-002 is answered by fallback; calls made: 2, time taken 700 ms, left 500 ms",
                "req-demo-002#1 on primary is cancelled: it is needed no longer",
                "req-demo-002#1 on primary, cut off, ends after 1 s, 8000 tokens in, 1000 out, billed $0.016",
                "req-demo-002 is closed; it cost $0.032 in all",
            ],
        );
    }

    #[test]
    fn a_turn_tells_its_queue_its_least_bad_route_its_quota_and_its_fuse() {
        let everything = story(About::Everything, |story| samples::turn(story));
        check(
            &everything,
            &[
                "quota of project project-n on model aurora-1: 500 in a window, 120 used before",
                "turn/3 begins",
                "turn/3/plan waits for a free slot; 1 in the queue",
                "primary is chosen for turn/3/plan out of 2 routes, on health, UNHEALTHY, least bad, worst case $0.016",
                "· fallback: outranked on health, UNHEALTHY, worst case $0.016",
                "turn/3/plan#1 on primary fails after 40 ms: daily_quota, in truth quota_exhausted: that quota \
                 is used up, billed $0.000",
                "turn/3/plan starts no other leg: it would blow a fuse",
                "a fuse blows: turn/3 has made 24 calls, and turn/3/plan wants one more",
                "turn/3/plan ends with CALL_BUDGET_EXCEEDED: the fuse calls_per_task is blown; calls made: 1, \
                 time taken 45 ms, left 0 ms",
                "turn/3/act/2 ends with CALL_BUDGET_EXCEEDED: the fuse calls_per_task is blown; calls made: 0, \
                 time taken 0 ms, left 0 ms",
                "turn/3 ends after 60 ms: a step was not answered",
                "turn/4 ends after 60 ms: every step was answered",
            ],
        );
        let second = story(About::Request("turn/3/act/2".to_owned()), |story| samples::turn(story));
        check(
            &second,
            &[
                "task turn may use $1.000 and 1000000 tokens",
                "turn/3 begins",
                "a fuse blows: turn/3 has made 24 \
              calls, and turn/3/plan wants one more",
                "turn/3/act/2 arrives in turn/3: needs tools+json, only in \
              region-a, restricted data, 8000 tokens in, at most 1000 out, at most $0.030, answer by 1200 ms, \
              priority 7",
            ],
        );
        assert!(!second.contains("turn/4"), "another turn is none of its business: {second}");
    }

    #[test]
    fn no_phrase_asks_for_a_field_that_its_entry_lacks() {
        for story in [
            story(About::Everything, |story| samples::bounded(story)),
            story(About::Everything, |story| samples::oddities(story)),
            story(About::Everything, |story| samples::turn(story)),
        ] {
            assert!(!story.contains(['?', '{', '}', '[', ']']), "{story}");
            assert!(!story.lines().any(|line| line.ends_with([' ', ':', ','])), "{story}");
        }
    }

    #[test]
    fn the_story_of_one_request_has_what_concerns_it_and_nothing_else() {
        let both = |story: &mut Story<'_>| {
            samples::oddities(story);
            samples::bounded(story);
        };
        let about = |name: &str| story(About::Request(name.to_owned()), both);
        let own = about("req-demo-002");
        let is_of_another = |line: &str| line.contains("load/17") && !line.contains("a fuse blows");
        assert!(own.contains("req-demo-002 is answered by fallback"), "{own}");
        assert!(!own.lines().any(is_of_another), "{own}");
        let stood = "breaker north/aurora-1/region-a goes from CLOSED to OPEN";
        let (before, after) = own.split_once("req-demo-002 arrives").unwrap();
        assert!(before.contains(stood) && before.contains("tenant tenant-7f3a"), "{own}");
        assert!(!before.contains("health north/aurora-1/region-a goes"), "it is healthy again: {own}");
        assert!(!before.contains("is left alone"), "everything was freed: {own}");
        assert!(!after.contains(stood), "{own}");
        let other = about("load/17");
        assert!(other.contains(stood) && !other.contains("req-demo-002"), "{other}");
    }

    #[test]
    fn the_story_of_a_request_is_told_through_all_layers() {
        let catalog = samples::stacked();
        let told = |name: &str| {
            let mut story = Story::new(&catalog, About::Request(name.to_owned()));
            samples::stack(&mut story);
            story.lines().join("\n")
        };
        let whole = told("req-demo-002");
        for line in [
            "agent: it asks sdk, which is not told its deadline and gives itself 60 s and never hears that it stops \
             waiting, and hears every failure of it as a bare 503; one request of a caller may lead to at most 3 \
             upstream calls",
            "sdk: it asks gateway, which is told its deadline and hears that it stops waiting",
            "sdk: req-demo-002/sdk/1 arrives as req-demo-002#1 in task-1",
            "gateway: primary takes req-demo-002/gateway/1#1 with key-n",
            "agent: req-demo-002 is answered by sdk",
        ] {
            assert!(whole.contains(line), "{line} is not in\n{whole}");
        }
        let part = told("req-demo-002/sdk/1");
        assert!(part.contains("sdk: req-demo-002/sdk/1 is answered by gateway"), "{part}");
        assert!(!part.contains("req-demo-002 is answered"), "{part}");
        assert!(!told("req-demo").contains("arrives"), "a beginning of a name is another name");
    }
}
