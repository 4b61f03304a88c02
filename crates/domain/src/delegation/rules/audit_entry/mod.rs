//! Rules for audit entries: that they are whole, sealed, and tell what instruction and response tell.

mod audit_action_mismatch;
mod audit_after_response;
mod audit_authority_lacking;
mod audit_authorization_mismatch;
mod audit_before_instruction;
mod audit_checksum_mismatch;
mod audit_context_mismatch;
mod audit_error_missing;
mod audit_evidence_path_invalid;
mod audit_executor_mismatch;
mod audit_executor_unknown;
mod audit_id_date_invalid;
mod audit_id_date_off;
mod audit_mutable;
mod audit_outcome_contradicted;
mod audit_outcome_mismatch;
mod audit_platform_section_invented;
mod audit_platform_section_missing;
mod audit_reference_differs;
mod audit_reference_missing;
mod audit_repository_foreign;
mod audit_requester_mismatch;
mod audit_requester_unknown;
mod audit_resource_contradicted;
mod audit_resource_missing;
mod audit_resource_number_foreign;
mod audit_resource_type_foreign;
mod audit_response_mismatch;
mod audit_rewritten;
mod audit_supersedes_itself;
mod audit_supersession_mismatch;
mod audit_times_disordered;
mod audit_unread_acted_on;

use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Rule, show};

/// In the order in which they are checked.
pub static RULES: &[&Rule<AuditEntry>] = &[
    &audit_id_date_invalid::AUDIT_ID_DATE_INVALID,
    &audit_id_date_off::AUDIT_ID_DATE_OFF,
    &audit_requester_unknown::AUDIT_REQUESTER_UNKNOWN,
    &audit_executor_unknown::AUDIT_EXECUTOR_UNKNOWN,
    &audit_evidence_path_invalid::AUDIT_EVIDENCE_PATH_INVALID,
    &audit_reference_missing::AUDIT_REFERENCE_MISSING,
    &audit_authority_lacking::AUDIT_AUTHORITY_LACKING,
    &audit_unread_acted_on::AUDIT_UNREAD_ACTED_ON,
    &audit_times_disordered::AUDIT_TIMES_DISORDERED,
    &audit_platform_section_missing::AUDIT_PLATFORM_SECTION_MISSING,
    &audit_platform_section_invented::AUDIT_PLATFORM_SECTION_INVENTED,
    &audit_outcome_contradicted::AUDIT_OUTCOME_CONTRADICTED,
    &audit_resource_missing::AUDIT_RESOURCE_MISSING,
    &audit_error_missing::AUDIT_ERROR_MISSING,
    &audit_resource_contradicted::AUDIT_RESOURCE_CONTRADICTED,
    &audit_resource_type_foreign::AUDIT_RESOURCE_TYPE_FOREIGN,
    &audit_checksum_mismatch::AUDIT_CHECKSUM_MISMATCH,
    &audit_mutable::AUDIT_MUTABLE,
    &audit_supersedes_itself::AUDIT_SUPERSEDES_ITSELF,
    &audit_supersession_mismatch::AUDIT_SUPERSESSION_MISMATCH,
    &audit_rewritten::AUDIT_REWRITTEN,
    &audit_action_mismatch::AUDIT_ACTION_MISMATCH,
    &audit_requester_mismatch::AUDIT_REQUESTER_MISMATCH,
    &audit_resource_number_foreign::AUDIT_RESOURCE_NUMBER_FOREIGN,
    &audit_repository_foreign::AUDIT_REPOSITORY_FOREIGN,
    &audit_authorization_mismatch::AUDIT_AUTHORIZATION_MISMATCH,
    &audit_reference_differs::AUDIT_REFERENCE_DIFFERS,
    &audit_context_mismatch::AUDIT_CONTEXT_MISMATCH,
    &audit_before_instruction::AUDIT_BEFORE_INSTRUCTION,
    &audit_response_mismatch::AUDIT_RESPONSE_MISMATCH,
    &audit_executor_mismatch::AUDIT_EXECUTOR_MISMATCH,
    &audit_outcome_mismatch::AUDIT_OUTCOME_MISMATCH,
    &audit_after_response::AUDIT_AFTER_RESPONSE,
];

/// Says that a field has another value than the document that it is taken from.
fn mismatch(pointer: &str, here: &str, there: &str, whose: &str, report: &mut Report) {
    if here != there {
        let message = format!("`{}` here, `{}` in {whose}", show(here), show(there));
        report.add(Pointer::at(pointer), message, "record what was asked and answered, as it was");
    }
}
