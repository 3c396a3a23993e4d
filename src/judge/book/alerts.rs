//! Alerts: an auth fault needs a human, once.

use crate::policy::cooldown::Bench;
use crate::policy::taxonomy::Class;
use crate::sim::Catalog;
use crate::units::CredentialId;

/// Alerts that were raised, and the one that is due.
#[derive(Clone, Debug)]
pub struct Alerts {
    /// For each credential.
    credentials: Vec<Raised>,
    /// The credential whose auth fault in this entry has raised none yet.
    due: Option<Due>,
}

/// An auth fault that nobody was told of yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Due {
    /// The credential.
    pub key: CredentialId,
    /// The entry of the fault.
    pub seq: u64,
    need: Need,
}

/// Whether there must be an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// It is the first fault of its credential.
    Must,
    /// Somebody knows already.
    May,
}

/// Whether somebody was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Raised {
    Not,
    Once,
}

impl Alerts {
    /// Nobody was told anything.
    pub fn new(facts: &Catalog) -> Alerts {
        Alerts { credentials: vec![Raised::Not; facts.credentials.len()], due: None }
    }

    /// The credential whose auth fault should have raised an alert before an entry that `cause` caused.
    #[inline]
    pub fn missing(&self, cause: Option<u64>) -> Option<CredentialId> {
        self.due.filter(|due| due.need == Need::Must && cause != Some(due.seq)).map(|due| due.key)
    }

    /// The auth fault that was met last, until an alert is raised for it.
    pub const fn due(&self) -> Option<Due> {
        self.due
    }

    /// A credential met a true terminal fault.
    pub(super) fn meet(&mut self, class: Class, key: CredentialId, seq: u64) {
        let Some(raised) = self.credentials.get(key.index()).filter(|_| class == Class::Auth) else { return };
        let need = match raised {
            Raised::Not => Need::Must,
            Raised::Once => Need::May,
        };
        self.due = Some(Due { key, seq, need });
    }

    /// An alert is raised, or given up: it is told as missing once.
    pub(in crate::judge) fn settle(&mut self) {
        if let Some(due) = self.due.take() {
            self.credentials[due.key.index()] = Raised::Once;
        }
    }

    /// An operator freed something: the next fault of its credentials is news.
    pub(super) fn free(&mut self, what: Bench) {
        match what {
            Bench::Credential(key) => {
                if let Some(raised) = self.credentials.get_mut(key.index()) {
                    *raised = Raised::Not;
                }
            }
            Bench::Project(_) | Bench::Model(..) | Bench::Provider(_) | Bench::Route(_) => {
                self.credentials.fill(Raised::Not);
            }
        }
    }
}
