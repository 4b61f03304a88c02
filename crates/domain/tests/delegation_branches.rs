//! Every way into a rule of delegation that its own explanation does not show: a document, what is given with it, and
//! the rules that speak. Nothing else may.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod delegated;

use countersign_contract::Set;
use countersign_contract::diagnostic::Severity;
use delegated::{ENTRY, INSTRUCTION, RESPONSE, checked, patched};
use serde_json::{Value, json};

/// The errors and warnings of a document that is checked with others.
fn speaks(contract: &str, patch: &Value, with: &[(&str, Value)]) -> Vec<&'static str> {
    let mut set = Set::default();
    for (contract, patch) in with {
        set.add_checked(&checked(contract, &patched(contract, patch), &Set::default()));
    }
    let decision = checked(contract, &patched(contract, patch), &set).decision;
    let mut rules: Vec<&str> = decision
        .details
        .diagnostics
        .iter()
        .filter(|it| it.severity > Severity::Note && it.rule != "field-unknown")
        .map(|it| it.rule)
        .collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn instructions() {
    let cases = [
        (json!({"AUTHORIZATION": {"GOVERNANCE_EVIDENCE": "NOT_APPLICABLE"}}), "status-evidence-missing"),
        (json!({"AUTHORIZATION": {"GOVERNANCE_EVIDENCE": "C:\\x.md"}}), "evidence-path-invalid"),
        (json!({"AUTHORIZATION": {"QA_EVIDENCE": "https://ci.example/x"}}), "evidence-path-invalid"),
        (
            json!({"ACTION": {"TYPE": "CREATE_PULL_REQUEST", "PARAMETERS": {
                "HEAD_BRANCH": "Acme:main", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b"}}}),
            "pull-request-into-itself",
        ),
        (
            json!({"ACTION": {"TYPE": "CREATE_PULL_REQUEST", "PARAMETERS": {
                "HEAD_BRANCH": "x", "BASE_BRANCH": "ma in", "TITLE": "t", "BODY": "b"}}}),
            "ref-name-invalid",
        ),
        (
            json!({"ACTION": {"TYPE": "TRIGGER_WORKFLOW", "PARAMETERS": {"WORKFLOW_ID": "w", "REF": "a..b"}}}),
            "ref-name-invalid",
        ),
        (json!({"ACTION": {"TYPE": "DELETE_TAG", "PARAMETERS": {"TAG_NAME": "refs/tags/v1"}}}), "ref-name-qualified"),
        (
            json!({"ACTION": {"TYPE": "UPDATE_GITHUB_ISSUE", "PARAMETERS": {"ISSUE_NUMBER": 7}}}),
            "update-changes-nothing",
        ),
        (
            json!({"ACTION": {"TYPE": "UPDATE_GITHUB_ISSUE", "PARAMETERS": {
                "ISSUE_NUMBER": 7, "STATE": "open", "STATE_REASON": "completed"}}}),
            "state-reason-without-close",
        ),
    ];
    for (patch, rule) in cases {
        assert_eq!(speaks(INSTRUCTION, &patch, &[]), [rule], "{patch}");
    }
}

#[test]
fn responses() {
    let linking = json!({"ACTION": {"TYPE": "LINK_ISSUES", "PARAMETERS": {
        "SOURCE_ISSUE_NUMBER": 7, "TARGET_ISSUE_NUMBER": 8, "RELATIONSHIP": "blocks"}}});
    let opening = json!({"ACTION": {"TYPE": "CREATE_PULL_REQUEST", "PARAMETERS": {
        "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b"}}});
    let reopening = json!({"ACTION": {"TYPE": "UPDATE_PULL_REQUEST", "PARAMETERS": {"STATE": "open"}}});
    let issue = |number: i64| json!({"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "issue", "RESOURCE_NUMBER": number}});
    let failure = |kind: &str, status: &str| {
        json!({"STATUS": status, "PLATFORM_EVIDENCE": null, "FAILURE_DETAILS": {"ERROR_TYPE": kind, "ERROR_CODE": "x",
            "ERROR_MESSAGE": "m", "REMEDIATION_GUIDANCE": "g", "RETRY_ALLOWED": "NO"}})
    };
    let cases: Vec<(Value, Option<Value>, &[&str])> = vec![
        (json!({"INSTRUCTION_ID": "DI-2025-02-30-001"}), None, &["response-id-date-invalid"]),
        (json!({"RESPONSE_ID": "DR-2025-12-24-001"}), None, &["response-id-date-off"]),
        (
            json!({"AUDIT_ENTRY_ID": "PAA-2025-12-27-001",
                "AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-27-001.md"}),
            None,
            &["response-id-date-off"],
        ),
        (json!({"STATUS": "BLOCKED"}), None, &["status-section-forbidden", "status-section-missing"]),
        (json!({"STATUS": "INVALID_REQUEST"}), None, &["status-section-forbidden", "status-section-missing"]),
        (failure("API_ERROR", "BLOCKED"), None, &["failure-type-unfit"]),
        (failure("AUTHORIZATION_FAILURE", "BLOCKED"), None, &[]),
        (failure("VALIDATION_FAILURE", "FAILURE"), None, &[]),
        (json!({"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": 304}}), None, &["success-with-error-status"]),
        (json!({"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-25T10:30:13Z"}}), None, &["resource-times-disordered"]),
        (json!({"AUDIT_ENTRY_PATH": "audit/PAA-2025-12-25-001.md"}), None, &["audit-path-mismatch"]),
        (json!({"AUDIT_ENTRY_PATH": ".evidence/../PAA-2025-12-25-001.md"}), None, &["audit-path-invalid"]),
        (issue(7), Some(linking.clone()), &[]),
        (issue(8), Some(linking.clone()), &[]),
        (issue(9), Some(linking), &["resource-number-foreign"]),
        (
            json!({"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-25T10:30:12Z"}}),
            Some(opening.clone()),
            &["resource-state-unexpected"],
        ),
        (
            json!({"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-25T09:00:00Z", "RESOURCE_STATE": "open"}}),
            Some(opening.clone()),
            &["resource-before-instruction"],
        ),
        (json!({"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "OPEN"}}), Some(opening), &["created-at-missing"]),
        (json!({"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "closed"}}), Some(reopening), &["resource-state-unexpected"]),
        (
            failure("API_ERROR", "FAILURE"),
            Some(json!({"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}})),
            &["unauthorized-instruction-executed"],
        ),
        (json!({}), Some(json!({"INSTRUCTION_ID": "DI-2025-12-25-002"})), &["companion-unmatched"]),
    ];
    for (patch, instruction, rules) in cases {
        let with: Vec<_> = instruction.into_iter().map(|patch| (INSTRUCTION, patch)).collect();
        assert_eq!(speaks(RESPONSE, &patch, &with), rules, "{patch} with {with:?}");
    }
    let other = json!({"ACTION": {"INSTRUCTION_ID": "DI-2025-12-25-002"}});
    assert_eq!(speaks(RESPONSE, &json!({}), &[(ENTRY, other)]), ["audit-entry-foreign"]);
}

#[test]
fn entries_alone() {
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({"ACTION": {"RESPONSE_ID": "DR-2025-02-30-001"}}), &["audit-id-date-invalid"]),
        (json!({"INTEGRITY": {"SUPERSEDES": "PAA-2025-02-30-001"}}), &["audit-id-date-invalid"]),
        (json!({"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-02-30-001"}}), &["audit-id-date-invalid"]),
        (json!({"AUDIT_ENTRY_ID": "PAA-2025-12-24-001"}), &["audit-id-date-off"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"GOVERNANCE_EVIDENCE_PATH": "../x"}}), &["audit-evidence-path-invalid"]),
        (
            json!({"AUTHORIZATION_EVIDENCE": {"GOVERNANCE_EVIDENCE_PATH": "NOT_APPLICABLE"}}),
            &["audit-reference-missing"],
        ),
        (json!({"AUTHORIZATION_EVIDENCE": {"ESCALATION_COMPLETED": "YES"}}), &["audit-reference-missing"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"GOVERNANCE_STATUS": "BLOCKED"}}), &["audit-authority-lacking"]),
        (json!({"PLATFORM_RESPONSE": null}), &["audit-platform-section-missing"]),
        (json!({"PLATFORM_RESPONSE": {"STATUS": "BLOCKED"}}), &["audit-outcome-contradicted"]),
        (json!({"PLATFORM_RESPONSE": {"STATUS": "OK"}}), &[]),
        (
            json!({"OUTCOME": {"RESOURCE_ID": null}, "PLATFORM_RESPONSE": {"RESOURCE_ID": null}}),
            &["audit-resource-missing"],
        ),
        (json!({"OUTCOME": {"RESOURCE_TYPE": null}}), &["audit-resource-missing"]),
        (json!({"PLATFORM_RESPONSE": {"RESOURCE_URL": null}}), &["audit-resource-missing"]),
        (json!({"PLATFORM_RESPONSE": {"RESOURCE_TYPE": "issue"}}), &["audit-resource-contradicted"]),
        (json!({"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-12-25-001"}}), &["audit-supersedes-itself"]),
        (
            json!({"INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-002", "SUPERSEDED_BY": "PAA-2025-12-25-002"}}),
            &["audit-supersedes-itself"],
        ),
        (json!({"PLATFORM_REQUEST": {"TIMESTAMP_UTC": "2025-12-25T10:30:13Z"}}), &["audit-times-disordered"]),
        (json!({"TIMESTAMP_UTC": "2025-12-25T10:30:11Z"}), &["audit-times-disordered"]),
        (json!({"PLATFORM_REQUEST": {"PARAMETERS": "state: closed"}}), &[]),
        (
            json!({"ACTION": {"TYPE": "DELETE_BRANCH"}, "PLATFORM_RESPONSE": {"RESOURCE_TYPE": "branch"},
                "OUTCOME": {"RESOURCE_TYPE": "branch", "RESOURCE_NUMBER": null}}),
            &[],
        ),
    ];
    for (patch, rules) in cases {
        assert_eq!(speaks(ENTRY, &patch, &[]), rules, "{patch}");
    }
}

#[test]
fn entries_with_their_instruction_and_response() {
    let with = [(INSTRUCTION, json!({})), (RESPONSE, json!({}))];
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({}), &[]),
        (json!({"REQUESTER": {"AGENT_TYPE": "HUMAN"}}), &["audit-requester-mismatch"]),
        (json!({"REQUESTER": {"AGENT_INSTANCE_ID": "foreman-2"}}), &["audit-requester-mismatch"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"GOVERNANCE_EVIDENCE_PATH": "x.md"}}), &["audit-authorization-mismatch"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"QA_STATUS": "RED"}}), &["audit-authorization-mismatch"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"QA_EVIDENCE_PATH": "x.json"}}), &["audit-authorization-mismatch"]),
        (json!({"AUTHORIZATION_EVIDENCE": {"ESCALATION_COMPLETED": "NO"}}), &["audit-authorization-mismatch"]),
        (json!({"GOVERNANCE_CONTEXT": {"REQUIREMENT_ID": "REQ-18"}}), &["audit-context-mismatch"]),
        (json!({"GOVERNANCE_CONTEXT": {"BUILD_PHASE": "BUILD"}}), &["audit-context-mismatch"]),
        (json!({"GOVERNANCE_CONTEXT": {"GOVERNANCE_RULE": "none"}}), &["audit-context-mismatch"]),
        (json!({"EXECUTOR": {"EXECUTION_TIMESTAMP": "2025-12-25T10:29:00Z"}}), &["audit-before-instruction"]),
        (json!({"PLATFORM_REQUEST": {"TIMESTAMP_UTC": "2025-12-25T10:29:00Z"}}), &["audit-before-instruction"]),
        (
            json!({"OUTCOME": {"RESOURCE_ID": "x"}, "PLATFORM_RESPONSE": {"RESOURCE_ID": "x"}}),
            &["audit-outcome-mismatch"],
        ),
        (json!({"OUTCOME": {"RESOURCE_NUMBER": 43}}), &["audit-outcome-mismatch", "audit-resource-number-foreign"]),
        (
            json!({"PLATFORM_RESPONSE": {"RESOURCE_URL": "https://github.com/acme/shop/pull/43"}}),
            &["audit-outcome-mismatch"],
        ),
        (json!({"PLATFORM_RESPONSE": {"STATUS_CODE": 201}}), &["audit-outcome-mismatch"]),
        (
            json!({"EXECUTOR": {"EXECUTION_TIMESTAMP": "2025-12-25T10:31:00Z"},
                "TIMESTAMP_UTC": "2025-12-25T10:31:00Z"}),
            &["audit-after-response"],
        ),
        (json!({"AUDIT_ENTRY_ID": "PAA-2025-12-25-002"}), &["audit-response-mismatch"]),
        (json!({"ACTION": {"RESPONSE_ID": "DR-2025-12-25-002"}}), &["companion-unmatched"]),
    ];
    for (patch, rules) in cases {
        assert_eq!(speaks(ENTRY, &patch, &with), rules, "{patch}");
    }
    let older = [(ENTRY, json!({"TIMESTAMP_UTC": "2025-12-25T10:45:00Z"}))];
    let correction = json!({"AUDIT_ENTRY_ID": "PAA-2025-12-25-002", "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}});
    assert_eq!(speaks(ENTRY, &correction, &older), ["audit-supersession-mismatch"]);
}
