//! Validation as its documents meet it: the published examples, responses that `fix` mends, and what it must not mend.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use countersign_contract::diagnostic::{Decision, Source};
use countersign_contract::fix::fix;
use countersign_contract::{Checker, Outside, Request, Set, Settings, check};
use serde_json::{Value, json};

/// The example of the protocol, with its ids, fields and values, in words of our own.
fn request() -> Value {
    json!({
        "task_id": "claude-harness-setup-5j8t",
        "prd_id": "PRD-S3-AUTONOMY-001",
        "validation_type": "code",
        "acceptance_criteria": [
            {
                "id": "F4.1-1",
                "description": "a validator can be started on demand through TeamCreate and Task",
                "validation_hint": "look at skills/system3-orchestrator/references/validation-workflow.md"
            },
            {
                "id": "F4.1-2",
                "description": "the validator reports through SendMessage and then ends",
                "validation_hint": "the prompt it is started with has to say both"
            }
        ],
        "claimed_evidence": {
            "summary": "the pattern for starting validators is described in two reference pages",
            "files_modified": [
                ".claude/skills/system3-orchestrator/references/validation-workflow.md",
                ".claude/skills/system3-orchestrator/references/oversight-team.md",
                ".claude/skills/system3-orchestrator/SKILL.md"
            ]
        },
        "worktree_path": "/Users/theb/Documents/Windsurf/claude-harness-setup/trees/epic4-validation-teammate",
        "branch": "epic4-validation-teammate"
    })
}

fn response() -> Value {
    json!({
        "task_id": "claude-harness-setup-5j8t",
        "verdict": "PASS",
        "criteria_results": [
            {
                "criterion_id": "F4.1-1",
                "status": "PASS",
                "evidence": "validation-workflow.md has a section on it, whose call of Task sets team_name and name"
            },
            {
                "criterion_id": "F4.1-2",
                "status": "PASS",
                "evidence": "the prompt in that section says where results go and that the validator exits afterwards"
            }
        ],
        "evidence_collected": {
            "file_checks": [{
                "path": ".claude/skills/system3-orchestrator/references/validation-workflow.md",
                "exists": true,
                "size_bytes": 15234,
                "contains_expected": true,
                "note": "several validators at once are covered too"
            }]
        },
        "reasoning": "both criteria are described with code, including how validators end",
        "confidence": 0.9,
        "duration_seconds": 45.2,
        "timestamp": "2026-02-17T14:30:00Z",
        "validator_id": "s3-validator-claude-harness-setup-5j8t"
    })
}

fn outside() -> Outside {
    Outside { now: "2026-02-17T15:00:00Z".parse().ok(), ..Outside::default() }
}

fn with_checker<R>(look: impl FnOnce(&Checker<'_>) -> R) -> R {
    let settings = Settings::default();
    look(&Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] })
}

/// Checks a document with others beside it, all as JSON and as their keys tell.
fn decide(document: &Value, with: &[Value]) -> Decision {
    with_checker(|checker| {
        let outside = outside();
        let mut set = Set::default();
        for other in with {
            let text = other.to_string();
            set.add_checked(&check(checker, &Request::alone(Source { name: "with.json", text: &text }, &outside)));
        }
        let text = document.to_string();
        let source = Source { name: "document.json", text: &text };
        check(checker, &Request { others: &set, ..Request::alone(source, &outside) }).decision
    })
}

fn fixed(document: &Value) -> (Value, Vec<String>, bool) {
    with_checker(|checker| {
        let (outside, text) = (outside(), document.to_string());
        let request = Request::alone(Source { name: "document.json", text: &text }, &outside);
        let fixed = fix(checker, &request, None, &mut |_, _| None);
        (serde_json::from_str(&fixed.text).unwrap(), fixed.changes, fixed.checked.decision.allow)
    })
}

#[test]
fn the_examples_of_the_protocol_are_allowed_together_without_a_finding() {
    for (document, with) in [(request(), vec![]), (response(), vec![]), (response(), vec![request()])] {
        let decision = decide(&document, &with);
        assert!(decision.allow && decision.details.diagnostics.is_empty(), "{decision:#?}");
    }
}

#[test]
fn they_are_told_by_their_keys_and_read_as_yaml() {
    let yaml = "task_id: shop-1\nvalidation_type: browser\nacceptance_criteria:\n  - id: AC-1\n    description: it opens\nservices:\n  app_url: http://localhost:3000\n  required_ports: [3000]\n";
    with_checker(|checker| {
        let outside = Outside::default();
        let decision = check(checker, &Request::alone(Source { name: "r.yaml", text: yaml }, &outside)).decision;
        assert!(decision.allow && decision.details.diagnostics.is_empty(), "{decision:#?}");
        assert_eq!(decision.details.contract.as_deref(), Some("validation_request"));
    });
}

#[test]
fn a_response_to_another_request_is_refused() {
    let mut other = request();
    other["task_id"] = "another-task".into();
    let decision = decide(&response(), &[other]);
    assert_eq!((decision.code_str(), decision.allow), ("CORRELATION_MISMATCH", false));
}

#[test]
fn the_primary_code_is_the_one_that_the_fault_leads_to() {
    for (patch, code) in [
        (json!({"task_id": null}), "MISSING_REQUIRED_INPUT"),
        (json!({"task_id": ""}), "MISSING_REQUIRED_INPUT"),
        (json!({"task_id": "Not An Id"}), "SCHEMA_INVALID"),
        (json!({"criteria_results": []}), "MISSING_REQUIRED_INPUT"),
        (json!({"verdict": "MAYBE"}), "SCHEMA_INVALID"),
        (json!({"verdict": "FAIL"}), "NON_COMPLIANT"),
        (json!({"confidence": 1.01}), "SCHEMA_INVALID"),
        (json!({"duration_seconds": -1}), "SCHEMA_INVALID"),
        (json!({"duration_seconds": 301}), "TASK_TIMEOUT"),
        (json!({"timestamp": "yesterday"}), "SCHEMA_INVALID"),
        (json!({"timestamp": "2026-02-17T15:30:00"}), "SCHEMA_INVALID"),
        (json!({"timestamp": "2026-02-17T15:30:00+01:00"}), "OK"),
        (
            json!({"evidence_collected": {"file_checks": [{"path": "a", "exists": false, "size_bytes": 3}]}}),
            "INTEGRITY_MISMATCH",
        ),
        (
            json!({"evidence_collected": {"test_results": {"command": "t", "exit_code": 0, "output_snippet": "x".repeat(501)}}}),
            "SCHEMA_INVALID",
        ),
        (
            json!({"evidence_collected": {"test_results": {"command": "t", "exit_code": 0, "output_snippet": "é".repeat(500)}}}),
            "OK",
        ),
        (
            json!({"evidence_collected": {"api_responses": [{"endpoint": "/a", "method": "GET", "status_code": 99}]}}),
            "SCHEMA_INVALID",
        ),
        (json!({"evidence_collected": {"screenshots": [{"description": "no path"}]}}), "MISSING_REQUIRED_INPUT"),
    ] {
        let mut document = response();
        countersign_contract::prove::merge(&mut document, &patch);
        let decision = decide(&document, &[request()]);
        assert_eq!(decision.code_str(), code, "{patch}: {:#?}", decision.details.diagnostics);
    }
}

#[test]
fn a_nearly_right_response_is_mended() {
    let result =
        |status: &str| json!({"criterion_id": "AC-1", "status": status, "evidence": "tests/cart.rs:41 asserts 400"});
    let response = |more: Value| {
        let mut document = json!({"task_id": "shop-1", "verdict": "PASS", "criteria_results": [result("PASS")], "timestamp": "2026-02-17T14:30:00Z"});
        countersign_contract::prove::merge(&mut document, &more);
        document
    };
    for (name, document) in [
        ("lower case", response(json!({"verdict": "pass", "criteria_results": [result("pass")]}))),
        ("no verdict", response(json!({"verdict": null}))),
        ("a time in another form", response(json!({"timestamp": "2026-02-17 15:30:00+01:00"}))),
        ("another word", response(json!({"verdict": "passed", "criteria_results": [result("passed")]}))),
        (
            "id for criterion_id",
            response(json!({"criteria_results": [{"id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41"}]})),
        ),
        (
            "evidence as a list",
            response(
                json!({"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": ["a.rs:1", "b.rs:2"]}]}),
            ),
        ),
        (
            "evidence as an object",
            response(
                json!({"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": {"file": "a.rs"}}]}),
            ),
        ),
        (
            "a verdict that is too good",
            response(
                json!({"criteria_results": [{"criterion_id": "AC-1", "status": "FAIL", "evidence": "a.rs:1", "remediation": "b"}]}),
            ),
        ),
        ("the same answer twice", response(json!({"criteria_results": [result("PASS"), result("PASS")]}))),
        (
            "everything at once",
            response(
                json!({"verdict": null, "timestamp": null, "criteria_results": [{"id": "AC-1", "result": "ok", "evidence": ["a.rs:1"]}]}),
            ),
        ),
    ] {
        let (document, changes, allowed) = fixed(&document);
        assert!(allowed && !changes.is_empty(), "{name}: {changes:?}\n{document:#}");
    }
}

#[test]
fn a_nearly_right_request_is_mended() {
    let cases = [
        (json!({"claimed_evidence": {"files_modified": []}}), "/claimed_evidence", Value::Null),
        (
            json!({"claimed_evidence": {"files_modified": ["./src//a.rs"]}}),
            "/claimed_evidence/files_modified/0",
            json!("src/a.rs"),
        ),
        (
            json!({"worktree_path": "/w/shop", "claimed_evidence": {"files_modified": ["/w/shop/src/a.rs"]}}),
            "/claimed_evidence/files_modified/0",
            json!("src/a.rs"),
        ),
        (json!({"validation_type": "Code"}), "/validation_type", json!("code")),
    ];
    for (patch, place, expected) in cases {
        let mut document = request();
        document.as_object_mut().unwrap().shift_remove("claimed_evidence");
        countersign_contract::prove::merge(&mut document, &patch);
        let (after, changes, allowed) = fixed(&document);
        assert!(allowed && !changes.is_empty(), "{patch}: {changes:?}");
        assert_eq!(after.pointer(place).cloned().unwrap_or_default(), expected, "{patch}");
    }
}

#[test]
fn an_id_in_another_case_is_spelt_as_the_request_spells_it() {
    let mut document = response();
    document["criteria_results"][0]["criterion_id"] = "f4.1-1".into();
    let decision = decide(&document, &[request()]);
    let unasked = decision.details.diagnostics.iter().find(|it| it.rule == "criterion-unasked").unwrap();
    assert!(unasked.repair.as_ref().unwrap().apply(&mut document));
    assert!(decide(&document, &[request()]).allow);
}

#[test]
fn long_lists_are_judged_whatever_their_order() {
    let count = 20_000;
    let mut request = request();
    let mut response = response();
    request["acceptance_criteria"] =
        (0..count).map(|at| json!({"id": format!("C-{at}"), "description": format!("case {at} is handled")})).collect();
    response["criteria_results"] = (0..count)
        .rev()
        .map(|at| json!({"criterion_id": format!("C-{at}"), "status": "PASS", "evidence": format!("out/{at}.log, line 3")}))
        .collect();
    let decision = decide(&response, std::slice::from_ref(&request));
    assert!(decision.allow, "{:?}", decision.reason);
    response["criteria_results"] = (0..count)
        .map(|at| json!({"criterion_id": format!("D-{at}"), "status": "PASS", "evidence": format!("out/{at}.log, line 3")}))
        .collect();
    assert!(!decide(&response, &[request]).allow);
}

mod patterns {
    use countersign_domain::validation::payload::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn agrees(pattern: &str, text: &str, taken: bool) -> bool {
        let validator = jsonschema::draft202012::new(&json!({ "pattern": pattern })).unwrap();
        validator.is_valid(&json!(text)) == taken
    }

    proptest! {
        #[test]
        fn say_the_same_as_the_tests_written_by_hand(
            text in prop_oneof![
                "[a-zT0-9_-]{0,8}",
                "T-[0-9]{0,4}",
                "(PRD-)?[A-Za0-9-]{0,6}",
                "(promise-)?[0-9a-gA-F]{6,9}",
                "(AC-)?[0-9]{0,8}",
                "[0-9a-gA-F]{5,8}",
                "(https?|ftp)://[a-zA-Z\\[\\]0-9:.@_-]{0,8}(:[0-9]{0,6})?([/?#][ -~é]{0,5})?",
                "https?://\\[[0-9a-g:.]{0,6}\\](:[0-9]{0,6})?/?",
                "[A-Za-z0-9._:/# -]{0,102}",
            ],
        ) {
            prop_assert!(agrees(ValidationTaskId::PATTERN, &text, ValidationTaskId::parse(&text).is_some()), "task {}", text);
            prop_assert!(agrees(PrdId::PATTERN, &text, PrdId::parse(&text).is_some()), "prd {}", text);
            prop_assert!(agrees(CriterionId::PATTERN, &text, CriterionId::parse(&text).is_some()), "criterion {}", text);
            prop_assert!(agrees(CommitHash::PATTERN, &text, CommitHash::parse(&text).is_some()), "commit {}", text);
            prop_assert!(agrees(WebAddress::PATTERN, &text, WebAddress::parse(&text).is_some()), "address {}", text);
            prop_assert!(agrees(PromiseId::PATTERN, &text, PromiseId::parse(&text).is_some()), "promise {}", text);
            let id = PromiseCriterionId::parse(&text);
            prop_assert!(agrees(PromiseCriterionId::PATTERN, &text, id.is_some()), "promised {}", text);
        }
    }
}

#[test]
fn what_only_the_validator_can_say_is_not_mended() {
    let response = |verdict: &str, result: Value| json!({"task_id": "shop-1", "verdict": verdict, "criteria_results": [result], "timestamp": "2026-02-17T14:30:00Z"});
    let result = |status: &str, evidence: &str| json!({"criterion_id": "AC-1", "status": status, "evidence": evidence});
    for (name, document) in [
        ("a verdict that is worse than its results", response("FAIL", result("PASS", "a.rs:1"))),
        ("a word that holds both answers", response("PASS", result("PASS/FAIL", "a.rs:1"))),
        ("a word for something else", response("PASS", result("completed", "a.rs:1"))),
        ("no evidence", response("PASS", json!({"criterion_id": "AC-1", "status": "PASS"}))),
        ("empty evidence", response("PASS", result("PASS", " "))),
        ("evidence that shows nothing", response("PASS", result("PASS", "verified"))),
        (
            "no task",
            json!({"verdict": "PASS", "criteria_results": [result("PASS", "a.rs:1")], "timestamp": "2026-02-17T14:30:00Z"}),
        ),
    ] {
        let (after, changes, allowed) = fixed(&document);
        assert!(!allowed, "{name}: {changes:?}\n{after:#}");
    }
}

#[test]
fn the_schemas_take_the_examples() {
    for contract in countersign_domain::validation::CONTRACTS {
        let schema = (contract.schema)();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let example = (contract.example)();
        assert!(validator.is_valid(&example), "{}: {:?}", contract.name, validator.validate(&example));
    }
    let validator =
        jsonschema::draft202012::new(&(countersign_domain::contract("validation_response").unwrap().schema)());
    assert!(validator.unwrap().is_valid(&response()));
    let validator =
        jsonschema::draft202012::new(&(countersign_domain::contract("validation_request").unwrap().schema)());
    assert!(validator.unwrap().is_valid(&request()));
}
