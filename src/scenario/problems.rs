//! What is wrong with a scenario file: every problem at once, in file order, each with its line, a caret and,
//! where there is one, a way out.

use super::secrets;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// A place in the file, in bytes.
pub type Span = Range<usize>;

/// The most problems that are shown: more would hide the first.
const SHOWN_MAX: usize = 50;

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where; `None` if it is the file as a whole.
    pub span: Option<Span>,
    /// What, as a sentence.
    pub text: String,
    /// A way out.
    pub help: Option<String>,
}

/// Everything that is wrong with one file. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problems {
    path: String,
    source: String,
    list: Vec<Problem>,
}

impl Problem {
    /// Something wrong at `span`.
    pub fn at(span: &Span, text: impl Into<String>) -> Problem {
        Problem { span: Some(span.clone()), text: text.into(), help: None }
    }

    /// Something wrong with the file as a whole.
    pub fn of_file(text: impl Into<String>) -> Problem {
        Problem { span: None, text: text.into(), help: None }
    }

    /// The same, with a way out.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Problem {
        self.help = help.into();
        self
    }
}

impl Problems {
    /// The problems of the file called `path`, sorted by place; keys in it are made unreadable. What is told twice (a mistake of the base
    /// shows in every variant) is told once.
    pub fn new(path: &str, source: &str, mut list: Vec<Problem>) -> Problems {
        assert!(!list.is_empty(), "problems are only made of a problem");
        list.sort_by_key(|problem| {
            let span = problem.span.clone().unwrap_or(0..0);
            (span.start, span.end, problem.text.clone())
        });
        list.dedup_by(|b, a| a.span == b.span && a.text == b.text);
        Problems { path: super::texts::visible(path), source: secrets::masked(source), list }
    }

    /// The problems, in file order.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// All of them as text, without colours.
    pub fn plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    /// All of them as text, with colours.
    pub fn coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let mut text = String::new();
        for problem in self.list.iter().take(SHOWN_MAX) {
            let title = Level::ERROR.primary_title(problem.text.as_str());
            let mut group = match &problem.span {
                Some(span) => title.element(
                    Snippet::source(self.source.as_str())
                        .path(self.path.as_str())
                        .annotation(AnnotationKind::Primary.span(self.visible(span))),
                ),
                None => Group::with_title(title),
            };
            if problem.span.is_none() {
                group = group.element(Level::NOTE.message(self.path.as_str()));
            }
            if let Some(help) = &problem.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            text.push_str(&renderer.render(&[group]));
            text.push_str("\n\n");
        }
        let count = self.list.len();
        if count > SHOWN_MAX {
            text.push_str(&format!("and {} more\n\n", count - SHOWN_MAX));
        }
        let noun = if count == 1 { "problem" } else { "problems" };
        text.push_str(&format!("{count} {noun} in {}\n", self.path));
        text
    }

    /// A span that can be drawn: its first line, inside the text, between characters.
    fn visible(&self, span: &Span) -> Span {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let line = self.source[start..end].find('\n').map_or(end, |at| start + at);
        start..line
    }

    fn boundary(&self, at: usize) -> usize {
        let at = at.min(self.source.len());
        (0..=at).rev().find(|at| self.source.is_char_boundary(*at)).unwrap_or(0)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain())
    }
}

impl std::error::Error for Problems {}

/// "did you mean" for a word that is none of `known`, if one of them is near.
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    let best = known.into_iter().map(|k| (strsim::damerau_levenshtein(word, k), k)).min()?;
    let near = best.0 <= (word.chars().count() / 3).max(1) || best.1.starts_with(word) && word.len() > 2;
    near.then(|| format!("did you mean `{}`?", best.1))
}

/// The help for a word that is none of `known`: the nearest one, or all of them if they are few.
pub(super) fn instead_of<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Option<String> {
    did_you_mean(word, known.clone()).or_else(|| {
        let known: Vec<&str> = known.into_iter().collect();
        match known.len() {
            0 => None,
            1..=48 => Some(format!("known: {}", known.join(", "))),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_problems_are_shown_and_the_rest_is_counted() {
        let list = |count: usize| (0..count).map(|n| Problem::of_file(format!("problem {n:03}"))).collect();
        let many = Problems::new("many.toml", "", list(120));
        assert!(many.plain().contains("problem 049") && !many.plain().contains("problem 050"));
        assert!(many.plain().ends_with("and 70 more\n\n120 problems in many.toml\n"), "{}", many.plain());
        assert_eq!(many.list().len(), 120);
        assert!(!Problems::new("few.toml", "", list(50)).plain().contains("more"));
    }
}
