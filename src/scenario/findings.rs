//! What the forms of one file find: its problems, or, without a file, the knobs that it can have.

use super::form::Form;
use super::problems::{Problem, Span};
use super::tree::Table;

/// A value that a knob should not have: the value, the incident that taught it, and the law it breaks (empty
/// if it breaks none).
pub type Wrong = (&'static str, &'static str, &'static str);

/// A knob, as the documentation lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knob {
    /// Where it is: `policy.retry.attempts_max`.
    pub path: String,
    /// What it wants.
    pub wants: String,
    /// How that is written.
    pub shape: Shape,
    /// What it is if it is not stated.
    pub unstated: Unstated,
    /// What it does.
    pub doc: &'static str,
    /// The values it should not have.
    pub wrong: Vec<Wrong>,
}

/// How a value is written, as far as a schema can say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A text or a whole number.
    TextOrWhole,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Words(Vec<&'static str>),
    /// A list of these words.
    ListOfWords(Vec<&'static str>),
    /// A list of texts.
    Texts,
    /// A time that may be drawn: a text, or the table [`super::DRAWN_TIME`].
    Time,
    /// A table, whose keys are knobs too.
    Table,
    /// The table `[policy]`, in another place.
    Policy,
    /// An event and what its fields must be.
    Pattern,
    /// A list of patterns.
    Patterns,
    /// Whatever its form makes of it.
    Open,
}

/// What a knob is if it is not stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unstated {
    /// This value.
    Default(&'static str),
    /// Absent, which means something by itself.
    Absent,
    /// What the same key is in `[policy]`.
    Inherited,
    /// A problem: its table is not complete without it.
    Problem,
}

/// What the forms of one file found.
#[derive(Debug)]
pub(super) struct Findings {
    /// Everything that is wrong.
    pub(super) problems: Vec<Problem>,
    purpose: Purpose,
}

#[derive(Debug)]
enum Purpose {
    Read,
    Describe(Vec<Knob>),
}

/// What a key says about itself.
#[derive(Clone, Copy)]
pub(super) struct About {
    /// The key.
    pub(super) key: &'static str,
    /// What it does, as a sentence.
    pub(super) doc: &'static str,
    /// The values it should not have.
    pub(super) wrong: &'static [Wrong],
}

/// A key and its doc.
pub(super) const fn about(key: &'static str, doc: &'static str) -> About {
    About { key, doc, wrong: &[] }
}

/// A key, its doc, and the values it should not have.
pub(super) const fn knob(key: &'static str, doc: &'static str, wrong: &'static [Wrong]) -> About {
    About { key, doc, wrong }
}

impl Findings {
    /// Nothing found yet, in a file that is read.
    pub(super) fn reading() -> Findings {
        Findings { problems: Vec::new(), purpose: Purpose::Read }
    }

    /// Notes a problem.
    pub(super) fn note(&mut self, span: &Span, text: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem::at(span, text).help(help));
    }

    /// Whether there is no file, only a list of knobs to make.
    pub(super) const fn is_describing(&self) -> bool {
        matches!(self.purpose, Purpose::Describe(_))
    }

    /// Lists a knob, if there is a list to make.
    pub(super) fn list(
        &mut self,
        path: String,
        about: About,
        (wants, shape): (&str, Shape),
        unstated: Unstated,
    ) {
        let Purpose::Describe(knobs) = &mut self.purpose else { return };
        let (wants, wrong) = (wants.to_owned(), about.wrong.to_vec());
        knobs.push(Knob { path, wants, shape, unstated, doc: about.doc, wrong });
    }

    /// The knobs of `form`.
    pub(super) fn describe(form: impl FnOnce(&mut Form<'_, '_>)) -> Vec<Knob> {
        let mut out = Findings { problems: Vec::new(), purpose: Purpose::Describe(Vec::new()) };
        form(&mut Form::new(None, &mut out));
        match out.purpose {
            Purpose::Describe(knobs) => knobs,
            Purpose::Read => Vec::new(),
        }
    }

    /// Reads `table` with `form`; keys that it did not ask for are problems.
    pub(super) fn read<T>(&mut self, table: &Table, form: impl FnOnce(&mut Form<'_, '_>) -> T) -> T {
        let mut f = Form::new(Some(table), self);
        let value = form(&mut f);
        f.finish();
        value
    }
}
