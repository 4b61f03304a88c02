//! Rules for worklogs.

mod worklog_rewritten;

use crate::work::payload::WorklogEntry;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<WorklogEntry>] = &[&worklog_rewritten::WORKLOG_REWRITTEN];
