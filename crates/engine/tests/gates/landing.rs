//! Work lands when it is through every gate, as what was looked at, and not otherwise.

use crate::stage::{COMMIT, OTHER, Stage, code, of_words, plan, shows, task, with, word};
use serde_json::{Value, json};

#[test]
fn nothing_lands_before_every_gate_is_passed() {
    let stage = Stage::of(plan(&[task("T-1", &[word(1), word(2)])], json!({ "validate": ["critic", "editor"] })));
    let refused = |stage: &Stage| code(stage.land("T-1", COMMIT));
    assert_eq!(refused(&stage), "ACCEPTANCE_FAILED");
    stage.claim("coder", "T-1");
    assert_eq!(refused(&stage), "ACCEPTANCE_FAILED");
    stage.desk.ok("coder", "task.submit", json!({ "result": stage.result("T-1", "done") }));
    assert_eq!(refused(&stage), "ACCEPTANCE_FAILED");
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(refused(&stage), "ACCEPTANCE_FAILED");
    stage.validate("editor", &["PASS", "PASS"]);
    // Only under its lease, and by nobody who did the work.
    let request = stage.at("T-1");
    assert_eq!(
        code(stage.ask("ana", "gate.land", &with(request.clone(), json!({ "lease": 1 })))),
        "CONCURRENCY_CONFLICT"
    );
    assert_eq!(code(stage.ask("coder", "gate.land", &request)), "AUTHORIZATION_MISSING");
    stage.ask("ana", "gate.land", &with(request.clone(), json!({ "commit": OTHER }))).unwrap();
    assert_eq!((stage.status("T-1"), &stage.last("task.completed")["commit"]), ("done".to_owned(), &json!(OTHER)));
    assert_eq!(code(stage.ask("ana", "gate.land", &request)), "INVALID_TRANSITION");
}

#[test]
fn what_is_not_what_was_looked_at_is_looked_at_again() {
    let stage = Stage::claimed(of_words(0));
    stage.validate("critic", &["PASS", "PASS"]);
    let before = stage.desk.head();
    assert_eq!(code(stage.land("T-1", OTHER)), "INTEGRITY_MISMATCH");
    assert_eq!(stage.desk.kinds_since(before), ["gate.stale", "command.refused"]);
    assert_eq!(stage.last("gate.stale")["found"], OTHER);
    let gate = stage.gate("T-1");
    assert_eq!((&gate["gate"], &gate["verdicts"], &gate["bound"]), (&json!(2), &json!([]), &Value::Null));
    assert_eq!(stage.status("T-1"), "in_progress", "the claim stands");
    assert_eq!(code(stage.land("T-1", COMMIT)), "ACCEPTANCE_FAILED");
    let request = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), json!({ "bound": OTHER }));
    stage.ask("ana", "gate.validate", &request).unwrap();
    stage.land("T-1", OTHER).unwrap();
    assert_eq!(stage.status("T-1"), "done");
}

#[test]
fn a_judgement_and_an_acceptance_fall_with_what_they_were_about() {
    let stage = Stage::claimed(crate::stage::with_judge(json!("arbiter")));
    stage.validate("critic", &["PASS", "FAIL"]);
    stage.accept(&["AC-2"]).unwrap();
    stage.claim("coder", "T-1");
    stage.judge("arbiter", "PASS").unwrap();
    assert_eq!(code(stage.land("T-1", OTHER)), "INTEGRITY_MISMATCH");
    let gate = stage.gate("T-1");
    assert_eq!((&gate["accepted"], &gate["judgement"]), (&json!([]), &Value::Null));
}

#[test]
fn what_does_not_hold_on_top_of_others_is_done_again() {
    let cases: [(&[Value], bool, &str, &[&str]); 5] = [
        (&[shows("AC-1", "test", "PASS"), shows("AC-2", "file", "PASS")], false, "in_progress", &[]),
        (&[shows("AC-1", "test", "FAIL")], false, "todo", &["gate.stale", "task.blocked", "task.requeued"]),
        (
            &[shows("AC-1", "test", "PASS"), shows("AC-2", "file", "BLOCKED")],
            false,
            "todo",
            &["gate.stale", "task.blocked", "task.requeued"],
        ),
        // What a person has accepted as it is need not hold now.
        (&[shows("AC-1", "test", "PASS"), shows("AC-2", "file", "FAIL")], true, "in_progress", &[]),
        (
            &[shows("AC-1", "test", "FAIL"), shows("AC-2", "file", "FAIL")],
            true,
            "todo",
            &["gate.stale", "task.blocked", "task.requeued"],
        ),
    ];
    for (evidence, accepts, status, follows) in cases {
        let stage = Stage::claimed(of_words(if accepts { 0 } else { 1 }));
        if accepts {
            stage.validate("critic", &["PASS", "FAIL"]);
            stage.accept(&["AC-2"]).unwrap();
            stage.claim("coder", "T-1");
        } else {
            stage.validate("critic", &["PASS", "PASS"]);
        }
        let mut request = with(stage.at("T-1"), json!({ "merged": OTHER, "evidence": evidence }));
        assert_eq!(code(stage.ask("coder", "gate.recheck", &request)), "AUTHORIZATION_MISSING");
        request["bound"] = json!(OTHER);
        assert_eq!(code(stage.ask("ana", "gate.recheck", &request)), "INTEGRITY_MISMATCH");
        request["bound"] = json!(COMMIT);
        let before = stage.desk.head();
        stage.ask("ana", "gate.recheck", &request).unwrap();
        let kinds = stage.desk.kinds_since(before);
        assert!(kinds.iter().take(evidence.len()).all(|kind| kind == "evidence.collected"), "{kinds:?}");
        let status = if accepts && status == "todo" { "blocked" } else { status };
        let follows = if status == "blocked" { &follows[..2] } else { follows };
        let after: Vec<&str> = kinds[evidence.len()..].iter().map(String::as_str).collect();
        assert_eq!((after.as_slice(), stage.status("T-1").as_str()), (follows, status), "{evidence:?}");
        if status == "in_progress" {
            stage.land("T-1", COMMIT).unwrap();
        } else {
            assert_eq!(stage.last("gate.stale")["found"], OTHER);
            assert!(stage.gate("T-1")["last"].as_str().unwrap().contains("on top of what has landed since"));
        }
    }
}

#[test]
fn what_lands_frees_what_waited_for_it() {
    let second = with(task("T-2", &[word(1)]), json!({ "depends_on": ["T-1"] }));
    let stage = Stage::claimed(plan(&[task("T-1", &[word(1)]), second], json!({ "validate": "critic" })));
    let claim = json!({ "task_id": "T-2" });
    assert_eq!(stage.desk.code("coder", "task.claim", claim.clone()), "DEPENDENCY_NOT_MET");
    stage.ask("ana", "gate.validate", &stage.validation("T-1", "critic", &["PASS"])).unwrap();
    assert_eq!(stage.desk.code("coder", "task.claim", claim), "DEPENDENCY_NOT_MET", "a verdict is not yet a landing");
    assert!(stage.land("T-1", COMMIT).is_ok());
    assert_eq!(stage.last("task.completed")["frees"], json!(["T-2"]));
    stage.work("T-2");
    stage.ask("ana", "gate.validate", &stage.validation("T-2", "critic", &["PASS"])).unwrap();
    stage.land("T-2", COMMIT).unwrap();
    assert_eq!(stage.desk.ok("ana", "run.close", json!({}))["status"], "closed");
    let findings = stage.desk.look("ana", "reconcile", json!({ "run_id": stage.run }))["findings"].clone();
    let reasons = findings.as_array().unwrap().iter().map(|it| it["reason"].as_str().unwrap());
    // Nobody kept a log here; all else is as it should be.
    assert!(reasons.clone().all(|it| it.ends_with("its worklog has no line in the ledger")), "{findings}");
}

#[test]
fn a_task_that_is_given_up_takes_its_promise_with_it() {
    let ends: [(&str, &str, Value); 3] = [
        ("task.cancel", "canceled", json!({ "task_id": "T-1", "reason": "not wanted" })),
        ("task.fail", "failed", json!({ "task_id": "T-1", "code": "ACCEPTANCE_FAILED", "reason": "no way" })),
        ("run.cancel", "canceled", json!({ "reason": "not wanted" })),
    ];
    for (id, status, request) in ends {
        let stage = Stage::claimed(of_words(0));
        stage.validate("critic", &["PASS", "PASS"]);
        let landing = stage.at("T-1");
        stage.decide(id, request).unwrap();
        assert_eq!(
            (stage.status("T-1"), &stage.gate("T-1")["status"]),
            (status.to_owned(), &json!("cancelled")),
            "{id}"
        );
        assert_eq!(stage.gate("T-1")["passed"], false, "{id}");
        assert_eq!(code(stage.ask("ana", "gate.land", &landing)), "INVALID_TRANSITION", "{id}");
    }
}
