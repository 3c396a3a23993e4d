//! `[[job]]`: an agent job that is done again and again, of steps that wait for each other.

use super::findings::{Shape, about};
use super::flow;
use super::form::Form;
use super::latency::latency;
use super::lower::{World, new_name, position};
use super::parties::{cap, id};
use super::quantity::{COUNT_FROM_ONE, DURATION, INSTANT};
use super::traffic::{content, declare, source_name, template, tenant};
use super::tree::Word;
use crate::gateway::Payer;
use crate::policy::prices::Usage;
use crate::sim::{Job, Latency, Pace, Source, SourceKind, Step, TaskFact};
use crate::units::{Name, Timestamp};

/// A kind of job: a turn, an episode.
pub(super) fn job(f: &mut Form<'_, '_>, world: &mut World) {
    let taken: Vec<Name> = world.catalog.tasks.iter().map(|task| task.name).collect();
    let doc = "Its name; its jobs are `name/1`, `name/2`, ….";
    let name = new_name(f, "name", doc, &mut world.catalog.names, taken);
    let first = f.value(about("first", "When the first begins."), &INSTANT, "0 ms");
    let count = f.value(about("count", "How many there are."), &COUNT_FROM_ONE, "1");
    let doc = "From one beginning to the next: a time or a distribution; needed if there are more than one.";
    let gap = f.custom(about("every", doc), ("a time or a drawn time", Shape::Time), |f, node| {
        latency(f, "every", node)
    });
    if count > 1 && gap.is_none() && f.node("every").is_none() {
        f.missing("every", "`every = \"6 s\"`");
    }
    flow::countable(f, world, name);
    flow::new_job(f, world, name, count);
    let cap = cap(f);
    let kind = id(world.catalog.tasks.len());
    let unnamed = world.catalog.names.intern("");
    world.catalog.tasks.push(TaskFact { name: name.unwrap_or(unnamed), cap });
    world.registry.tasks.push(cap);
    if let Some(gap) = &gap {
        flow::all_come(f, "every", gap, first, count);
    }
    let drafts = f.each("step", |f| step(f, world, kind, count));
    if drafts.is_empty() && !f.lists("step") {
        f.missing("step", "at least one `[[job.step]]`");
    }
    let steps = steps(f, world, drafts.into_iter().flatten().collect());
    let before = flow::planned(world);
    world.jobs.push(Job { kind, first, gap: gap.unwrap_or(Latency::Never), count, steps });
    flow::all_fit(f, world, before);
}

/// A step whose predecessors are names yet.
struct Draft {
    name: Name,
    after: Vec<Word>,
    step: Step,
}

/// One step: the same request several times at once.
fn step(f: &mut Form<'_, '_>, world: &mut World, job: u16, count: u32) -> Option<Draft> {
    let name = source_name(f, "name", "Its name; its requests are `job/1/name`, `job/2/name`, ….", world);
    let times = f.value(about("times", "How many of its request there are at once."), &COUNT_FROM_ONE, "1");
    let after = f.texts(about("after", "Steps that must be answered before it begins."));
    let think = f.value(about("think", "From their answers to its beginning."), &DURATION, "0 ms");
    let payer = Payer { task: None, tenant: tenant(f, world) }; // the task is the job that it is done for
    let template = template(f, world, payer);
    let source = Source {
        template,
        first: Timestamp::ZERO,
        pace: Pace::Open(Latency::Never),
        count: 0,
        growth: Usage::default(),
    };
    let content = content(f, world);
    let name = name?;
    flow::countable(f, world, Some(name));
    let kind = world.catalog.names.text(world.catalog.tasks[usize::from(job)].name);
    flow::new_step(f, world, kind, count, name, times);
    let at = id(world.sources.len());
    declare(world, Some(name), SourceKind::Step { job, times }, source, content);
    let step = Step { source: at, times, after: Vec::new(), think };
    Some(Draft { name, after: after.unwrap_or_default(), step })
}

/// The steps with their predecessors by position. A step that waits for itself would never begin.
fn steps(f: &mut Form<'_, '_>, world: &World, drafts: Vec<Draft>) -> Vec<Step> {
    let names: Vec<Name> = drafts.iter().map(|draft| draft.name).collect();
    let mut steps = Vec::new();
    let mut waits = Vec::new();
    for draft in drafts {
        let mut step = draft.step;
        for word in &draft.after {
            if let Some(at) = position(f, "step", word, &names, &world.catalog.names) {
                step.after.push(id(at));
                waits.push((steps.len(), at, word.clone()));
            }
        }
        steps.push(step);
    }
    for (waiting, before, word) in waits {
        if reaches(&steps, before, waiting) {
            let text =
                format!("`{}` waits for `{}`, which waits for it", name(world, &names, waiting), word.text);
            f.problem(&word.span, text, Some("steps cannot wait for each other in a circle".to_owned()));
        }
    }
    steps
}

fn name<'w>(world: &'w World, names: &[Name], at: usize) -> &'w str {
    world.catalog.names.text(names[at])
}

/// Whether the step at `from` is, or waits for, the step at `to`.
fn reaches(steps: &[Step], from: usize, to: usize) -> bool {
    let mut seen = vec![false; steps.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(steps[at].after.iter().map(|before| usize::from(*before)));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::scenario::load;

    const HEAD: &str = "format = 1\ntitle = 'A job'\n[[route]]\nname = 'a'\n\
                        price = { input = '$1.00/Mtok', output = '$8.00/Mtok' }\n[[job]]\nname = 'turn'\n";

    fn step(name: &str, after: &str) -> String {
        format!(
            "[[job.step]]\nname = '{name}'\nafter = [{after}]\ntokens = {{ input = 1, output_max = 1 }}\n"
        )
    }

    fn problems(text: &str) -> Vec<String> {
        let problems = load("job.toml", &format!("{HEAD}{text}")).expect_err("there is something wrong");
        problems.list().iter().map(|problem| problem.text.clone()).collect()
    }

    #[test]
    fn steps_wait_for_each_other_by_name_in_any_order() {
        let text = format!("{HEAD}{}{}", step("answer", "'plan'"), step("plan", ""));
        let scenario = load("job.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        let jobs = &scenario.variants[0].setup().jobs;
        assert_eq!(
            (jobs[0].steps[0].after.as_slice(), jobs[0].steps[1].after.as_slice()),
            (&[1][..], &[][..])
        );
    }

    #[test]
    fn a_circle_of_steps_is_told_at_each_of_its_links() {
        let text = format!("{}{}{}", step("a", "'c'"), step("b", "'a'"), step("c", "'b'"));
        assert_eq!(
            problems(&text),
            [
                "`a` waits for `c`, which waits for it",
                "`b` waits for `a`, which waits for it",
                "`c` waits for `b`, which waits for it"
            ]
        );
        assert_eq!(problems(&step("a", "'a'")), ["`a` waits for `a`, which waits for it"]);
    }

    #[test]
    fn a_job_has_a_step_and_a_pace() {
        assert_eq!(problems("count = 2\n"), ["`job` has no `every`", "`job` has no `step`"]);
        assert_eq!(problems(&step("a", "'b'")), ["there is no step `b`"]);
    }
}
