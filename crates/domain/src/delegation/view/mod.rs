//! What can be seen of instructions.

mod alerts;
mod next;
mod show;
mod summary;

pub use alerts::{AlertsShown, ListAlerts};
pub use next::{NextShown, NextStep, RETRIES_MAX, ShowNext};
pub use show::{DelegationShown, ShowDelegation};
pub use summary::summary;
