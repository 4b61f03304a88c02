//! Rules for requests: whether what is asked can be answered, and where the validator is sent.

mod claimed_commit_abbreviated;
mod claimed_evidence_empty;
mod claimed_path_unclean;
mod request_app_url_missing;
mod request_branch_malformed;
mod request_criteria_alike;
mod request_criterion_repeated;
mod request_worktree_unclean;

use crate::validation::payload::ValidationRequest;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<ValidationRequest>] = &[
    &request_criterion_repeated::REQUEST_CRITERION_REPEATED,
    &request_criteria_alike::REQUEST_CRITERIA_ALIKE,
    &request_app_url_missing::REQUEST_APP_URL_MISSING,
    &claimed_evidence_empty::CLAIMED_EVIDENCE_EMPTY,
    &claimed_path_unclean::CLAIMED_PATH_UNCLEAN,
    &claimed_commit_abbreviated::CLAIMED_COMMIT_ABBREVIATED,
    &request_worktree_unclean::REQUEST_WORKTREE_UNCLEAN,
    &request_branch_malformed::REQUEST_BRANCH_MALFORMED,
];
