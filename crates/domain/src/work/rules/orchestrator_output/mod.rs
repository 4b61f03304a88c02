//! Rules for an orchestrator's turns.

mod assignment_of_finished_task;
mod assignment_repeated;
mod assignment_run_differs;
mod assignment_scope_held_in_run;
mod assignment_scope_taken;
mod assignments_circular;
mod assignments_collide;
mod blocker_stray;
mod delta_base_stale;
mod delta_blocker_missing;
mod delta_dependency_not_done;
mod delta_id_reused;
mod delta_owner_missing;
mod delta_row_unknown;
mod delta_transition_illegal;
mod delta_unlocked;
mod done_against_result;
mod heartbeat_in_future;
mod lock_outlives_work;
mod output_locks_collide;
mod output_resource_unusable;
mod output_run_id_not_v4;
mod retry_not_allowed;
mod timeout_not_blocked;

use crate::work::payload::OrchestratorOutput;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<OrchestratorOutput>] = &[
    &output_resource_unusable::OUTPUT_RESOURCE_UNUSABLE,
    &output_run_id_not_v4::OUTPUT_RUN_ID_NOT_V4,
    &assignment_run_differs::ASSIGNMENT_RUN_DIFFERS,
    &assignment_repeated::ASSIGNMENT_REPEATED,
    &assignments_collide::ASSIGNMENTS_COLLIDE,
    &assignment_scope_taken::ASSIGNMENT_SCOPE_TAKEN,
    &assignment_scope_held_in_run::ASSIGNMENT_SCOPE_HELD_IN_RUN,
    &assignments_circular::ASSIGNMENTS_CIRCULAR,
    &assignment_of_finished_task::ASSIGNMENT_OF_FINISHED_TASK,
    &output_locks_collide::OUTPUT_LOCKS_COLLIDE,
    &delta_id_reused::DELTA_ID_REUSED,
    &delta_row_unknown::DELTA_ROW_UNKNOWN,
    &delta_transition_illegal::DELTA_TRANSITION_ILLEGAL,
    &delta_dependency_not_done::DELTA_DEPENDENCY_NOT_DONE,
    &delta_base_stale::DELTA_BASE_STALE,
    &delta_owner_missing::DELTA_OWNER_MISSING,
    &delta_blocker_missing::DELTA_BLOCKER_MISSING,
    &blocker_stray::BLOCKER_STRAY,
    &lock_outlives_work::LOCK_OUTLIVES_WORK,
    &timeout_not_blocked::TIMEOUT_NOT_BLOCKED,
    &heartbeat_in_future::HEARTBEAT_IN_FUTURE,
    &retry_not_allowed::RETRY_NOT_ALLOWED,
    &done_against_result::DONE_AGAINST_RESULT,
    &delta_unlocked::DELTA_UNLOCKED,
];
