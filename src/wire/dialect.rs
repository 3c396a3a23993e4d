//! How providers say what they mean: codes, phrases, statuses, scopes and clocks, read from small data files, one
//! a provider, compiled in. A user's own file is asked first. The dialect is part of a policy, so a wrong
//! classifier is a value of it ([`Dialect::status_only`], [`Dialect::adr_113`]).
//!
//! A line is `WORD ARGUMENTS`; `#` begins a comment:
//!
//! ```text
//! provider groq                     # whose file this is; `any` is for all
//! version  2                        # of this file
//! source   console.groq.com/docs/errors
//! alias    groqcloud                # another name
//! family   google                   # asked after this file and before the shared words
//! scope    rate model               # the smallest thing to bench for a limit here
//! clock    day utc-day              # when a window ends
//! status   capacity 498             # a status with a meaning of its own here
//! code     funds billing_hard_limit # a code means the same wherever it is seen,
//! here code rate 1302               # … or only here
//! phrase   funds out of .. credits  # words in a message, `..` for anything between
//! ```

use super::files::FILES;
use super::habits::{Limit, Provider, Trait, sign};
use super::names::{Spans, Strength};
use super::phrases::Phrases;
use super::retry_after::Reading;
use super::sign::Sign;
use super::{clock::Clock, words};
use crate::policy::taxonomy::Scope;

/// How what comes over the wire is read.
#[derive(Clone, Debug)]
pub struct Dialect {
    pub(super) method: Method,
    pub(super) tables: Tables,
}

/// How a verdict is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// By all the rules.
    Rules,
    /// Wrong on purpose: by the status alone.
    StatusOnly,
    /// Wrong on purpose: as the taxonomy of ADR-113 was shipped.
    Adr113,
}

/// Everything the files say.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) reading: Reading,
    providers: Vec<Provider>,
    phrases: Phrases,
    meanings: Vec<Meaning>,
    shared: Vec<(String, Sign)>,
}

#[derive(Clone, Copy, Debug)]
struct Meaning {
    sign: Sign,
    /// The provider for which alone the phrase means this.
    here: Option<usize>,
    /// The most that the phrase counts for: one word alone is loose.
    most: Strength,
}

/// Why a dialect file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DialectError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The provider of an input, resolved: its own file and that of its family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speaker {
    own: Option<usize>,
    family: Option<usize>,
    /// The file of client libraries, where one of them speaks.
    client: Option<usize>,
    /// The user's words for all providers, or none.
    any: usize,
}

impl Dialect {
    /// The names of [`Dialect::named`].
    pub const NAMES: [&'static str; 5] = ["standard", "as_sent", "lenient_sdk", "status_only", "adr_113"];

    /// The dialect of a name, as scenarios and the command line have it.
    pub fn named(name: &str) -> Option<Dialect> {
        match name {
            "standard" => Some(Dialect::standard()),
            "as_sent" => Some(Dialect::standard().as_sent()),
            "lenient_sdk" => Some(Dialect::standard().lenient_sdk()),
            "status_only" => Some(Dialect::status_only()),
            "adr_113" => Some(Dialect::adr_113()),
            _ => None,
        }
    }

    /// The dialects of all known providers. Waits are read strictly by the standard.
    pub fn standard() -> Dialect {
        let mut tables = Tables::default();
        for (name, text) in FILES {
            if let Err(error) = tables.read(text, Rank::Standard) {
                unreachable!("the dialect file {name} is compiled in and tested: {error}");
            }
        }
        Dialect { method: Method::Rules, tables }
    }

    /// The standard with a user's own file before it.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn with_file(text: &str) -> Result<Dialect, DialectError> {
        let mut dialect = Dialect::standard();
        dialect.tables.read(text, Rank::User)?;
        Ok(dialect)
    }

    /// The provider at `host`, by the end of its name (`z.ai`) or else the last part of it (`azure`) that is known.
    pub fn provider_of(&self, host: &str) -> Option<String> {
        let known = |part: &&str| self.tables.providers.iter().skip(1).any(|one| one.is_called(part));
        let ends = std::iter::successors(Some(host), |end| end.split_once('.').map(|(_, rest)| rest));
        ends.into_iter().find(known).or_else(|| host.rsplit('.').find(known)).map(str::to_owned)
    }

    /// The same, reading waits as forgivingly as the SDKs do.
    #[must_use]
    pub fn lenient_sdk(mut self) -> Dialect {
        self.tables.reading = Reading::LenientSdk;
        self
    }

    /// The same, reading waits as some providers send them: `Retry-After` with a fraction, a unit or an epoch.
    #[must_use]
    pub fn as_sent(mut self) -> Dialect {
        self.tables.reading = Reading::AsSent;
        self
    }

    /// Wrong on purpose: the status decides, nothing else is read.
    pub fn status_only() -> Dialect {
        Dialect { method: Method::StatusOnly, tables: Tables::default() }
    }

    /// Wrong on purpose: the taxonomy of ADR-113 as it was shipped, which finds words anywhere in the text, takes
    /// a rate limit for ill health and reads no wait.
    pub fn adr_113() -> Dialect {
        Dialect { method: Method::Adr113, tables: Tables::default() }
    }
}

/// Whose words win.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Standard,
    User,
}

impl Tables {
    /// The files that speak for `provider`.
    pub(super) fn speaker(&self, provider: &str) -> Speaker {
        let named = |name: &str| self.providers.iter().position(|one| one.is_called(name));
        let own = named(provider).filter(|own| *own != 0);
        let family = own.and_then(|own| self.providers[own].family.as_deref()).and_then(named);
        Speaker { own, family, client: None, any: 0 }
    }

    /// The same, as a client library tells it.
    pub(super) fn as_told(&self, speaker: Speaker) -> Speaker {
        let client = self.providers.iter().position(|one| one.is_called("client-libraries"));
        Speaker { client, ..speaker }
    }

    fn read(&mut self, text: &str, rank: Rank) -> Result<(), DialectError> {
        let mut provider = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or(line).trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.line(line, &mut provider, rank)
                .map_err(|problem| DialectError { line: at + 1, problem: problem.to_owned() })?;
        }
        self.shared.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(())
    }

    fn line(&mut self, line: &str, provider: &mut Option<usize>, rank: Rank) -> Result<(), &'static str> {
        let (word, rest) = split(line);
        if word == "provider" {
            *provider = Some(self.provider(rest));
            return Ok(());
        }
        let Some(at) = *provider else { return Err("the first line must name the provider") };
        let (local, word, rest) = match word {
            "here" => {
                let (word, rest) = split(rest);
                (true, word, rest)
            }
            _ => (rank == Rank::User && at != 0, word, rest),
        };
        let (first, second) = split(rest);
        match word {
            "version" | "source" => Ok(()),
            "alias" => {
                self.providers[at].names.push(rest.to_owned());
                Ok(())
            }
            "family" => {
                self.providers[at].family = Some(rest.to_owned());
                Ok(())
            }
            "scope" => self.providers[at].scope(first, second),
            "clock" => self.providers[at].clock(first, second),
            "status" => self.providers[at].status(first, second),
            "trait" => self.providers[at].habit(rest),
            "code" => self.code(sign(first)?, second, local.then_some(at), rank),
            "phrase" => self.phrase(sign(first)?, second, local.then_some(at)),
            _ => Err("this word is not known here"),
        }
    }

    /// The provider called `name`, made if it is new. The first of all is `any`.
    fn provider(&mut self, name: &str) -> usize {
        if let Some(at) = self.providers.iter().position(|one| one.is_called(name)) {
            return at;
        }
        self.providers.push(Provider { names: vec![name.to_owned()], ..Provider::default() });
        self.providers.len() - 1
    }

    fn code(&mut self, sign: Sign, code: &str, here: Option<usize>, rank: Rank) -> Result<(), &'static str> {
        let words = words::of(code);
        if words.is_empty() {
            return Err("a code is missing");
        }
        let list = here.map_or(&mut self.shared, |at| &mut self.providers[at].codes);
        match list.iter_mut().find(|(known, _)| *known == words) {
            Some(known) if rank == Rank::User => known.1 = sign,
            Some(known) if known.1 != sign => return Err("this code already means something else"),
            Some(_) => {}
            None => list.push((words, sign)),
        }
        Ok(())
    }

    fn phrase(&mut self, sign: Sign, phrase: &str, here: Option<usize>) -> Result<(), &'static str> {
        let fragments: Vec<String> = phrase.split("..").map(words::of).collect();
        if fragments.iter().any(String::is_empty) {
            return Err("a phrase has no words");
        }
        let number = u16::try_from(self.meanings.len()).map_err(|_| "there are too many phrases")?;
        self.phrases.add(&fragments.join(" .. "), number);
        let one_word = fragments.len() == 1 && fragments[0].bytes().all(|byte| byte.is_ascii_alphanumeric());
        let most = if one_word { Strength::Loose } else { Strength::Plain };
        self.meanings.push(Meaning { sign, here, most });
        Ok(())
    }

    /// What the code `words` means when `speaker` says it.
    pub(super) fn code_sign(&self, speaker: Speaker, words: &str) -> Option<Sign> {
        let in_file = |at: usize| self.providers[at].codes.iter().find(|(code, _)| code == words);
        let shared = || self.shared.binary_search_by(|(code, _)| code.as_str().cmp(words)).ok();
        let own = speaker.files().find_map(in_file);
        own.map(|(_, sign)| *sign).or_else(|| shared().map(|at| self.shared[at].1))
    }

    /// Calls `found` with the sign of every phrase in `words` that `speaker` may mean, and how much it counts for.
    pub(super) fn phrase_signs(
        &self,
        speaker: Speaker,
        words: &str,
        spans: &Spans,
        mut found: impl FnMut(Sign, Strength),
    ) {
        self.phrases.find(words, spans, |number, strength| {
            let meaning = self.meanings[usize::from(number)];
            if meaning.here.is_none_or(|here| speaker.files().any(|file| file == here)) {
                found(meaning.sign, strength.min(meaning.most));
            }
        });
    }

    /// What `status` means when `speaker` says it, if it has a meaning of its own there.
    pub(super) fn status_sign(&self, speaker: Speaker, status: u16) -> Option<Sign> {
        self.own(speaker, |file| file.statuses.iter().find(|(one, _)| *one == status).map(|(_, sign)| *sign))
    }

    /// The smallest thing to bench for a `limit` of `speaker`.
    pub(super) fn scope(&self, speaker: Speaker, limit: Limit) -> Option<Scope> {
        self.own(speaker, |file| file.scopes.iter().find(|(one, _)| *one == limit).map(|(_, scope)| *scope))
    }

    /// When a window of `speaker` ends.
    pub(super) fn clock(&self, speaker: Speaker, window: Sign) -> Option<Clock> {
        self.own(speaker, |file| file.clocks.iter().find(|(one, _)| *one == window).map(|(_, clock)| *clock))
    }

    /// Whether `speaker` has a habit.
    pub(super) fn has(&self, speaker: Speaker, habit: Trait) -> bool {
        speaker.files().any(|file| self.providers[file].traits.contains(&habit))
    }

    fn own<T>(&self, speaker: Speaker, read: impl Fn(&Provider) -> Option<T>) -> Option<T> {
        speaker.files().find_map(|file| read(&self.providers[file]))
    }
}

impl Speaker {
    /// The files to ask, in order.
    fn files(self) -> impl Iterator<Item = usize> {
        [self.own, self.family, self.client, Some(self.any)].into_iter().flatten()
    }
}

fn split(line: &str) -> (&str, &str) {
    line.split_once([' ', '\t']).map_or((line, ""), |(word, rest)| (word, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_names_its_provider_its_version_and_its_source() {
        let mut tables = Tables::default();
        for (name, text) in FILES {
            tables.read(text, Rank::Standard).unwrap_or_else(|error| panic!("{name}: {error}"));
            for word in ["provider", "version", "source"] {
                assert!(text.lines().any(|line| line.starts_with(word)), "{name} has no {word}");
            }
            assert!(
                tables.providers.iter().any(|one| one.is_called(name)) || name == "local-servers",
                "{name}"
            );
        }
        assert!(tables.providers[0].is_called("any"));
    }

    #[test]
    fn a_code_means_its_own_providers_thing_first() {
        let tables = Dialect::standard().tables;
        let sign = |provider, code| tables.code_sign(tables.speaker(provider), code);
        assert_eq!(sign("openai", "insufficient quota"), Some(Sign::Funds));
        assert_eq!(sign("dashscope", "insufficient quota"), Some(Sign::Rate));
        assert_eq!(sign("nobody", "insufficient quota"), Some(Sign::Funds));
        assert_eq!(sign("openai", "1302"), None);
    }

    #[test]
    fn a_users_file_is_asked_before_ours() {
        let own = "provider openai\ncode rate insufficient_quota\nphrase policy the weather is bad\n";
        let tables = Dialect::with_file(own).unwrap().tables;
        let sign = |provider| tables.code_sign(tables.speaker(provider), "insufficient quota");
        assert_eq!(sign("openai"), Some(Sign::Rate));
        assert_eq!(sign("groq"), Some(Sign::Funds));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let check = |text, line, problem: &str| {
            let error = Dialect::with_file(text).unwrap_err();
            assert_eq!((error.line, error.problem.as_str()), (line, problem));
        };
        check("code funds x", 1, "the first line must name the provider");
        check("provider x\n\ncode money x", 3, "no such sign");
        check("provider x\nstatus funds many", 2, "a status is a number");
    }
}
