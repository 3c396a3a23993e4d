//! The audit record of one request: why this route, what it cost, what stopped it. A view of the gateway's own
//! account and the world's facts, complete for an investigation; there is no prompt, no key and no header in it,
//! and no credential either.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::summary::pretty;
use crate::sim::{Catalog, Entry, Observer};
use crate::trace::{About, CANDIDATE, Field, Kind, Reading, Roll, Unit, Value, Values, sentence};
use crate::units::Money;

/// The record.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Record {
    /// The run: scenario, variant and seed.
    pub trace: String,
    /// The request as it arrived: its name, its tenant's pseudonym, its data class, its demands, its deadline and
    /// caps, the most tokens it may use.
    pub request: Selected,
    /// The versions of policy, price table and capability registry.
    pub versions: Selected,
    /// Every time its routes were weighed.
    pub choices: Vec<Choice>,
    /// Every call.
    pub attempts: Vec<Attempt>,
    /// Every call that a budget refused.
    pub denials: Vec<Moment>,
    /// Fallbacks, waits, breakers, health, benches, alerts, commits and cancels.
    pub events: Vec<Happening>,
    /// The sum of what was set aside for its calls.
    pub estimated_usd: String,
    /// What its calls cost in all; absent while a bill is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_usd: Option<String>,
    /// How it ended for the caller; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Selected>,
}

/// Routes, weighed once.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Choice {
    /// When.
    pub t_ns: u64,
    /// The route that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Every route with its verdict and its reasons.
    pub candidates: Vec<Selected>,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Attempt {
    /// When it began.
    pub t_ns: u64,
    /// How long was waited before it.
    pub backoff_ns: u64,
    /// Call, route, role and number; then the provider and the model.
    pub target: Selected,
    /// What was set aside for it.
    pub estimate: Selected,
    /// How it ended, how long it took, the tokens of each kind, the bill.
    pub result: Selected,
    /// What its failure was taken for, and by which rule.
    #[serde(skip_serializing_if = "Selected::is_empty")]
    pub diagnosis: Selected,
    /// What it cost in the end.
    pub settlement: Selected,
}

/// Some fields at some time.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Moment {
    /// When.
    pub t_ns: u64,
    /// What.
    pub what: Selected,
}

/// Something that happened to the request, or to what it depends on.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Happening {
    /// When.
    pub t_ns: u64,
    /// The event.
    pub event: &'static str,
    /// In words.
    pub says: String,
}

/// Fields under their names in `events.jsonl`; several words are a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selected(pub Vec<(Field, Value)>);

/// Puts a record together from readings in their order.
#[derive(Clone, Debug)]
pub struct Audit {
    name: String,
    record: Record,
    routes: Vec<Values>,
    /// What was told of the next call before it is made.
    backoff: u64,
    estimate: Selected,
    estimated: u64,
    /// Whether the request arrived, and is still open.
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Unknown,
    Open,
    Closed,
}

/// Audits one request of a run while it happens.
#[derive(Clone, Debug)]
pub struct Auditor<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    about: About,
    audit: Audit,
}

impl<'a> Auditor<'a> {
    /// An auditor of the request `name` of the run `trace` with this catalogue.
    pub fn new(catalog: &'a Catalog, trace: &str, name: &str) -> Auditor<'a> {
        let about = About::Request(name.to_owned());
        Auditor { catalog, roll: Roll::default(), about, audit: Audit::new(trace, name) }
    }

    /// The record; `None` if no such request arrived.
    pub fn finish(self) -> Option<Record> {
        self.audit.finish()
    }
}

impl Observer for Auditor<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        if self.about.may_concern(entry, &self.roll, self.catalog) {
            self.audit.take(&Reading::of(entry, &self.roll, self.catalog));
        }
    }
}

impl Audit {
    /// Nothing yet about the request `name` of the run `trace`.
    pub fn new(trace: &str, name: &str) -> Audit {
        let record = Record {
            trace: trace.to_owned(),
            request: Selected::default(),
            versions: Selected::default(),
            choices: Vec::new(),
            attempts: Vec::new(),
            denials: Vec::new(),
            events: Vec::new(),
            estimated_usd: String::new(),
            settled_usd: None,
            outcome: None,
        };
        Audit {
            name: name.to_owned(),
            record,
            routes: Vec::new(),
            backoff: 0,
            estimate: Selected::default(),
            estimated: 0,
            phase: Phase::Unknown,
        }
    }

    /// Takes in one entry.
    pub fn take(&mut self, reading: &Reading) {
        match reading.values.text(Field::Request) {
            Some(name) if name == self.name => self.own(reading),
            Some(_) => {}
            None => self.other(reading),
        }
    }

    /// The record; `None` if no such request arrived.
    pub fn finish(mut self) -> Option<Record> {
        self.record.estimated_usd = Money::from_picos(self.estimated).to_string();
        (self.phase != Phase::Unknown).then_some(self.record)
    }

    /// An entry of no request: what was declared, and what moved while the request was open.
    fn other(&mut self, reading: &Reading) {
        if reading.kind == Kind::DeclaredLimits {
            self.record.versions = Selected::of(&reading.values, VERSIONS);
        } else if reading.kind == Kind::DeclaredRoute {
            self.routes.push(reading.values.clone());
        } else if self.phase == Phase::Open && MOVES.contains(&reading.kind) {
            self.happened(reading);
        }
    }

    fn own(&mut self, reading: &Reading) {
        let values = &reading.values;
        match reading.kind {
            Kind::Arrived => {
                self.record.request = Selected::of(values, Kind::Arrived.fields());
                self.phase = Phase::Open;
            }
            Kind::Considered => self.weighed(reading),
            Kind::Reserved => {
                self.estimate = Selected::of(values, ESTIMATE);
                let amount = values.number(Field::Reserved).unwrap_or_default();
                self.estimated = self.estimated.saturating_add(amount);
            }
            Kind::Denied => {
                let what = Selected::of(values, &Kind::Denied.fields()[1..]);
                self.record.denials.push(Moment { t_ns: reading.at.nanos(), what });
            }
            Kind::Called => self.called(reading),
            Kind::CallEnded => self.attempt(values, |attempt| attempt.result = Selected::of(values, RESULT)),
            Kind::Classified => {
                self.attempt(values, |attempt| attempt.diagnosis = Selected::of(values, DIAGNOSIS));
            }
            Kind::Settled => {
                self.attempt(values, |attempt| attempt.settlement = Selected::of(values, SETTLEMENT));
            }
            Kind::RetryScheduled => {
                self.backoff = values.number(Field::Delay).unwrap_or_default();
                self.happened(reading);
            }
            Kind::Replied => {
                self.record.outcome = Some(Selected::of(values, &Kind::Replied.fields()[1..]));
            }
            Kind::Closed => {
                let spent = values.number(Field::Spent).unwrap_or_default();
                self.record.settled_usd = Some(Money::from_picos(spent).to_string());
                self.phase = Phase::Closed;
            }
            Kind::Abandoned
            | Kind::CallVisible
            | Kind::CallLost
            | Kind::Committed
            | Kind::Cancelled
            | Kind::WaitRefused
            | Kind::HedgeSkipped
            | Kind::Queued
            | Kind::FuseBlew
            | Kind::TimedOut => self.happened(reading),
            Kind::Woke | Kind::CallBegun | Kind::Signalled => {}
            Kind::DeclaredLayer
            | Kind::DeclaredLimits
            | Kind::DeclaredBreaker
            | Kind::DeclaredTenant
            | Kind::DeclaredTask
            | Kind::DeclaredQuota
            | Kind::DeclaredRoute
            | Kind::DeclaredApproval
            | Kind::TaskBegan
            | Kind::TaskEnded
            | Kind::Operated
            | Kind::RunEnded
            | Kind::Status
            | Kind::BreakerMoved
            | Kind::HealthMoved
            | Kind::Benched
            | Kind::Freed
            | Kind::Alerted => {}
        }
    }

    fn weighed(&mut self, reading: &Reading) {
        let candidates = reading.candidates.iter().map(|values| Selected::of(values, CANDIDATE)).collect();
        let chosen = reading.values.text(Field::Chosen).map(str::to_owned);
        self.record.choices.push(Choice { t_ns: reading.at.nanos(), chosen, candidates });
    }

    fn called(&mut self, reading: &Reading) {
        let mut target = Selected::of(&reading.values, TARGET);
        let route = reading.values.text(Field::Route);
        if let Some(declared) = self.routes.iter().find(|values| values.text(Field::Route) == route) {
            target.0.extend(Selected::of(declared, &[Field::Provider, Field::Model, Field::Region]).0);
        }
        self.record.attempts.push(Attempt {
            t_ns: reading.at.nanos(),
            backoff_ns: std::mem::take(&mut self.backoff),
            target,
            estimate: std::mem::take(&mut self.estimate),
            result: Selected::default(),
            diagnosis: Selected::default(),
            settlement: Selected::default(),
        });
        if reading.values.text(Field::Role) != Some("primary") {
            self.happened(reading);
        }
    }

    fn attempt(&mut self, values: &Values, change: impl FnOnce(&mut Attempt)) {
        let of_call = |attempt: &&mut Attempt| attempt.target.get(Field::Call) == values.get(Field::Call);
        if let Some(attempt) = self.record.attempts.iter_mut().find(of_call) {
            change(attempt);
        }
    }

    fn happened(&mut self, reading: &Reading) {
        let (t_ns, event, says) = (reading.at.nanos(), reading.kind.label(), sentence(reading));
        self.record.events.push(Happening { t_ns, event, says });
    }
}

const VERSIONS: &[Field] = &[Field::PolicyVersion, Field::PricesVersion, Field::RegistryVersion];

const TARGET: &[Field] = &[Field::Call, Field::Route, Field::Attempt, Field::Role, Field::Generation];

const ESTIMATE: &[Field] = &[Field::Reserved, Field::ReservedTokens, Field::Window];

const RESULT: &[Field] = &[
    Field::Elapsed,
    Field::Result,
    Field::HttpStatus,
    Field::Code,
    Field::InputTokens,
    Field::CacheReadTokens,
    Field::CacheWriteTokens,
    Field::ImageTokens,
    Field::AudioTokens,
    Field::OutputTokens,
    Field::Bill,
];

const DIAGNOSIS: &[Field] =
    &[Field::Class, Field::Code, Field::Rule, Field::Scope, Field::Resend, Field::Hint, Field::HintAt];

const SETTLEMENT: &[Field] =
    &[Field::Basis, Field::Billed, Field::Released, Field::Overrun, Field::BilledTokens, Field::Window];

/// What concerns every request that is open.
const MOVES: &[Kind] =
    &[Kind::Operated, Kind::BreakerMoved, Kind::HealthMoved, Kind::Benched, Kind::Freed, Kind::Alerted];

impl Record {
    /// The bytes of the record as a file.
    pub fn to_json(&self) -> Vec<u8> {
        pretty(self)
    }
}

impl Selected {
    fn of(values: &Values, fields: &[Field]) -> Selected {
        let pair = |field: &Field| Some((*field, values.get(*field)?.clone()));
        Selected(fields.iter().filter_map(pair).collect())
    }

    /// The value of `field`, if it is there.
    pub fn get(&self, field: Field) -> Option<&Value> {
        self.0.iter().find(|pair| pair.0 == field).map(|pair| &pair.1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Selected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (field, value) in &self.0 {
            let key = field.label();
            match (value, field.unit()) {
                (Value::Text(text), Unit::Words) => {
                    map.serialize_entry(key, &text.split('|').collect::<Vec<_>>())?;
                }
                (Value::Number(n), Unit::Money) => {
                    map.serialize_entry(key, &Money::from_picos(*n).to_string())?;
                }
                (Value::Text(text), _) => map.serialize_entry(key, text)?,
                (Value::Number(n), _) => map.serialize_entry(key, n)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::samples;

    fn record(name: &str, play: impl Fn(&mut Auditor<'_>)) -> Option<Record> {
        let catalog = samples::catalog();
        let mut auditor = Auditor::new(&catalog, "bounded-429/base/7", name);
        play(&mut auditor);
        auditor.finish()
    }

    fn json(record: &Record) -> serde_json::Value {
        serde_json::from_slice(&record.to_json()).unwrap()
    }

    #[test]
    fn a_record_answers_every_question_of_an_investigation() {
        let json = json(&record("req-demo-002", |auditor| samples::bounded(auditor)).unwrap());
        for (path, value) in [
            ("/trace", "bounded-429/base/7".into()),
            ("/request/request", "req-demo-002".into()),
            ("/request/tenant", "tenant-7f3a".into()),
            ("/request/data_class", "restricted".into()),
            ("/request/capabilities", serde_json::json!(["tools", "json"])),
            ("/request/deadline_ns", 1_200_000_000_u64.into()),
            ("/request/cost_max_usd", "0.030".into()),
            ("/versions/policy_version", "route-policy-v3".into()),
            ("/versions/prices_version", "prices-2026-07".into()),
            ("/versions/registry_version", "registry-12".into()),
            ("/choices/0/chosen", "primary".into()),
            ("/choices/0/candidates/1/verdict", "outranked".into()),
            ("/choices/1/t_ns", 180_000_000_u64.into()),
            ("/attempts/0/target/provider", "north".into()),
            ("/attempts/0/target/model", "aurora-1".into()),
            ("/attempts/0/backoff_ns", 0.into()),
            ("/attempts/0/result/code", "rate_limited".into()),
            ("/attempts/0/result/elapsed_ns", 80_000_000_u64.into()),
            ("/attempts/0/diagnosis/class", "rate_limit".into()),
            ("/attempts/0/diagnosis/rule", "status:429".into()),
            ("/attempts/1/target/role", "fallback".into()),
            ("/attempts/1/backoff_ns", 100_000_000_u64.into()),
            ("/attempts/1/result/input_tokens", 8_000.into()),
            ("/attempts/1/result/output_tokens", 1_000.into()),
            ("/attempts/1/estimate/reserved_usd", "0.016".into()),
            ("/attempts/1/settlement/billed_usd", "0.016".into()),
            ("/events/0/event", "retry_scheduled".into()),
            ("/events/1/event", "called".into()),
            ("/estimated_usd", "0.032".into()),
            ("/settled_usd", "0.016".into()),
            ("/outcome/outcome", "answered".into()),
            ("/outcome/route", "fallback".into()),
            ("/outcome/left_ns", 570_000_000_u64.into()),
        ] {
            assert_eq!(json.pointer(path), Some(&value), "{path} in {json:#}");
        }
    }

    #[test]
    fn reasons_denials_benches_and_cancels_are_in_it_and_no_credential_of_a_call() {
        let record = record("load/17", |auditor| samples::oddities(auditor)).unwrap();
        let json = json(&record);
        let reasons = json.pointer("/choices/0/candidates/0/reasons/2");
        assert_eq!(reasons, Some(&"missing_capability:vision".into()), "{json:#}");
        assert_eq!(json.pointer("/denials/0/what/level"), Some(&"request".into()));
        let result = json.pointer("/attempts/0/result/cache_read_tokens");
        assert_eq!(result, Some(&2.into()), "{json:#}");
        assert!(record.attempts.iter().all(|attempt| attempt.target.get(Field::Credential).is_none()));
        let is_told = |kind: &Kind| record.events.iter().any(|event| event.event == kind.label());
        let untold: Vec<_> = MOVES.iter().filter(|kind| !is_told(kind)).collect();
        assert!(untold.is_empty(), "{untold:?}");
        assert!([Kind::Cancelled, Kind::Committed, Kind::TimedOut, Kind::WaitRefused].iter().all(is_told));
    }

    #[test]
    fn a_request_that_never_arrived_has_no_record() {
        assert_eq!(record("nobody", |auditor| samples::bounded(auditor)), None);
    }
}
