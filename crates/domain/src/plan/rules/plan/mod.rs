//! Rules for plans: contradictions are found before anything starts.

mod plan_agent_unknown;
mod plan_agent_unusable;
mod plan_check_ambiguous;
mod plan_check_contradictory;
mod plan_check_program_unusable;
mod plan_criterion_repeated;
mod plan_criterion_unverifiable;
mod plan_dependencies_circular;
mod plan_dependency_unknown;
mod plan_evidence_too_weak;
mod plan_executor_unable;
mod plan_handoff_budget_unusable;
mod plan_handoff_chain_unapproved;
mod plan_handoff_expires_at_once;
mod plan_handoff_of_action;
mod plan_handoff_repeated;
mod plan_handoff_task_unknown;
mod plan_handoff_to_peer;
mod plan_host_not_allowed;
mod plan_instruction_absent;
mod plan_instruction_repeated;
mod plan_red_unchecked;
mod plan_resource_unusable;
mod plan_retries_too_many;
mod plan_scope_forbidden;
mod plan_scope_redundant;
mod plan_scope_wildcard;
mod plan_scopes_serialised;
mod plan_task_incomplete;
mod plan_task_mixed;
mod plan_task_repeated;
mod plan_test_editable;
mod plan_time_too_short;
mod plan_validator_is_author;

use crate::plan::payload::Plan;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<Plan>] = &[
    &plan_task_repeated::PLAN_TASK_REPEATED,
    &plan_task_incomplete::PLAN_TASK_INCOMPLETE,
    &plan_task_mixed::PLAN_TASK_MIXED,
    &plan_instruction_absent::PLAN_INSTRUCTION_ABSENT,
    &plan_instruction_repeated::PLAN_INSTRUCTION_REPEATED,
    &plan_executor_unable::PLAN_EXECUTOR_UNABLE,
    &plan_retries_too_many::PLAN_RETRIES_TOO_MANY,
    &plan_dependency_unknown::PLAN_DEPENDENCY_UNKNOWN,
    &plan_dependencies_circular::PLAN_DEPENDENCIES_CIRCULAR,
    &plan_handoff_task_unknown::PLAN_HANDOFF_TASK_UNKNOWN,
    &plan_handoff_repeated::PLAN_HANDOFF_REPEATED,
    &plan_handoff_budget_unusable::PLAN_HANDOFF_BUDGET_UNUSABLE,
    &plan_handoff_expires_at_once::PLAN_HANDOFF_EXPIRES_AT_ONCE,
    &plan_handoff_chain_unapproved::PLAN_HANDOFF_CHAIN_UNAPPROVED,
    &plan_agent_unknown::PLAN_AGENT_UNKNOWN,
    &plan_agent_unusable::PLAN_AGENT_UNUSABLE,
    &plan_handoff_to_peer::PLAN_HANDOFF_TO_PEER,
    &plan_handoff_of_action::PLAN_HANDOFF_OF_ACTION,
    &plan_resource_unusable::PLAN_RESOURCE_UNUSABLE,
    &plan_scope_forbidden::PLAN_SCOPE_FORBIDDEN,
    &plan_scope_redundant::PLAN_SCOPE_REDUNDANT,
    &plan_scope_wildcard::PLAN_SCOPE_WILDCARD,
    &plan_check_ambiguous::PLAN_CHECK_AMBIGUOUS,
    &plan_check_program_unusable::PLAN_CHECK_PROGRAM_UNUSABLE,
    &plan_check_contradictory::PLAN_CHECK_CONTRADICTORY,
    &plan_host_not_allowed::PLAN_HOST_NOT_ALLOWED,
    &plan_red_unchecked::PLAN_RED_UNCHECKED,
    &plan_criterion_repeated::PLAN_CRITERION_REPEATED,
    &plan_criterion_unverifiable::PLAN_CRITERION_UNVERIFIABLE,
    &plan_evidence_too_weak::PLAN_EVIDENCE_TOO_WEAK,
    &plan_validator_is_author::PLAN_VALIDATOR_IS_AUTHOR,
    &plan_time_too_short::PLAN_TIME_TOO_SHORT,
    &plan_scopes_serialised::PLAN_SCOPES_SERIALISED,
    &plan_test_editable::PLAN_TEST_EDITABLE,
];
