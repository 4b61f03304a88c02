//! Who may validate, what, and when; and what a response must be.

use crate::stage::{COMMIT, OTHER, Stage, code, of_words, plan, response, shows, task, with, word};
use serde_json::{Value, json};

#[test]
fn only_somebody_else_validates_what_is_claimed_under_its_lease() {
    let bent = |stage: &Stage, more: Value| with(stage.validation("T-1", "critic", &["PASS", "PASS"]), more);
    let named = |name: &str| json!({ "validator": name, "response": response("T-1", "critic", &["PASS", "PASS"]) });
    // What is wrong, who asks, what is asked otherwise, and the code.
    let table: Vec<(&str, &str, Value, &str)> = vec![
        ("the author validates", "ana", named("coder"), "AUTHORIZATION_MISSING"),
        ("the author, in capitals", "ana", named("Coder"), "AUTHORIZATION_MISSING"),
        ("the author says so", "coder", json!({}), "AUTHORIZATION_MISSING"),
        ("a person is quoted", "ana", named("person"), "AUTHORIZATION_MISSING"),
        ("another lease", "ana", json!({ "lease": 1 }), "CONCURRENCY_CONFLICT"),
        ("no lease", "ana", json!({ "lease": null }), "CONCURRENCY_CONFLICT"),
        ("about nothing", "ana", json!({ "bound": null }), "MISSING_REQUIRED_INPUT"),
        ("no such task", "ana", json!({ "task_id": "T-9" }), "DEPENDENCY_NOT_MET"),
        ("no subject", "ana", json!({ "task_id": null }), "MISSING_REQUIRED_INPUT"),
        ("two subjects", "ana", json!({ "promise_id": "promise-00000000" }), "MISSING_REQUIRED_INPUT"),
    ];
    for (what, who, more, expected) in table {
        let stage = Stage::claimed(of_words(1));
        let before = stage.desk.head();
        let mut request = bent(&stage, more);
        request.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let (code, reason) = stage.ask(who, "gate.validate", &request).unwrap_err();
        assert_eq!(code, expected, "{what}: {reason}");
        assert_eq!(stage.desk.kinds_since(before), ["command.refused"], "{what}");
        assert_eq!(stage.gate("T-1")["verdicts"], json!([]), "{what}");
    }
}

#[test]
fn nothing_is_validated_before_it_is_claimed() {
    let stage = Stage::of(of_words(1));
    let asked =
        |stage: &Stage| stage.ask("ana", "gate.validate", &stage.validation("T-1", "critic", &["PASS", "PASS"]));
    assert_eq!(code(asked(&stage)), "DEPENDENCY_NOT_MET");
    stage.claim("coder", "T-1");
    assert_eq!(code(asked(&stage)), "DEPENDENCY_NOT_MET");
    stage.desk.ok("coder", "task.submit", json!({ "result": stage.result("T-1", "done") }));
    assert_eq!(asked(&stage).unwrap()["verdict"], "PASS");
}

#[test]
fn a_task_without_gates_has_none() {
    let desk = crate::desk::Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    let stage = Stage { desk, run };
    stage.desk.claim("coder", "T-1");
    assert_eq!(
        code(stage.ask("ana", "gate.validate", &stage.validation("T-1", "critic", &["PASS"]))),
        "INVALID_TRANSITION"
    );
    assert_eq!(code(stage.land("T-1", COMMIT)), "INVALID_TRANSITION");
}

#[test]
fn whoever_ever_worked_on_it_does_not_validate_it() {
    let stage = Stage::of(of_words(3));
    stage.claim("coder", "T-1");
    stage.desk.ok("coder", "task.release", json!({ "task_id": "T-1", "reason": "too hard" }));
    stage.work("T-1");
    let response = json!({ "response": response("T-1", "critic", &["PASS", "PASS"]) });
    let by_coder = with(stage.validation("T-1", "coder", &["PASS", "PASS"]), response);
    assert_eq!(code(stage.ask("ana", "gate.validate", &by_coder)), "AUTHORIZATION_MISSING");
    let through_coder = stage.validation("T-1", "critic", &["PASS", "PASS"]);
    assert_eq!(code(stage.ask("coder", "gate.validate", &through_coder)), "AUTHORIZATION_MISSING");
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(code(stage.ask("coder", "gate.land", &stage.at("T-1"))), "AUTHORIZATION_MISSING");
}

#[test]
fn a_response_answers_what_was_asked_and_nothing_else() {
    let good = || response("T-1", "critic", &["PASS", "PASS"]);
    let bent = |bend: fn(&mut Value)| {
        let mut response = good();
        bend(&mut response);
        response
    };
    let table: Vec<(&str, Value, &str)> = vec![
        ("a criterion is left out", response("T-1", "critic", &["PASS"]), "CORRELATION_MISMATCH"),
        ("one more is answered", response("T-1", "critic", &["PASS", "PASS", "PASS"]), "CORRELATION_MISMATCH"),
        (
            "one is answered twice",
            bent(|it| it["criteria_results"][1]["criterion_id"] = json!("AC-1")),
            "CORRELATION_MISMATCH",
        ),
        ("the verdict does not follow", bent(|it| it["verdict"] = json!("PARTIAL")), "NON_COMPLIANT"),
        (
            "a PASS that does not follow",
            bent(|it| it["criteria_results"][1]["status"] = json!("FAIL")),
            "NON_COMPLIANT",
        ),
        ("another task", bent(|it| it["task_id"] = json!("T-2")), "CORRELATION_MISMATCH"),
        ("nobody looked", bent(|it| it["validator_id"] = Value::Null), "SCHEMA_INVALID"),
        ("the author looked", bent(|it| it["validator_id"] = json!("coder")), "MISSING_VALIDATOR"),
        (
            "words that show nothing",
            bent(|it| it["criteria_results"][0]["evidence"] = json!("ok")),
            "ACCEPTANCE_FAILED",
        ),
        (
            "tests that failed",
            bent(|it| it["evidence_collected"] = json!({ "test_results": { "command": "pytest", "exit_code": 1 } })),
            "NON_COMPLIANT",
        ),
        ("no response", json!({ "result": "pass" }), "MISSING_REQUIRED_INPUT"),
        ("no document", json!("verdict: ["), "SCHEMA_INVALID"),
    ];
    for (what, response, expected) in table {
        let stage = Stage::claimed(of_words(1));
        let request = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), json!({ "response": response }));
        let (code, reason) = stage.ask("ana", "gate.validate", &request).unwrap_err();
        assert_eq!(code, expected, "{what}: {reason}");
        assert_eq!(stage.gate("T-1")["verdicts"], json!([]), "{what}");
    }
    let stage = Stage::claimed(of_words(1));
    let text = json!({ "response": good().to_string() });
    stage.ask("ana", "gate.validate", &with(stage.validation("T-1", "critic", &["PASS", "PASS"]), text)).unwrap();
}

#[test]
fn a_request_is_answered_once_by_each() {
    let stage = Stage::claimed(plan(&[task("T-1", &[word(1), word(2)])], json!({ "validate": ["critic", "editor"] })));
    stage.validate("critic", &["PASS", "FAIL"]);
    let before = stage.desk.head();
    let same = stage.ask("ana", "gate.validate", &stage.validation("T-1", "critic", &["PASS", "FAIL"])).unwrap();
    assert_eq!((stage.desk.head(), &same["seq"]), (before, &Value::Null));
    let otherwise = stage.validation("T-1", "critic", &["PASS", "PASS"]);
    assert_eq!(code(stage.ask("ana", "gate.validate", &otherwise)), "INVALID_TRANSITION");
    assert_eq!(stage.gate("T-1")["unvalidated"], json!(["editor"]));
}

#[test]
fn everything_is_about_the_same() {
    let stage = Stage::claimed(plan(&[task("T-1", &[word(1), word(2)])], json!({ "validate": ["critic", "editor"] })));
    stage.validate("critic", &["PASS", "PASS"]);
    for bound in [json!(OTHER), Value::Null] {
        let mut request = with(stage.validation("T-1", "editor", &["PASS", "PASS"]), json!({ "bound": bound }));
        request.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(code(stage.ask("ana", "gate.validate", &request)), "INTEGRITY_MISMATCH", "{bound}");
    }
    stage.validate("editor", &["PASS", "PASS"]);
    assert_eq!(stage.gate("T-1")["bound"], COMMIT);
}

#[test]
fn what_was_collected_is_on_record_and_its_texts_are_apart() {
    let stage = Stage::claimed(of_words(1));
    let evidence = with(shows("AC-1", "command", "PASS"), json!({ "output": "all is well", "exit_code": 0 }));
    let request = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), json!({ "evidence": [evidence] }));
    stage.ask("ana", "gate.validate", &request).unwrap();
    let collected = stage.last("evidence.collected");
    assert_eq!((&collected["criterion"], &collected["bound"]), (&json!("AC-1"), &json!(COMMIT)));
    assert!(!collected.to_string().contains("all is well"), "{collected}");
    let given = stage.last("gate.validated");
    assert_eq!(given["evidence"].as_array().unwrap().len(), 1);
    assert_eq!(given["results"], json!({ "AC-1": "PASS", "AC-2": "PASS" }));
}
