//! The contracts of the operator workflow, one file each.

mod worklog_entry;

pub use worklog_entry::WorklogEntry;
