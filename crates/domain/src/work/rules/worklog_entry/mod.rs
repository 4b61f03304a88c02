//! Rules for worklogs.

mod worklog_before_assignment;
mod worklog_file_outside_scope;
mod worklog_mixed;
mod worklog_resource_unusable;
mod worklog_rewritten;
mod worklog_run_id_not_v4;
mod worklog_stop_uncoded;
mod worklog_time_backwards;

use crate::work::payload::WorklogEntry;
use countersign_contract::Rule;
pub use worklog_rewritten::WORKLOG_REWRITTEN;

/// In the order in which they are checked.
pub static RULES: &[&Rule<WorklogEntry>] = &[
    &worklog_resource_unusable::WORKLOG_RESOURCE_UNUSABLE,
    &WORKLOG_REWRITTEN,
    &worklog_run_id_not_v4::WORKLOG_RUN_ID_NOT_V4,
    &worklog_time_backwards::WORKLOG_TIME_BACKWARDS,
    &worklog_mixed::WORKLOG_MIXED,
    &worklog_stop_uncoded::WORKLOG_STOP_UNCODED,
    &worklog_file_outside_scope::WORKLOG_FILE_OUTSIDE_SCOPE,
    &worklog_before_assignment::WORKLOG_BEFORE_ASSIGNMENT,
];
