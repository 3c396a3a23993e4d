//! Breakers and health states as they must stand: moved by the facts alone, as the declared policy says. What the
//! gateway tells of its own is held against them.

use crate::gateway::{Action, Decision, Freshness};
use crate::policy::breaker::{Admission, Breaker, Era, Sample, State, Transition};
use crate::policy::health::{self, Health, Move};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::sim::{Catalog, What};
use crate::units::{BreakerId, HealthId, Timestamp};

/// Breakers and health states as they must stand.
#[derive(Clone, Debug)]
pub struct Machines {
    /// One a fault domain; none if the policy has no breaker.
    breakers: Vec<Breaker>,
    healths: Vec<Health>,
    /// How many breakers are not closed.
    ajar: u32,
    /// How many health states are not healthy.
    unwell: u32,
    /// The moves that must be told next, and the one that was told before the call that makes it.
    breaker_due: Option<(BreakerId, Transition)>,
    health_due: Option<(HealthId, Move)>,
    announced: Option<(BreakerId, Transition)>,
}

/// A result as it must be told, and how the counters must stand after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reckoned {
    /// To which breaker it goes.
    pub breaker: BreakerId,
    /// And to which health state.
    pub health: HealthId,
    /// What the gateway was told, or why it stopped the call itself.
    pub class: Option<Class>,
    /// What the policy makes of that.
    pub signal: Signal,
    /// Whether it counts.
    pub standing: Freshness,
    /// The failures of its breaker.
    pub breaker_failures: u32,
    /// The bad results in a row of its health state.
    pub health_failures: u32,
}

/// A call as its breaker saw it begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entrance {
    /// Its breaker let it through, and every move of it was told.
    Right,
    /// Its breaker does not let it through.
    Refused,
    /// Its breaker moved so, which was not told; `None` is a move that was told and was none.
    Moved(Option<Transition>),
    /// It is told by another generation than this.
    OfGeneration(u32),
}

impl Machines {
    /// Everything closed and healthy.
    pub(super) fn new(facts: &Catalog) -> Machines {
        let ids = (0..facts.breakers.len() as u16).map(BreakerId);
        let breakers = ids.filter_map(|id| facts.machines.breaker_of(id));
        Machines {
            breakers: breakers.map(|config| Breaker::new(config, Timestamp::ZERO)).collect(),
            healths: vec![Health::default(); facts.healths.len()],
            ajar: 0,
            unwell: 0,
            breaker_due: None,
            health_due: None,
            announced: None,
        }
    }

    /// A breaker as it must stand; `None` if none is declared.
    #[inline]
    pub fn breaker(&self, id: BreakerId) -> Option<&Breaker> {
        self.breakers.get(id.index())
    }

    /// A health state as it must stand.
    pub fn health(&self, id: HealthId) -> Option<&Health> {
        self.healths.get(id.index())
    }

    /// Whether every breaker lets everything through.
    #[inline]
    pub const fn are_closed(&self) -> bool {
        self.ajar == 0
    }

    /// Whether every health state is healthy.
    #[inline]
    pub const fn are_well(&self) -> bool {
        self.unwell == 0
    }

    /// A health state moved, or did not: what must be told of it next. Nothing else is due by now.
    fn turn_health(&mut self, id: HealthId, moved: Option<Move>) {
        if let Some(moved) = moved {
            let is_unwell = |state| u32::from(state != health::State::Healthy);
            self.unwell = self.unwell + is_unwell(moved.to) - is_unwell(moved.from);
            self.health_due = Some((id, moved));
        }
    }

    /// A breaker moved.
    fn turn(&mut self, moved: Transition) {
        self.ajar = self.ajar + u32::from(moved.to != State::Closed) - u32::from(moved.from != State::Closed);
    }

    /// A call begins that was told by this generation of its breaker. In which it does.
    #[inline]
    pub(super) fn admit(&mut self, at: Timestamp, id: BreakerId, generation: u32) -> (u32, Entrance) {
        let announced = self.announced.take();
        let Some(breaker) = self.breakers.get_mut(id.index()) else {
            let is_right = announced.is_none() && generation == 0;
            return (0, if is_right { Entrance::Right } else { Entrance::OfGeneration(0) });
        };
        let (admission, moved) = breaker.admit(at);
        let truth = breaker.era(at).generation();
        if let Some(moved) = moved {
            self.turn(moved);
        }
        if moved.map(|moved| (id, moved)) != announced {
            return (truth, Entrance::Moved(moved));
        }
        let entrance = match admission {
            Admission::Refused { .. } => Entrance::Refused,
            Admission::Admitted(permit) if permit.generation() != generation => {
                Entrance::OfGeneration(permit.generation())
            }
            Admission::Admitted(_) => Entrance::Right,
        };
        (truth, entrance)
    }

    /// Takes in a result of a call that began at `begun`, in this generation of its breaker.
    #[inline]
    pub(super) fn reckon(
        &mut self,
        facts: &Catalog,
        at: Timestamp,
        (breaker, generation): (BreakerId, u32),
        (health, begun): (HealthId, Timestamp),
        (class, signal): (Option<Class>, Signal),
    ) -> Reckoned {
        let (mut is_stale, mut breaker_failures) = (false, 0);
        if let Some(machine) = self.breakers.get_mut(breaker.index()) {
            let era = Era::of(generation, begun);
            is_stale = !machine.hears(era);
            let moved = machine.record(at, era, Sample { signal, elapsed: at.since(begun) });
            breaker_failures = machine.failures(at);
            if let Some(moved) = moved {
                self.breaker_due = Some((breaker, moved));
                self.turn(moved);
            }
        }
        let mut health_failures = 0;
        if let Some(machine) = self.healths.get_mut(health.index()) {
            is_stale |= machine.is_stale(begun);
            let moved =
                if is_stale { None } else { machine.record(at, begun, &facts.machines.health, signal) };
            health_failures = machine.failures();
            self.turn_health(health, moved);
        }
        let standing = if is_stale { Freshness::Stale } else { Freshness::Fresh };
        Reckoned { breaker, health, class, signal, standing, breaker_failures, health_failures }
    }

    /// The cooldown of a health state is over.
    pub(super) fn wake(&mut self, at: Timestamp, id: HealthId) {
        let moved = self.healths.get_mut(id.index()).and_then(|health| health.wake(at));
        self.turn_health(id, moved);
    }

    /// An operator resets a breaker.
    pub(super) fn reset_breaker(&mut self, at: Timestamp, id: BreakerId) {
        let moved = self.breakers.get_mut(id.index()).and_then(|breaker| breaker.reset(at));
        if let Some(moved) = moved {
            self.breaker_due = Some((id, moved));
            self.turn(moved);
        }
    }

    /// An operator resets a health state.
    pub(super) fn reset_health(&mut self, at: Timestamp, id: HealthId) {
        let moved = self.healths.get_mut(id.index()).and_then(|health| health.reset(at));
        self.turn_health(id, moved);
    }

    /// A move of a breaker is told. Whether it is due; one that is not may be that of the call that follows.
    pub(in crate::judge) fn tell_breaker(&mut self, id: BreakerId, moved: &Transition) -> bool {
        match self.breaker_due.take() {
            Some(due) => due == (id, *moved),
            None => self.health_due.is_none() && self.announced.replace((id, *moved)).is_none(),
        }
    }

    /// A move of a health state is told. Whether it is due.
    pub(in crate::judge) fn tell_health(&mut self, id: HealthId, moved: &Move) -> bool {
        self.breaker_due.is_none() && self.health_due.take() == Some((id, *moved))
    }

    /// Whether something else comes where a move is due, or the call that makes the move that was told.
    #[inline]
    pub fn is_overdue(&self, what: &What<'_>) -> bool {
        if self.breaker_due.is_none() && self.health_due.is_none() && self.announced.is_none() {
            return false;
        }
        match what {
            What::Decided(Decision::BreakerMoved { .. } | Decision::HealthMoved { .. }) => false,
            What::Acted(Action::Call(_)) | What::CallBegun { .. } => self.announced.is_none(),
            What::Declared(_)
            | What::Arrived { .. }
            | What::TaskBegan { .. }
            | What::TaskEnded { .. }
            | What::Abandoned { .. }
            | What::Woke { .. }
            | What::RunEnded
            | What::Operated { .. }
            | What::CallVisible { .. }
            | What::CallEnded { .. }
            | What::CallLost { .. }
            | What::Considered { .. }
            | What::Acted(_)
            | What::Decided(_) => true,
        }
    }

    /// Whether a move is due, or was told and not made.
    pub const fn is_due(&self) -> bool {
        self.breaker_due.is_some() || self.health_due.is_some() || self.announced.is_some()
    }

    /// Nothing is due any more: it was told as missing.
    pub(in crate::judge) fn forgive(&mut self) {
        (self.breaker_due, self.health_due, self.announced) = (None, None, None);
    }

    /// What is due, in words.
    pub fn overdue(&self, facts: &Catalog) -> String {
        let name = |list: &[crate::units::Name], at: usize| {
            list.get(at).map_or("", |name| facts.names.text(*name)).to_owned()
        };
        if let Some((id, moved)) = self.breaker_due {
            let breaker = name(&facts.breakers, id.index());
            return format!("the breaker {breaker} moves to {}, and nobody says so", moved.to.label());
        }
        if let Some((id, moved)) = self.health_due {
            let health = name(&facts.healths, id.index());
            return format!("the health of {health} moves to {}, and nobody says so", moved.to.label());
        }
        let told = self.announced.map(|(id, moved)| (name(&facts.breakers, id.index()), moved.to.label()));
        let (breaker, to) = told.unwrap_or_default();
        format!("the breaker {breaker} is said to move to {to}, and nothing moves it")
    }
}
