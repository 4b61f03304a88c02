//! Rules for handoff bundles.

mod blocked_row_unexplained;
mod bundle_dependencies_circular;
mod bundle_locks_collide;
mod bundle_resource_unusable;
mod bundle_run_id_not_v4;
mod dependency_entry_repeated;
mod dependency_unknown;
mod lock_holder_idle;
mod open_blocker_stray;
mod row_heartbeat_in_future;
mod row_heartbeat_not_below_timeout;
mod row_lost;
mod row_overdue;
mod row_owner_missing;
mod row_reopened;
mod row_repeated;
mod row_scope_redundant;
mod row_started_early;
mod row_unlocked;
mod rows_collide;
mod target_unknown;

use crate::work::payload::HandoffBundle;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<HandoffBundle>] = &[
    &bundle_resource_unusable::BUNDLE_RESOURCE_UNUSABLE,
    &bundle_run_id_not_v4::BUNDLE_RUN_ID_NOT_V4,
    &row_repeated::ROW_REPEATED,
    &row_heartbeat_not_below_timeout::ROW_HEARTBEAT_NOT_BELOW_TIMEOUT,
    &row_owner_missing::ROW_OWNER_MISSING,
    &row_scope_redundant::ROW_SCOPE_REDUNDANT,
    &rows_collide::ROWS_COLLIDE,
    &bundle_locks_collide::BUNDLE_LOCKS_COLLIDE,
    &lock_holder_idle::LOCK_HOLDER_IDLE,
    &row_unlocked::ROW_UNLOCKED,
    &dependency_unknown::DEPENDENCY_UNKNOWN,
    &dependency_entry_repeated::DEPENDENCY_ENTRY_REPEATED,
    &bundle_dependencies_circular::BUNDLE_DEPENDENCIES_CIRCULAR,
    &row_started_early::ROW_STARTED_EARLY,
    &open_blocker_stray::OPEN_BLOCKER_STRAY,
    &blocked_row_unexplained::BLOCKED_ROW_UNEXPLAINED,
    &row_heartbeat_in_future::ROW_HEARTBEAT_IN_FUTURE,
    &row_overdue::ROW_OVERDUE,
    &target_unknown::TARGET_UNKNOWN,
    &row_reopened::ROW_REOPENED,
    &row_lost::ROW_LOST,
];
