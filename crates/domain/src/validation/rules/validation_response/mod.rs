//! Rules for responses: whether the answer holds in itself, and whether it answers what was asked.

mod answered_past_time;
mod browser_unseen;
mod criterion_answered_twice;
mod criterion_status_contradicted;
mod criterion_unanswered;
mod criterion_unasked;
mod evidence_path_unclean;
mod evidence_placeholder;
mod evidence_repeats_criterion;
mod file_check_contradictory;
mod pass_against_evidence;
mod remediation_missing;
mod response_rewritten;
mod test_exit_unexplained;
mod test_failures_exit_zero;
mod tests_none_ran;
mod validator_is_author;
mod validator_took_part;
mod verdict_unsupported;

use crate::validation::payload::{ValidationRequest, ValidationResponse};
use countersign_contract::{Rule, Subject};
use std::sync::Arc;

/// In the order in which they are checked.
pub static RULES: &[&Rule<ValidationResponse>] = &[
    &verdict_unsupported::VERDICT_UNSUPPORTED,
    &criterion_answered_twice::CRITERION_ANSWERED_TWICE,
    &criterion_status_contradicted::CRITERION_STATUS_CONTRADICTED,
    &criterion_unanswered::CRITERION_UNANSWERED,
    &criterion_unasked::CRITERION_UNASKED,
    &remediation_missing::REMEDIATION_MISSING,
    &evidence_placeholder::EVIDENCE_PLACEHOLDER,
    &evidence_repeats_criterion::EVIDENCE_REPEATS_CRITERION,
    &evidence_path_unclean::EVIDENCE_PATH_UNCLEAN,
    &test_failures_exit_zero::TEST_FAILURES_EXIT_ZERO,
    &test_exit_unexplained::TEST_EXIT_UNEXPLAINED,
    &tests_none_ran::TESTS_NONE_RAN,
    &pass_against_evidence::PASS_AGAINST_EVIDENCE,
    &file_check_contradictory::FILE_CHECK_CONTRADICTORY,
    &browser_unseen::BROWSER_UNSEEN,
    &answered_past_time::ANSWERED_PAST_TIME,
    &validator_is_author::VALIDATOR_IS_AUTHOR,
    &validator_took_part::VALIDATOR_TOOK_PART,
    &response_rewritten::RESPONSE_REWRITTEN,
];

/// The request that a response answers, if it was given.
fn request_of(it: &Subject<'_, ValidationResponse>) -> Option<Arc<ValidationRequest>> {
    it.other::<ValidationRequest>(it.record.task_id.as_str())
}
