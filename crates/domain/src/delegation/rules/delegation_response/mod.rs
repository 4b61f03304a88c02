//! Rules for delegation responses: what a status comes with, and how a response stands to its instruction.

mod audit_entry_absent;
mod audit_entry_foreign;
mod audit_path_invalid;
mod audit_path_mismatch;
mod created_at_missing;
mod execution_duration_implausible;
mod executor_unknown;
mod failure_type_unfit;
mod instruction_answered_again;
mod resource_before_instruction;
mod resource_number_foreign;
mod resource_number_missing;
mod resource_number_unfit;
mod resource_repository_foreign;
mod resource_state_unexpected;
mod resource_times_disordered;
mod resource_type_foreign;
mod response_before_instruction;
mod response_id_date_invalid;
mod response_id_date_off;
mod retry_after_unwanted;
mod retry_unpromising;
mod status_section_forbidden;
mod status_section_missing;
mod success_with_error_status;
mod unauthorized_instruction_executed;
mod updated_at_missing;
mod validation_errors_incomplete;
mod validation_field_unknown;

use crate::delegation::payload::DelegationResponse;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<DelegationResponse>] = &[
    &response_id_date_invalid::RESPONSE_ID_DATE_INVALID,
    &response_id_date_off::RESPONSE_ID_DATE_OFF,
    &executor_unknown::EXECUTOR_UNKNOWN,
    &status_section_missing::STATUS_SECTION_MISSING,
    &status_section_forbidden::STATUS_SECTION_FORBIDDEN,
    &resource_number_missing::RESOURCE_NUMBER_MISSING,
    &resource_number_unfit::RESOURCE_NUMBER_UNFIT,
    &success_with_error_status::SUCCESS_WITH_ERROR_STATUS,
    &resource_times_disordered::RESOURCE_TIMES_DISORDERED,
    &retry_after_unwanted::RETRY_AFTER_UNWANTED,
    &retry_unpromising::RETRY_UNPROMISING,
    &failure_type_unfit::FAILURE_TYPE_UNFIT,
    &audit_path_invalid::AUDIT_PATH_INVALID,
    &audit_path_mismatch::AUDIT_PATH_MISMATCH,
    &audit_entry_absent::AUDIT_ENTRY_ABSENT,
    &validation_field_unknown::VALIDATION_FIELD_UNKNOWN,
    &validation_errors_incomplete::VALIDATION_ERRORS_INCOMPLETE,
    &response_before_instruction::RESPONSE_BEFORE_INSTRUCTION,
    &resource_before_instruction::RESOURCE_BEFORE_INSTRUCTION,
    &resource_type_foreign::RESOURCE_TYPE_FOREIGN,
    &resource_number_foreign::RESOURCE_NUMBER_FOREIGN,
    &resource_repository_foreign::RESOURCE_REPOSITORY_FOREIGN,
    &resource_state_unexpected::RESOURCE_STATE_UNEXPECTED,
    &created_at_missing::CREATED_AT_MISSING,
    &updated_at_missing::UPDATED_AT_MISSING,
    &unauthorized_instruction_executed::UNAUTHORIZED_INSTRUCTION_EXECUTED,
    &execution_duration_implausible::EXECUTION_DURATION_IMPLAUSIBLE,
    &audit_entry_foreign::AUDIT_ENTRY_FOREIGN,
    &instruction_answered_again::INSTRUCTION_ANSWERED_AGAIN,
];
