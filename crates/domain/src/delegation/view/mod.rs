//! What can be seen of instructions.

mod alerts;
mod show;
mod summary;

pub use alerts::{AlertsShown, ListAlerts};
pub use show::{DelegationShown, ShowDelegation};
pub use summary::summary;
