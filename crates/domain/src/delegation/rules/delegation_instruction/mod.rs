//! Rules for delegation instructions: what an action may be asked for with, and on what authority.

mod approval_evidence_missing;
mod authority_level_too_low;
mod escalation_evidence_missing;
mod escalation_unresolved;
mod evidence_file_absent;
mod evidence_path_invalid;
mod governance_blocked;
mod human_approval_missing;
mod instruction_id_date_invalid;
mod instruction_id_date_off;
mod instruction_id_reused;
mod issue_linked_to_itself;
mod merge_qa_not_green;
mod override_unapproved;
mod pull_request_into_itself;
mod ref_name_invalid;
mod ref_name_qualified;
mod requester_unknown;
mod state_reason_without_close;
mod status_evidence_missing;
mod tag_message_missing;
mod tag_message_unused;
mod update_changes_nothing;

use crate::delegation::payload::DelegationInstruction;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<DelegationInstruction>] = &[
    &instruction_id_date_invalid::INSTRUCTION_ID_DATE_INVALID,
    &instruction_id_date_off::INSTRUCTION_ID_DATE_OFF,
    &instruction_id_reused::INSTRUCTION_ID_REUSED,
    &requester_unknown::REQUESTER_UNKNOWN,
    &authority_level_too_low::AUTHORITY_LEVEL_TOO_LOW,
    &human_approval_missing::HUMAN_APPROVAL_MISSING,
    &override_unapproved::OVERRIDE_UNAPPROVED,
    &merge_qa_not_green::MERGE_QA_NOT_GREEN,
    &escalation_unresolved::ESCALATION_UNRESOLVED,
    &governance_blocked::GOVERNANCE_BLOCKED,
    &approval_evidence_missing::APPROVAL_EVIDENCE_MISSING,
    &escalation_evidence_missing::ESCALATION_EVIDENCE_MISSING,
    &status_evidence_missing::STATUS_EVIDENCE_MISSING,
    &evidence_path_invalid::EVIDENCE_PATH_INVALID,
    &evidence_file_absent::EVIDENCE_FILE_ABSENT,
    &ref_name_invalid::REF_NAME_INVALID,
    &ref_name_qualified::REF_NAME_QUALIFIED,
    &pull_request_into_itself::PULL_REQUEST_INTO_ITSELF,
    &issue_linked_to_itself::ISSUE_LINKED_TO_ITSELF,
    &state_reason_without_close::STATE_REASON_WITHOUT_CLOSE,
    &update_changes_nothing::UPDATE_CHANGES_NOTHING,
    &tag_message_missing::TAG_MESSAGE_MISSING,
    &tag_message_unused::TAG_MESSAGE_UNUSED,
];
