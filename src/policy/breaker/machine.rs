//! The machine itself: its doors, and what each state does with what comes through them.

use super::config::{Boundary, Config, HalfOpenBy, HalfOpenFor, JudgedOn, Late, Neutral, Verdict, WhileOpen};
use super::permit::{Admission, Era, Permit, Role, Sample};
use super::probes::Probes;
use super::state::{Order, State, Status, Transition};
use super::tally::{Mark, Pace};
use super::thresholds::Decision;
use super::window::{Window, WindowModel};
use crate::policy::signal::Signal;
use crate::units::{Duration, Timestamp};

/// One breaker of one route.
#[derive(Clone, Debug)]
pub struct Breaker {
    config: Config,
    state: State,
    generation: u32,
    since: Timestamp,
    /// When the state ends, if nothing is reported; `MAX` if it does not.
    until: Timestamp,
    opens: u32,
    refused: u64,
    /// What CLOSED counts.
    window: Window,
    /// What HALF_OPEN counts.
    trial: Window,
    /// Which of the two is shown, and moved by results that arrive while OPEN.
    shown: Shown,
    probes: Probes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    Window,
    Trial,
}

impl Breaker {
    /// A closed breaker without a past. Allocates what its window needs; nothing else here does, in the
    /// default configuration.
    pub fn new(config: &Config, now: Timestamp) -> Breaker {
        let trial = match config.verdict {
            Verdict::AnyBadReopens { .. } => WindowModel::Lifetime,
            Verdict::Thresholds { results: size } | Verdict::Quorum { good: _, of: size } => {
                WindowModel::Count { size }
            }
        };
        Breaker {
            config: config.clone(),
            state: State::Closed,
            generation: 0,
            since: now,
            until: Timestamp::MAX,
            opens: 0,
            refused: 0,
            window: Window::new(config.window, now),
            trial: Window::new(trial, now),
            shown: Shown::Window,
            probes: Probes::new(config),
        }
    }

    /// Whether it is CLOSED: every call passes, whatever the time.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Whether [`Breaker::admit`] would admit a call now. Changes nothing: a router may ask every candidate.
    pub fn permits(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed | State::Disabled | State::MetricsOnly => true,
            State::ForcedOpen => false,
            State::Open => self.is_cool(now),
            State::HalfOpen => match self.timed_move(now) {
                Some(to) => to == State::Closed,
                None => self.probes.has_free(now),
            },
        }
    }

    /// Asks for leave to make one call. The first call after the cooldown turns OPEN into HALF_OPEN and is
    /// the first probe. A refusal costs nothing.
    #[inline]
    pub fn admit(&mut self, now: Timestamp) -> (Admission, Option<Transition>) {
        if self.is_closed() {
            self.renew(now);
            self.window.begin(now);
            return (self.admitted(now, Role::Regular), None);
        }
        self.ask(now)
    }

    /// Asks one that may be in the way.
    #[inline(never)]
    fn ask(&mut self, now: Timestamp) -> (Admission, Option<Transition>) {
        let mut moved = self.touch(now);
        if moved.is_none() && self.state == State::Open && self.is_cool(now) {
            moved = self.enter(State::HalfOpen, now);
        }
        let admission = match self.state {
            State::Closed | State::MetricsOnly => {
                self.window.begin(now);
                self.admitted(now, Role::Regular)
            }
            State::Disabled => self.admitted(now, Role::Regular),
            State::HalfOpen if self.probes.has_free(now) => {
                self.probes.take(now);
                self.trial.begin(now);
                self.admitted(now, Role::Probe)
            }
            State::HalfOpen | State::Open | State::ForcedOpen => {
                self.refused += 1;
                Admission::Refused { retry_at: self.retry_at(now) }
            }
        };
        (admission, moved)
    }

    /// Hands a permit back with the result of its call.
    #[inline]
    pub fn settle(&mut self, now: Timestamp, permit: Permit, sample: Sample) -> Option<Transition> {
        self.record(now, permit.era, sample)
    }

    /// Hands a permit back whose call was never made, whatever the configuration thinks of neutral results.
    pub fn release(&mut self, now: Timestamp, permit: Permit) -> Option<Transition> {
        let moved = self.touch(now);
        if self.hears(permit.era) {
            let unmade = Mark { signal: Signal::Neutral, pace: Pace::Usual, elapsed: Duration::ZERO };
            return net(moved, self.hear(now, permit.era, unmade));
        }
        moved
    }

    /// Records the result of a call that began in `era`, with or without a permit.
    #[inline]
    pub fn record(&mut self, now: Timestamp, era: Era, sample: Sample) -> Option<Transition> {
        if self.is_closed() {
            self.renew(now);
            return if self.hears(era) { self.hear_closed(now, era, self.mark(sample)) } else { None };
        }
        self.record_ajar(now, era, sample)
    }

    #[inline(never)]
    fn record_ajar(&mut self, now: Timestamp, era: Era, sample: Sample) -> Option<Transition> {
        let moved = self.touch(now);
        if self.hears(era) {
            return net(moved, self.hear(now, era, self.mark(sample)));
        }
        moved
    }

    /// The era of a call that begins now without asking.
    pub fn era(&self, now: Timestamp) -> Era {
        Era { generation: self.generation, began: now }
    }

    /// Lets time alone do what it does in this configuration; in the default one, that is nothing. Every
    /// other door touches first.
    pub fn touch(&mut self, now: Timestamp) -> Option<Transition> {
        match self.state {
            State::Closed | State::MetricsOnly => {
                self.renew(now);
                None
            }
            State::Open | State::HalfOpen => self.timed_move(now).and_then(|to| self.enter(to, now)),
            State::ForcedOpen | State::Disabled => None,
        }
    }

    /// What CLOSED counts begins anew, if its time is over.
    #[inline]
    fn renew(&mut self, now: Timestamp) {
        if self.window.renew(now) {
            self.generation = self.generation.wrapping_add(1);
        }
    }

    /// The next instant at which [`Breaker::touch`] would move the state.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let at = match self.state {
            State::Open => self.cool_at(),
            State::HalfOpen => self.until,
            State::Closed | State::ForcedOpen | State::Disabled | State::MetricsOnly => return None,
        };
        self.timed_move(at).map(|_| at)
    }

    /// An operator's reset: CLOSED without a past, from any state. Every permit given out is stale.
    pub fn reset(&mut self, now: Timestamp) -> Option<Transition> {
        self.enter(State::Closed, now).filter(|moved| moved.from != State::Closed)
    }

    /// An operator's order. Every permit given out is stale afterwards.
    pub fn order(&mut self, now: Timestamp, order: Order) -> Option<Transition> {
        match order {
            Order::Open => self.enter(State::Open, now),
            Order::OpenFor(length) => {
                let opens = self.opens;
                let moved = self.enter(State::Open, now);
                self.opens = opens;
                self.until = now.after(length);
                moved.map(|moved| Transition { until: self.end(), ..moved })
            }
            Order::HalfOpen => self.enter(State::HalfOpen, now),
            Order::ForceOpen => self.enter(State::ForcedOpen, now),
            Order::Disable => self.enter(State::Disabled, now),
            Order::MetricsOnly => self.enter(State::MetricsOnly, now),
        }
    }

    /// Everything there is to see, as of now. Changes nothing.
    pub fn status(&self, now: Timestamp) -> Status {
        Status {
            state: self.state,
            generation: self.generation,
            since: self.since,
            until: self.end(),
            retry_at: self.retry_at(now),
            opens: self.opens,
            failures: self.failures(now),
            refused: self.refused,
            probes_in_flight: self.probes.in_flight(now),
            tally: self.shown().tally(now),
        }
    }

    /// Bad results that count against it: the present run, or all in the window.
    #[inline]
    pub fn failures(&self, now: Timestamp) -> u32 {
        let shown = self.shown();
        let failures = match shown {
            Window::Run(runs) => runs.bad_run,
            Window::Lifetime(_)
            | Window::Count(_)
            | Window::Aligned(_)
            | Window::Anchored(_)
            | Window::Rolling(_)
            | Window::Tumbling(..)
            | Window::Decaying(_) => shown.tally(now).bad,
        };
        u32::try_from(failures).unwrap_or(u32::MAX)
    }

    /// Whether a result of this era changes anything.
    #[inline]
    pub fn hears(&self, era: Era) -> bool {
        match self.config.late {
            Late::Stale => era.generation == self.generation,
            Late::Counts => true,
        }
    }

    fn hear(&mut self, now: Timestamp, era: Era, mark: Mark) -> Option<Transition> {
        match self.state {
            State::Closed => self.hear_closed(now, era, mark),
            State::HalfOpen => self.hear_half_open(now, era, mark),
            State::Open => {
                match self.config.while_open {
                    WhileOpen::Frozen | WhileOpen::Cleared => {}
                    WhileOpen::Counted => self.shown_mut().record(now, era.began, mark),
                }
                None
            }
            State::MetricsOnly => {
                self.window.record(now, era.began, mark);
                None
            }
            State::ForcedOpen | State::Disabled => None,
        }
    }

    #[inline]
    fn hear_closed(&mut self, now: Timestamp, era: Era, mark: Mark) -> Option<Transition> {
        self.window.record(now, era.began, mark);
        let is_occasion = match (mark.signal, self.config.judged_on) {
            (Signal::Bad, JudgedOn::Bad | JudgedOn::Any) | (Signal::Good, JudgedOn::Any) => true,
            (Signal::Good, JudgedOn::Bad) | (Signal::Neutral, JudgedOn::Bad | JudgedOn::Any) => false,
        };
        if is_occasion && self.config.trips(self.window.counts(), self.window.average()) {
            return self.enter(State::Open, now);
        }
        None
    }

    fn hear_half_open(&mut self, now: Timestamp, era: Era, mark: Mark) -> Option<Transition> {
        self.probes.report(era.began, mark.signal);
        self.trial.record(now, era.began, mark);
        match mark.signal {
            Signal::Neutral => return None,
            Signal::Good | Signal::Bad => {}
        }
        match self.config.decide(self.trial.counts(), self.trial.average()) {
            Decision::Close => self.enter(State::Closed, now),
            Decision::Reopen => self.enter(State::Open, now),
            Decision::Wait => None,
        }
    }

    #[inline]
    fn mark(&self, sample: Sample) -> Mark {
        let pace = match self.config.slow {
            Some(slow) if sample.elapsed > slow.over => Pace::Slow,
            Some(_) | None => Pace::Usual,
        };
        let signal = match (sample.signal, self.config.neutral) {
            (Signal::Neutral, Neutral::Success) => Signal::Good,
            (signal, Neutral::Nothing | Neutral::Success) => signal,
        };
        Mark { signal, pace, elapsed: sample.elapsed }
    }

    /// Where time alone leads at `now`, if anywhere.
    fn timed_move(&self, now: Timestamp) -> Option<State> {
        match self.state {
            State::Open => match self.config.half_open_by {
                HalfOpenBy::Clock => self.is_cool(now).then_some(State::HalfOpen),
                HalfOpenBy::Admission => None,
            },
            State::HalfOpen => match self.config.half_open_for {
                HalfOpenFor::ThenOpen(_) => (now >= self.until).then_some(State::Open),
                HalfOpenFor::ThenClosed(_) => (now >= self.until).then_some(State::Closed),
                HalfOpenFor::Ever | HalfOpenFor::EverButPromised => None,
            },
            State::Closed | State::ForcedOpen | State::Disabled | State::MetricsOnly => None,
        }
    }

    /// Enters a state and begins its generation. What each state forgets is decided here alone.
    fn enter(&mut self, to: State, now: Timestamp) -> Option<Transition> {
        let from = self.state;
        self.state = to;
        self.generation = self.generation.wrapping_add(1);
        self.since = now;
        self.until = Timestamp::MAX;
        match to {
            State::Closed | State::Disabled | State::MetricsOnly => {
                self.opens = 0;
                self.start_counting(now, Shown::Window);
            }
            State::ForcedOpen => {
                self.opens = self.opens.saturating_add(1);
                self.start_counting(now, Shown::Window);
            }
            State::HalfOpen => {
                self.start_counting(now, Shown::Trial);
                self.until = match self.config.half_open_for {
                    HalfOpenFor::Ever => Timestamp::MAX,
                    HalfOpenFor::EverButPromised => now.after(self.config.cooldown.length(self.opens)),
                    HalfOpenFor::ThenOpen(most) | HalfOpenFor::ThenClosed(most) => now.after(most),
                };
            }
            State::Open => {
                self.opens = self.opens.saturating_add(1);
                self.until = now.after(self.config.cooldown.length(self.opens));
                match self.config.while_open {
                    WhileOpen::Frozen | WhileOpen::Counted => {}
                    WhileOpen::Cleared => self.shown_mut().clear(now),
                }
            }
        }
        self.probes.clear();
        Some(Transition { from, to, generation: self.generation, until: self.end() })
    }

    fn start_counting(&mut self, now: Timestamp, shown: Shown) {
        self.refused = 0;
        self.shown = shown;
        self.shown_mut().clear(now);
    }

    fn shown(&self) -> &Window {
        match self.shown {
            Shown::Window => &self.window,
            Shown::Trial => &self.trial,
        }
    }

    fn shown_mut(&mut self) -> &mut Window {
        match self.shown {
            Shown::Window => &mut self.window,
            Shown::Trial => &mut self.trial,
        }
    }

    fn admitted(&self, now: Timestamp, role: Role) -> Admission {
        Admission::Admitted(Permit { era: self.era(now), role })
    }

    fn retry_at(&self, now: Timestamp) -> Timestamp {
        match self.state {
            State::Closed | State::Disabled | State::MetricsOnly => now,
            State::ForcedOpen => Timestamp::MAX,
            State::Open => self.cool_at().max(now),
            State::HalfOpen => self.probes.free_at(now).min(self.until.max(now)),
        }
    }

    fn end(&self) -> Option<Timestamp> {
        Some(self.until).filter(|until| *until != Timestamp::MAX)
    }

    fn is_cool(&self, now: Timestamp) -> bool {
        now >= self.cool_at()
    }

    /// The first instant at which OPEN is over.
    fn cool_at(&self) -> Timestamp {
        match self.config.boundary {
            Boundary::Inclusive => self.until,
            Boundary::Exclusive => self.until.after(Duration::from_nanos(1)),
        }
    }
}

/// The way of two moves in one step.
fn net(first: Option<Transition>, second: Option<Transition>) -> Option<Transition> {
    match (first, second) {
        (Some(first), Some(second)) => Some(Transition { from: first.from, ..second }),
        (moved, None) | (None, moved) => moved,
    }
}
