//! Rules for results.

mod answer_evidence_blank;
mod change_outside_scope;
mod change_repeated;
mod change_reserved;
mod change_stray;
mod change_undeclared;
mod change_unmade;
mod criterion_not_asked;
mod done_reported_again;
mod done_unanswered;
mod done_with_failed_criterion;
mod done_without_evidence;
mod result_before_assignment;
mod result_criterion_answered_twice;
mod result_criterion_unanswered;
mod result_resource_unusable;
mod result_run_id_not_v4;
mod result_worklog_path_differs;
mod stop_uncoded;
mod stop_unexplained;

use crate::work::payload::SubagentResult;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<SubagentResult>] = &[
    &result_resource_unusable::RESULT_RESOURCE_UNUSABLE,
    &result_run_id_not_v4::RESULT_RUN_ID_NOT_V4,
    &done_unanswered::DONE_UNANSWERED,
    &done_with_failed_criterion::DONE_WITH_FAILED_CRITERION,
    &done_without_evidence::DONE_WITHOUT_EVIDENCE,
    &answer_evidence_blank::ANSWER_EVIDENCE_BLANK,
    &stop_unexplained::STOP_UNEXPLAINED,
    &stop_uncoded::STOP_UNCODED,
    &change_repeated::CHANGE_REPEATED,
    &change_reserved::CHANGE_RESERVED,
    &result_criterion_answered_twice::RESULT_CRITERION_ANSWERED_TWICE,
    &result_criterion_unanswered::RESULT_CRITERION_UNANSWERED,
    &criterion_not_asked::CRITERION_NOT_ASKED,
    &change_outside_scope::CHANGE_OUTSIDE_SCOPE,
    &change_stray::CHANGE_STRAY,
    &change_undeclared::CHANGE_UNDECLARED,
    &change_unmade::CHANGE_UNMADE,
    &result_worklog_path_differs::RESULT_WORKLOG_PATH_DIFFERS,
    &result_before_assignment::RESULT_BEFORE_ASSIGNMENT,
    &done_reported_again::DONE_REPORTED_AGAIN,
];
