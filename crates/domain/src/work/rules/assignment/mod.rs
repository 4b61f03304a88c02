//! Rules for assignments.

mod active_locks_collide;
mod assignment_resource_unusable;
mod assignment_run_id_not_v4;
mod context_file_unusable;
mod criterion_outside_scope;
mod criterion_repeated;
mod dependency_circular;
mod dependency_not_done;
mod dependency_on_itself;
mod dependency_repeated;
mod heartbeat_not_below_timeout;
mod lock_scope_forbidden;
mod lock_scope_pattern;
mod lock_scope_redundant;
mod lock_scope_reserved;
mod lock_scope_taken;
mod lock_scope_taken_in_run;
mod lock_scope_wanted_twice;
mod worklog_path_forbidden;
mod worklog_path_outside;

use crate::work::payload::Assignment;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<Assignment>] = &[
    &assignment_resource_unusable::ASSIGNMENT_RESOURCE_UNUSABLE,
    &assignment_run_id_not_v4::ASSIGNMENT_RUN_ID_NOT_V4,
    &heartbeat_not_below_timeout::HEARTBEAT_NOT_BELOW_TIMEOUT,
    &lock_scope_taken::LOCK_SCOPE_TAKEN,
    &lock_scope_taken_in_run::LOCK_SCOPE_TAKEN_IN_RUN,
    &lock_scope_wanted_twice::LOCK_SCOPE_WANTED_TWICE,
    &active_locks_collide::ACTIVE_LOCKS_COLLIDE,
    &lock_scope_forbidden::LOCK_SCOPE_FORBIDDEN,
    &lock_scope_reserved::LOCK_SCOPE_RESERVED,
    &lock_scope_pattern::LOCK_SCOPE_PATTERN,
    &lock_scope_redundant::LOCK_SCOPE_REDUNDANT,
    &criterion_outside_scope::CRITERION_OUTSIDE_SCOPE,
    &criterion_repeated::CRITERION_REPEATED,
    &dependency_on_itself::DEPENDENCY_ON_ITSELF,
    &dependency_repeated::DEPENDENCY_REPEATED,
    &dependency_circular::DEPENDENCY_CIRCULAR,
    &dependency_not_done::DEPENDENCY_NOT_DONE,
    &worklog_path_forbidden::WORKLOG_PATH_FORBIDDEN,
    &worklog_path_outside::WORKLOG_PATH_OUTSIDE,
    &context_file_unusable::CONTEXT_FILE_UNUSABLE,
];
