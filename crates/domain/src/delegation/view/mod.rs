//! What can be seen of instructions.

mod alerts;
mod end;
mod entries;
mod next;
mod show;
mod summary;
mod task;

pub use alerts::{AlertsShown, ListAlerts};
pub use end::{EndShown, ShowEnd};
pub use entries::{EntriesShown, EntryShown, ListEntries};
pub(crate) use next::{Next, Wrong, next};
pub use next::{NextShown, NextStep, RETRIES_MAX, ShowNext};
pub use show::{DelegationShown, ShowDelegation};
pub use summary::summary;
pub(crate) use task::shown;
pub use task::{ActionShown, ActionStep, ShowAction};
