//! What is shown of promises, gates, and what waits for a person.

mod found;
mod gate;
mod inbox;
mod instructed;
mod promise;
mod summary;
mod waiting;

pub use found::FoundShown;
pub use gate::{GateCriterion, GateShown, GateStatus, VerdictShown};
pub use inbox::{Inbox, InboxItem, InboxShown};
pub use promise::{ListPromises, PromiseBrief, PromiseShown, PromisesShown, ShowPromise};
pub use summary::summary;
pub use waiting::{WaitingGate, WaitingGates, WaitingShown};
