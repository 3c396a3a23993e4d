//! Floor 1: one small machine a file. None knows another, none knows that requests exist; all are told the
//! time. Numbers that are drawn are handed in.

pub mod backoff;
pub mod breaker;

pub mod concurrency;
pub mod cooldown;
pub mod eligibility;
pub mod fuse;
pub mod health;
pub mod hedge;
pub mod latency;
pub mod ledger;
pub mod prices;
pub mod ranking;
pub mod retry_after;
pub mod signal;
pub mod taxonomy;
