//! The words of an entry, not yet written down: a sink writes, hashes or compares them piece by piece, and
//! nothing is put together for it.

use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::ranking::Order;
use crate::policy::taxonomy::Class;
use crate::sim::{Catalog, RequestName, SourceKind, TaskName};
use crate::units::{CredentialId, Name, Names, Set64};

/// One word, or several.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// A word of the event format. Plain ASCII without quotes.
    Word(&'static str),
    /// A name of the scenario.
    Name(&'a Names, Name),
    /// A request: the name of its source, with a number if the source has many.
    Request(&'a Catalog, RequestName),
    /// A task: its kind, with a number if there are many of its kind.
    Task(&'a Catalog, TaskName),
    /// A call: its request, and its number there.
    Call(&'a Catalog, RequestName, u32),
    /// The members of a set, as positions in a list.
    Members(&'a Names, &'a [Name], Set64),
    /// Credentials with their projects.
    Credentials(&'a Catalog, &'a [CredentialId]),
    /// Classes of failures, by their numbers.
    Classes(Set64),
    /// What routes are preferred by, most important first.
    Preferences(&'a Order),
    /// Reasons, and the capability that is missing.
    Reasons(Reasons, Option<(&'a Names, Name)>),
}

/// A piece of a [`Text`].
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Plain ASCII without quotes.
    Word(&'static str),
    /// A name: any text.
    Name(&'a Names, Name),
    /// A number.
    Number(u32),
    /// The `|` before another word.
    Bar,
    /// The `:` before the detail of a word.
    Colon,
}

impl<'a> Text<'a> {
    /// Hands every piece to `take`, in order.
    #[inline(always)]
    pub fn pieces(self, mut take: impl FnMut(Piece<'a>)) {
        match self {
            Text::Word(word) => take(Piece::Word(word)),
            Text::Name(names, name) => take(Piece::Name(names, name)),
            Text::Request(catalog, name) => request(catalog, name, &mut take),
            Text::Task(catalog, name) => task(catalog, name, &mut take),
            Text::Call(catalog, name, nth) => {
                request(catalog, name, &mut take);
                take(Piece::Word("#"));
                take(Piece::Number(nth));
            }
            Text::Members(names, list, set) => members(names, list, set, &mut take),
            Text::Credentials(catalog, pool) => credentials(catalog, pool, &mut take),
            Text::Classes(set) => classes(set, &mut take),
            Text::Preferences(order) => preferences(order, &mut take),
            Text::Reasons(reasons, missing) => listed(reasons, missing, &mut take),
        }
    }

    /// Whether it reads exactly `text`. Puts nothing together.
    pub fn is(self, text: &str) -> bool {
        let mut rest = Some(text.as_bytes());
        self.pieces(|piece| rest = rest.and_then(|rest| piece.strip_from(rest)));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Whether one of its words is `word`, with or without the detail behind the `:`; or all of it is.
    pub fn has(self, word: &str) -> bool {
        let mut found = self.is(word);
        let mut rest = Some(word.as_bytes());
        let is_read = |rest: Option<&[u8]>| rest.is_some_and(<[u8]>::is_empty);
        self.pieces(|piece| {
            if matches!(piece, Piece::Bar | Piece::Colon) {
                found |= is_read(rest);
            }
            rest = if matches!(piece, Piece::Bar) {
                Some(word.as_bytes())
            } else {
                rest.and_then(|rest| piece.strip_from(rest))
            };
        });
        found || is_read(rest)
    }
}

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut result = Ok(());
        self.pieces(|piece| {
            result = result.and_then(|()| match piece {
                Piece::Word(text) => f.write_str(text),
                Piece::Name(names, name) => f.write_str(names.text(name)),
                Piece::Number(n) => write!(f, "{n}"),
                Piece::Bar => f.write_str("|"),
                Piece::Colon => f.write_str(":"),
            });
        });
        result
    }
}

impl Piece<'_> {
    /// What is left of `text` behind this piece, if it begins with it.
    fn strip_from<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            Piece::Word(piece) => text.strip_prefix(piece.as_bytes()),
            Piece::Name(names, name) => text.strip_prefix(names.text(*name).as_bytes()),
            Piece::Number(n) => strip_number(text, *n),
            Piece::Bar => text.strip_prefix(b"|"),
            Piece::Colon => text.strip_prefix(b":"),
        }
    }
}

/// The digits of `n` are read from the last to the first, so that nothing is put together.
fn strip_number(text: &[u8], n: u32) -> Option<&[u8]> {
    let count = n.checked_ilog10().map_or(1, |tens| tens as usize + 1);
    let (digits, rest) = text.split_at_checked(count)?;
    let mut left = n;
    for digit in digits.iter().rev() {
        if *digit != b'0' + (left % 10) as u8 {
            return None;
        }
        left /= 10;
    }
    Some(rest)
}

#[inline(always)]
fn request<'a>(catalog: &'a Catalog, name: RequestName, take: &mut impl FnMut(Piece<'a>)) {
    let source = &catalog.sources[usize::from(name.source)];
    match source.kind {
        SourceKind::Listed => take(Piece::Name(&catalog.names, source.name)),
        SourceKind::Stream => {
            take(Piece::Name(&catalog.names, source.name));
            numbered(name.ordinal, take);
        }
        SourceKind::Step { job, times } => {
            let times = times.max(1);
            task(catalog, TaskName { kind: job, ordinal: Some(name.ordinal / times) }, take);
            take(Piece::Word("/"));
            take(Piece::Name(&catalog.names, source.name));
            if times > 1 {
                numbered(name.ordinal % times, take);
            }
        }
    }
    if let Some(within) = name.within {
        take(Piece::Word("/"));
        take(Piece::Name(&catalog.names, catalog.stack.names[within.layer.index()]));
        take(Piece::Word("/"));
        take(Piece::Number(within.nth.get()));
    }
}

fn task<'a>(catalog: &'a Catalog, name: TaskName, take: &mut impl FnMut(Piece<'a>)) {
    take(Piece::Name(&catalog.names, catalog.tasks[usize::from(name.kind)].name));
    if let Some(ordinal) = name.ordinal {
        numbered(ordinal, take);
    }
}

/// Numbers count from zero inside and from one for a reader.
fn numbered<'a>(n: u32, take: &mut impl FnMut(Piece<'a>)) {
    take(Piece::Word("/"));
    take(Piece::Number(n.saturating_add(1)));
}

fn members<'a>(names: &'a Names, list: &[Name], set: Set64, take: &mut impl FnMut(Piece<'a>)) {
    let mut first = true;
    for member in set.iter().take_while(|member| usize::from(*member) < list.len()) {
        if !first {
            take(Piece::Bar);
        }
        first = false;
        take(Piece::Name(names, list[usize::from(member)]));
    }
}

fn credentials<'a>(catalog: &'a Catalog, pool: &[CredentialId], take: &mut impl FnMut(Piece<'a>)) {
    for (at, id) in pool.iter().enumerate() {
        if at > 0 {
            take(Piece::Bar);
        }
        let fact = catalog.credentials[id.index()];
        take(Piece::Name(&catalog.names, fact.name));
        take(Piece::Word("@"));
        take(Piece::Name(&catalog.names, catalog.projects[fact.project.index()]));
    }
}

fn preferences<'a>(order: &Order, take: &mut impl FnMut(Piece<'a>)) {
    for (at, key) in order.preferences().enumerate() {
        if at > 0 {
            take(Piece::Bar);
        }
        take(Piece::Word(key.label()));
    }
}

fn classes<'a>(set: Set64, take: &mut impl FnMut(Piece<'a>)) {
    let listed = Class::ALL.into_iter().filter(|class| set.contains(Set64::of(*class as u8)));
    for (at, class) in listed.enumerate() {
        if at > 0 {
            take(Piece::Bar);
        }
        take(Piece::Word(class.label()));
    }
}

fn listed<'a>(reasons: Reasons, missing: Option<(&'a Names, Name)>, take: &mut impl FnMut(Piece<'a>)) {
    for (at, reason) in reasons.iter().enumerate() {
        if at > 0 {
            take(Piece::Bar);
        }
        take(Piece::Word(reason.label()));
        if let (Reason::MissingCapability, Some((names, name))) = (reason, missing) {
            take(Piece::Colon);
            take(Piece::Name(names, name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reason_among_several_is_found_with_and_without_its_detail() {
        let mut names = Names::default();
        let tools = names.intern("tools");
        let told = [Reason::DataResidency, Reason::MissingCapability, Reason::RequestBudget];
        let others = Reason::ALL.into_iter().filter(|reason| !told.contains(reason));
        let reasons = others.fold(Reasons::ALL, Reasons::without);
        let text = Text::Reasons(reasons, Some((&names, tools)));
        let whole = "data_residency|missing_capability:tools|request_budget";
        assert_eq!(text.to_string(), whole);
        let yes =
            ["data_residency", "missing_capability", "missing_capability:tools", "request_budget", whole];
        assert!(yes.iter().all(|word| text.has(word)));
        let no =
            ["", "data", "tools", "missing_capability:", "request_budget|", "data_residency|request_budget"];
        assert!(no.iter().all(|word| !text.has(word)));
        assert!(text.is(whole) && !text.is("data_residency"));
    }
}
