//! What becomes of a result where gates stand between it and done.

use crate::stage::{Stage, code, of_words, with};
use serde_json::json;

#[test]
fn a_result_is_a_claim_and_no_more() {
    let stage = Stage::of(of_words(1));
    assert_eq!(stage.gate("T-1")["reason"], "no result was brought yet");
    stage.claim("coder", "T-1");
    let brought = stage.desk.ok("coder", "task.submit", json!({ "result": stage.result("T-1", "done") }));
    assert!(brought["result"].is_u64() && brought["assurance"].is_null(), "{brought}");
    let task = stage.task("T-1");
    assert_eq!((&task["task"]["status"], &task["result"]), (&json!("in_progress"), &brought["result"]));
    let gate = stage.gate("T-1");
    assert_eq!((&gate["gate"], &gate["unvalidated"]), (&json!(2), &json!(["critic"])));
    // It cannot be taken back, nor said twice.
    let again = json!({ "result": stage.result("T-1", "done") });
    assert_eq!(stage.desk.code("coder", "task.submit", again), "INVALID_TRANSITION");
    let fails = json!({ "result": stage.result("T-1", "failed") });
    assert_eq!(stage.desk.code("coder", "task.submit", fails), "INVALID_TRANSITION");
    assert_eq!(stage.task("T-1")["result"], brought["result"]);
}

#[test]
fn a_worker_who_fails_is_believed() {
    for (said, retries, status, code) in [
        ("failed", 1, "todo", None),
        ("failed", 0, "blocked", Some("ACCEPTANCE_FAILED: ")),
        ("blocked", 1, "blocked", Some("ACCEPTANCE_FAILED: ")),
    ] {
        let stage = Stage::of(of_words(retries));
        stage.claim("coder", "T-1");
        stage.desk.ok("coder", "task.submit", json!({ "result": stage.result("T-1", said) }));
        let task = stage.task("T-1")["task"].clone();
        assert_eq!(task["status"], status, "{said} {retries}");
        match code {
            None => assert!(task["blocker"].is_null()),
            Some(code) => assert!(task["blocker"].as_str().unwrap().starts_with(code), "{task}"),
        }
        let gate = stage.gate("T-1");
        assert_eq!(gate["gate"], 1, "{said} {retries}");
        assert!(gate["last"].as_str().unwrap().starts_with("attempt 1: "), "{gate}");
    }
}

#[test]
fn a_new_result_is_looked_at_anew() {
    let stage = Stage::claimed(of_words(0));
    stage.validate("critic", &["PASS", "FAIL"]);
    stage.accept(&["AC-2"]).unwrap();
    // Its worker takes it up again, and instead of leaving it as it was accepted brings something else.
    stage.work("T-1");
    let gate = stage.gate("T-1");
    assert_eq!((&gate["gate"], &gate["verdicts"], &gate["accepted"]), (&json!(2), &json!([]), &json!([])));
    assert_eq!(code(stage.land("T-1", crate::stage::COMMIT)), "ACCEPTANCE_FAILED");
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(stage.land("T-1", crate::stage::COMMIT).unwrap()["status"], "done");
}

#[test]
fn a_result_that_lacks_a_criterion_claims_nothing() {
    let stage = Stage::of(of_words(1));
    stage.claim("coder", "T-1");
    let mut short = stage.result("T-1", "done");
    short["acceptance_check"].as_array_mut().unwrap().pop();
    stage.desk.refused("coder", "task.submit", json!({ "result": short }));
    assert_eq!(stage.gate("T-1")["gate"], 1);
    let empty = with(stage.result("T-1", "done"), json!({ "acceptance_check": [] }));
    assert_eq!(stage.desk.code("coder", "task.submit", json!({ "result": empty })), "ACCEPTANCE_FAILED");
    assert_eq!(stage.gate("T-1")["gate"], 1);
}
