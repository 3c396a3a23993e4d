//! How much comes in, and under which names: nothing is lost without a word, no run is larger than fits, and no
//! name that is made by counting (`stream/1`, `job/3`, `job/3/step/2`) is another's.

use super::form::Form;
use super::lower::World;
use super::quantity::DURATION_MAX;
use crate::sim::{Latency, SourceKind};
use crate::units::{Duration, Name, Timestamp};

/// The most requests of one run.
const PLANNED_MAX: u128 = 10_000_000;

/// Says so if what comes after the first of `count` would be lost: it never comes, or at the end of time.
pub(super) fn all_come(f: &mut Form<'_, '_>, key: &str, gap: &Latency, first: Timestamp, count: u32) {
    if count < 2 {
        return;
    }
    let median = gap.at(1 << 63).map(Duration::nanos);
    let last = median.map(|gap| u128::from(first.nanos()) + u128::from(gap) * u128::from(count - 1));
    if last.is_none() {
        let help = format!("with `{key} = \"never\"` there is one: `count = 1`");
        f.problem(&f.span_of(key), format!("only the first of {count} would ever come"), Some(help));
    } else if last.is_some_and(|last| last > u128::from(DURATION_MAX)) {
        let text = format!("the last of {count} would come after more than 100 years, the longest time here");
        f.problem(&f.span_of(key), text, Some(format!("a shorter `{key}`, or a smaller `count`")));
    }
}

/// Says so if it is this table, after `before` requests, with which a run becomes too large.
pub(super) fn all_fit(f: &mut Form<'_, '_>, world: &World, before: u128) {
    let planned = planned(world);
    if before <= PLANNED_MAX && planned > PLANNED_MAX {
        let text = format!("a run would have {planned} requests; {PLANNED_MAX} fit");
        let help = "state a smaller `count`, and play more seeds instead".to_owned();
        f.problem(&f.span_of("count"), text, Some(help));
    }
}

/// The requests of one run, as far as the file has been read.
pub(super) fn planned(world: &World) -> u128 {
    let of_sources = world.sources.iter().map(|source| u128::from(source.count));
    let of_jobs = world.jobs.iter().map(|job| {
        let times: u128 = job.steps.iter().map(|step| u128::from(step.times)).sum();
        u128::from(job.count) * times
    });
    of_sources.chain(of_jobs).sum()
}

/// Says so if the name that stands under `name` could not be told from those that are made by counting.
pub(super) fn countable(f: &mut Form<'_, '_>, world: &World, name: Option<Name>) {
    let Some(text) = name.map(|name| world.catalog.names.text(name)).filter(|text| text.contains('/')) else {
        return;
    };
    let help = "names are made of it by counting: `name/1`, `name/2`, …".to_owned();
    f.problem(&f.span_of("name"), format!("there is a `/` in `{text}`"), Some(help));
}

/// Says so if a stream of `count` makes a request that is listed.
pub(super) fn new_stream(f: &mut Form<'_, '_>, world: &World, name: Option<Name>, count: u32) {
    let Some(name) = name.map(|name| world.catalog.names.text(name)) else { return };
    let is_made = |text: &str| counted(text, name).is_some_and(|rest| is_number(rest, count));
    taken(f, "request", listed(world).find(|text| is_made(text)));
}

/// Says so if one of `count` jobs is a task that is declared.
pub(super) fn new_job(f: &mut Form<'_, '_>, world: &World, name: Option<Name>, count: u32) {
    let Some(name) = name.map(|name| world.catalog.names.text(name)) else { return };
    let is_made = |text: &str| counted(text, name).is_some_and(|rest| is_number(rest, count));
    let mut tasks = world.catalog.tasks.iter().map(|task| world.catalog.names.text(task.name));
    taken(f, "task", tasks.find(|text| is_made(text)));
}

/// Says so if a step of one of `count` jobs makes a request that is listed.
pub(super) fn new_step(f: &mut Form<'_, '_>, world: &World, job: &str, count: u32, step: Name, times: u32) {
    let step = world.catalog.names.text(step);
    let is_made = |text: &str| {
        let of_job = counted(text, job).and_then(|rest| rest.split_once('/'));
        of_job.filter(|(number, _)| is_number(number, count)).is_some_and(|(_, rest)| {
            if times > 1 { counted(rest, step).is_some_and(|n| is_number(n, times)) } else { rest == step }
        })
    };
    taken(f, "request", listed(world).find(|text| is_made(text)));
}

fn taken(f: &mut Form<'_, '_>, what: &str, clash: Option<&str>) {
    if let Some(clash) = clash {
        let text = format!("its {what} `{clash}` would be there twice");
        f.problem(
            &f.span_of("name"),
            text,
            Some(format!("a {what} `{clash}` is declared on its own: rename one of them")),
        );
    }
}

fn listed(world: &World) -> impl Iterator<Item = &str> {
    let sources = world.catalog.sources.iter().filter(|source| matches!(source.kind, SourceKind::Listed));
    sources.map(|source| world.catalog.names.text(source.name))
}

/// What follows `name/`.
fn counted<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name)?.strip_prefix('/')
}

/// Whether a text is a number from 1 to `most`, as it is printed.
fn is_number(text: &str, most: u32) -> bool {
    text.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n) && n.to_string() == text)
}

#[cfg(test)]
mod tests {
    use crate::scenario::load;

    const HEAD: &str = "format = 1\ntitle = 'Many'\n[[route]]\nname = 'a'\n\
                        price = { input = '$1.00/Mtok', output = '$8.00/Mtok' }\n";
    const TOKENS: &str = "tokens = { input = 1, output_max = 1 }\n";

    /// What is wrong with these tables.
    fn check(tables: &str, expected: &[&str]) {
        let told = match load("many.toml", &format!("{HEAD}{tables}")) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.list().iter().map(|problem| problem.text.clone()).collect(),
        };
        assert_eq!(told, expected, "{tables}");
    }

    fn stream(keys: &str) -> String {
        format!("[[arrivals]]\nname = 's'\n{TOKENS}{keys}\n")
    }

    fn job(keys: &str, step: &str) -> String {
        format!("[[job]]\nname = 'turn'\n{keys}\n[[job.step]]\n{TOKENS}{step}\n")
    }

    #[test]
    fn arrivals_that_would_never_come_are_told() {
        let lost = "only the first of 2 would ever come";
        check(&stream("gap = 'never'\ncount = 2"), &[lost]);
        check(&stream("gap = 'never'\ncount = 1"), &[]);
        check(&stream("clients = 2\nthink = 'never'\ncount = 3"), &["only the first 2 of 3 would ever come"]);
        check(&stream("clients = 2\nthink = 'never'\ncount = 2"), &[]);
        check(&job("every = 'never'\ncount = 2", "name = 'plan'"), &[lost]);
    }

    #[test]
    fn arrivals_after_the_longest_time_are_told() {
        let late = "the last of 101 would come after more than 100 years, the longest time here";
        check(&stream("gap = '365 d'\ncount = 101"), &[]);
        check(&stream("gap = '366 d'\ncount = 101"), &[late]);
        check(&stream("first = '1 ns'\ngap = '365 d'\ncount = 101"), &[late]);
        check(&stream("gap = { exponential = '600 d' }\ncount = 101"), &[late]);
        check(&job("every = '366 d'\ncount = 101", "name = 'plan'"), &[late]);
    }

    #[test]
    fn a_run_of_more_than_ten_million_requests_is_refused() {
        check(&stream("gap = '1 us'\ncount = 10000000"), &[]);
        let text = "a run would have 10000001 requests; 10000000 fit";
        check(&stream("gap = '1 us'\ncount = 10000001"), &[text]);
        let request = format!("[[request]]\nid = 'r'\n{TOKENS}");
        check(&format!("{request}{}", stream("gap = '1 us'\ncount = 10000000")), &[text]);
        let text = "a run would have 18446744065119617025 requests; 10000000 fit";
        let steps = "name = 'plan'\ntimes = 4294967295";
        check(&job("every = '1 ns'\ncount = 4294967295", steps), &[text]);
    }

    #[test]
    fn no_request_and_no_task_is_there_twice() {
        let listed = |id: &str| format!("[[request]]\nid = '{id}'\n{TOKENS}");
        let stream = stream("gap = '1 s'\ncount = 2");
        check(&format!("{}{stream}", listed("s/1")), &["its request `s/1` would be there twice"]);
        check(&format!("{}{stream}", listed("s/3")), &[]);
        check(&format!("{}{stream}", listed("s/01")), &[]);
        let jobs = job("every = '1 s'\ncount = 2", "name = 'plan'");
        check(
            &format!("{}{jobs}", listed("turn/2/plan")),
            &["its request `turn/2/plan` would be there twice"],
        );
        check(&format!("{}{jobs}", listed("turn/2/plan/1")), &[]);
        let jobs = job("", "name = 'plan'\ntimes = 2");
        check(
            &format!("{}{jobs}", listed("turn/1/plan/2")),
            &["its request `turn/1/plan/2` would be there twice"],
        );
        let task = "[[task]]\nname = 'turn/1'\n";
        check(&format!("{task}{jobs}"), &["its task `turn/1` would be there twice"]);
        check(&job("", "name = 'plan/1'"), &["there is a `/` in `plan/1`"]);
    }

    #[test]
    fn an_empty_list_is_no_route_and_no_request() {
        let told = |text: &str| -> Vec<String> {
            let problems = load("none.toml", text).expect_err("it has nothing to play");
            problems.list().iter().map(|problem| problem.text.clone()).collect()
        };
        let none = "format = 1\ntitle = 'None'\nroute = []\nrequest = []\narrivals = []\njob = []\n";
        assert_eq!(told(none), ["the file has no `request`", "the file has no `route`"]);
        check("[[job]]\nname = 'turn'\nstep = []\n", &["`job` has no `step`"]);
        let all_left_out =
            format!("[[request]]\nid = 'r'\n{TOKENS}[[variant]]\nname = 'v'\nwithout = ['r']\n");
        check(&all_left_out, &["the file has no `request`"]);
    }
}
