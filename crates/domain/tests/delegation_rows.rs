//! What the specification of responses asks for, row by row, by the numbers of its sections: the form of a response, what each status
//! must have and must not have, what is validated with the instruction and the entry, and its four examples. What the requester does
//! with a response is the table in `delegation/view/next.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod delegated;

use countersign_contract::{Set, prove};
use delegated::{ENTRY, INSTRUCTION, RESPONSE, checked, patched};
use serde_json::{Value, json};

/// What a response is refused under, checked with others; nothing, if it is allowed.
fn code(patch: &Value, with: &[(&str, Value)]) -> &'static str {
    let mut set = Set::default();
    for (contract, patch) in with {
        set.add_checked(&checked(contract, &patched(contract, patch), &Set::default()));
    }
    let decision = checked(RESPONSE, &patched(RESPONSE, patch), &set).decision;
    decision.code.map_or("", |code| code.as_str())
}

fn failure(status: &str, patch: Value) -> Value {
    let mut failure = json!({"STATUS": status, "PLATFORM_EVIDENCE": null, "FAILURE_DETAILS": {
        "ERROR_TYPE": if status == "BLOCKED" { "PLATFORM_CONSTRAINT" } else { "API_ERROR" }, "ERROR_CODE": "503",
        "ERROR_MESSAGE": "m", "REMEDIATION_GUIDANCE": "g", "RETRY_ALLOWED": "NO"}});
    // A patch takes out what it says is nothing, as does the one that it is laid over with.
    for (name, value) in patch.as_object().unwrap() {
        failure["FAILURE_DETAILS"][name] = value.clone();
    }
    failure
}

fn invalid(errors: Value) -> Value {
    json!({"STATUS": "INVALID_REQUEST", "PLATFORM_EVIDENCE": null, "VALIDATION_ERRORS": errors})
}

fn with(mut patch: Value, more: &Value) -> Value {
    prove::merge(&mut patch, more);
    patch
}

#[test]
fn every_row_of_the_specification_of_responses_holds() {
    const MISSING: &str = "MISSING_REQUIRED_INPUT";
    const INVALID: &str = "SCHEMA_INVALID";
    const FOREIGN: &str = "CORRELATION_MISMATCH";
    let evidence = || {
        json!({"RESOURCE_TYPE": "pull_request", "RESOURCE_ID": "x", "RESOURCE_NUMBER": 42,
        "RESOURCE_URL": "https://github.com/acme/shop/pull/42", "RESOURCE_STATE": "closed", "API_RESPONSE_STATUS": 200})
    };
    let details = || failure("FAILURE", json!({}))["FAILURE_DETAILS"].clone();
    let wrong = || json!([{"FIELD": "AUTHORIZATION.QA_STATUS", "ERROR": "is red", "EXPECTED": "GREEN"}]);
    #[rustfmt::skip]
    let alone: Vec<(&str, Value, &str)> = vec![
        ("3.1 version", json!({"DELEGATION_RESPONSE_VERSION": null}), MISSING),
        ("3.1 version 1.0", json!({"DELEGATION_RESPONSE_VERSION": "2.0"}), "UNKNOWN_SCHEMA_VERSION"),
        ("3.1 id", json!({"RESPONSE_ID": null}), MISSING),
        ("3.1 form of the id", json!({"RESPONSE_ID": "DR-2025-12-25-1"}), INVALID),
        ("3.1 instruction", json!({"INSTRUCTION_ID": null}), MISSING),
        ("3.1 time", json!({"TIMESTAMP_UTC": null}), MISSING),
        ("3.1 time in UTC", json!({"TIMESTAMP_UTC": "2025-12-25T10:30:15+01:00"}), INVALID),
        ("3.2 status", json!({"STATUS": null}), MISSING),
        ("3.2 one of four", json!({"STATUS": "DONE"}), INVALID),
        ("3.3 type", json!({"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": null}}), MISSING),
        ("3.3 known type", json!({"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "repository"}}), INVALID),
        ("3.3 id", json!({"PLATFORM_EVIDENCE": {"RESOURCE_ID": null}}), MISSING),
        ("3.3 number of a pull request", json!({"PLATFORM_EVIDENCE": {"RESOURCE_NUMBER": null}}), MISSING),
        ("3.3 address", json!({"PLATFORM_EVIDENCE": {"RESOURCE_URL": null}}), MISSING),
        ("3.3 full address", json!({"PLATFORM_EVIDENCE": {"RESOURCE_URL": "github.com/acme"}}), INVALID),
        ("3.3 state", json!({"PLATFORM_EVIDENCE": {"RESOURCE_STATE": null}}), MISSING),
        ("3.3 HTTP status", json!({"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": null}}), MISSING),
        ("3.3 real HTTP status", json!({"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": 42}}), INVALID),
        ("3.3 a success has one", json!({"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": 500}}), "NON_COMPLIANT"),
        ("3.4 error type", failure("FAILURE", json!({"ERROR_TYPE": null})), MISSING),
        ("3.4 one of four", failure("FAILURE", json!({"ERROR_TYPE": "BAD_LUCK"})), INVALID),
        ("3.4 error code", failure("FAILURE", json!({"ERROR_CODE": null})), MISSING),
        ("3.4 message", failure("FAILURE", json!({"ERROR_MESSAGE": null})), MISSING),
        ("3.4 guidance", failure("FAILURE", json!({"REMEDIATION_GUIDANCE": null})), MISSING),
        ("3.4 retry or not", failure("FAILURE", json!({"RETRY_ALLOWED": null})), MISSING),
        ("3.4 yes or no", failure("FAILURE", json!({"RETRY_ALLOWED": "MAYBE"})), INVALID),
        ("3.4 after seconds", failure("FAILURE", json!({"RETRY_ALLOWED": "YES", "RETRY_AFTER": "3595"})), ""),
        ("3.4 after what", failure("FAILURE", json!({"RETRY_ALLOWED": "YES", "RETRY_AFTER": "soon"})), INVALID),
        ("3.4 an error of the platform", failure("FAILURE", json!({"ERROR_TYPE": "API_ERROR"})), ""),
        ("3.4 no right", failure("FAILURE", json!({"ERROR_TYPE": "AUTHORIZATION_FAILURE"})), ""),
        ("3.4 wrong parameters", failure("FAILURE", json!({"ERROR_TYPE": "VALIDATION_FAILURE"})), ""),
        ("3.4 a rule of the platform", failure("BLOCKED", json!({"ERROR_TYPE": "PLATFORM_CONSTRAINT"})), ""),
        ("3.5 at least one", invalid(json!([])), MISSING),
        ("3.5 several", invalid(json!([wrong()[0], {"FIELD": "ACTION.TYPE", "ERROR": "e", "EXPECTED": "x"}])), ""),
        ("3.5 field", invalid(json!([{"ERROR": "e", "EXPECTED": "x"}])), MISSING),
        ("3.5 field with dots", invalid(json!([{"FIELD": "not a path", "ERROR": "e", "EXPECTED": "x"}])), INVALID),
        ("3.5 error", invalid(json!([{"FIELD": "ACTION.TYPE", "EXPECTED": "x"}])), MISSING),
        ("3.5 expected", invalid(json!([{"FIELD": "ACTION.TYPE", "ERROR": "e"}])), MISSING),
        ("3.6 entry", json!({"AUDIT_ENTRY_ID": null}), MISSING),
        ("3.6 form of its id", json!({"AUDIT_ENTRY_ID": "PAA-1"}), INVALID),
        ("3.6 path", json!({"AUDIT_ENTRY_PATH": null}), MISSING),
        ("3.6 relative path", json!({"AUDIT_ENTRY_PATH": "/etc/PAA-2025-12-25-001.md"}), INVALID),
        ("3.7 executor", json!({"EXECUTOR": null}), MISSING),
        ("3.7 kind", json!({"EXECUTOR": {"AGENT_TYPE": "SOMEBODY"}}), INVALID),
        ("3.7 which one", json!({"EXECUTOR": {"AGENT_INSTANCE_ID": null}}), MISSING),
        ("3.7 how long", json!({"EXECUTOR": {"EXECUTION_DURATION_MS": "fast"}}), INVALID),
        ("4.1 SUCCESS", json!({}), ""),
        ("4.1 with evidence", json!({"PLATFORM_EVIDENCE": null}), MISSING),
        ("4.1 without failure", json!({"FAILURE_DETAILS": details()}), INVALID),
        ("4.1 without errors", json!({"VALIDATION_ERRORS": wrong()}), INVALID),
        ("4.2 FAILURE", failure("FAILURE", json!({})), ""),
        ("4.2 with details", json!({"STATUS": "FAILURE", "PLATFORM_EVIDENCE": null}), MISSING),
        ("4.2 without evidence", with(failure("FAILURE", json!({})), &json!({"PLATFORM_EVIDENCE": evidence()})), INVALID),
        ("4.2 without errors", with(failure("FAILURE", json!({})), &json!({"VALIDATION_ERRORS": wrong()})), INVALID),
        ("4.3 BLOCKED", failure("BLOCKED", json!({})), ""),
        ("4.3 with details", json!({"STATUS": "BLOCKED", "PLATFORM_EVIDENCE": null}), MISSING),
        ("4.3 without evidence", with(failure("BLOCKED", json!({})), &json!({"PLATFORM_EVIDENCE": evidence()})), INVALID),
        ("4.3 without errors", with(failure("BLOCKED", json!({})), &json!({"VALIDATION_ERRORS": wrong()})), INVALID),
        ("4.4 INVALID_REQUEST", invalid(wrong()), ""),
        ("4.4 with errors", json!({"STATUS": "INVALID_REQUEST", "PLATFORM_EVIDENCE": null}), MISSING),
        ("4.4 without evidence", with(invalid(wrong()), &json!({"PLATFORM_EVIDENCE": evidence()})), INVALID),
        ("4.4 without failure", with(invalid(wrong()), &json!({"FAILURE_DETAILS": details()})), INVALID),
        ("6.2 a limit", failure("FAILURE", json!({"ERROR_CODE": "403", "RETRY_ALLOWED": "YES", "RETRY_AFTER": "3595"})), ""),
        ("6.3 protection", failure("BLOCKED", json!({"ERROR_CODE": "422", "RETRY_ALLOWED": "YES"})), ""),
        ("6.4 two faults", invalid(json!([
            {"FIELD": "ACTION.PARAMETERS.HEAD_BRANCH", "ERROR": "does not exist", "EXPECTED": "a branch"},
            {"FIELD": "AUTHORIZATION.HUMAN_APPROVAL", "ERROR": "missing", "EXPECTED": "YES, with its evidence"}])), ""),
    ];
    let mut broken = Vec::new();
    for (row, patch, wanted) in alone {
        let found = code(&patch, &[]);
        if found != wanted {
            broken.push(format!("{row}: `{found}` and not `{wanted}`, {patch}"));
        }
    }
    let opening = || {
        json!({"ACTION": {"TYPE": "CREATE_PULL_REQUEST", "PARAMETERS": {
        "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b"}}})
    };
    let later = json!({"TIMESTAMP_UTC": "2025-12-25T11:30:00Z"});
    let opened = json!({"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-25T10:30:12Z", "RESOURCE_STATE": "open"}});
    let other = json!({"ACTION": {"INSTRUCTION_ID": "DI-2025-12-25-002"}});
    #[rustfmt::skip]
    let beside: Vec<(&str, Value, &str, Value, &str)> = vec![
        ("2.2, 3.1, 5.1 the instruction that was sent", json!({}), INSTRUCTION, json!({"INSTRUCTION_ID": "DI-2025-12-25-002"}), FOREIGN),
        ("3.1, 5.1 not before it", json!({}), INSTRUCTION, later, FOREIGN),
        ("3.3 the type that the action gives", json!({"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "issue"}}), INSTRUCTION, json!({}), FOREIGN),
        ("3.3 created at, if it creates", json!({"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "open"}}), INSTRUCTION, opening(), MISSING),
        ("3.3 updated at, if it updates", json!({"PLATFORM_EVIDENCE": {"UPDATED_AT": null}}), INSTRUCTION, json!({}), MISSING),
        ("5.2 the entry that it names", json!({}), ENTRY, other, FOREIGN),
        ("5.2 an entry of its own", json!({}), ENTRY, json!({}), ""),
        ("5.3 the state that is expected", json!({"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "open"}}), INSTRUCTION, json!({}), FOREIGN),
        ("6.1 a pull request is open", opened, INSTRUCTION, opening(), ""),
    ];
    for (row, patch, contract, given, wanted) in beside {
        let found = code(&patch, &[(contract, given.clone())]);
        if found != wanted {
            broken.push(format!("{row}: `{found}` and not `{wanted}`, {patch} with {given}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
