//! A person validates: their word is enough where a word was asked for, and what they saw fail counts everywhere.

use crate::stage::{COMMIT, Stage, asking, checked, code, plan, reviewer, say, shows, task, with};
use serde_json::{Value, json};

/// A run with a criterion that tests decide and one that a person does. The tests have passed.
fn half_validated() -> Stage {
    let human = checked(2, json!({ "human": "does the page look right?" }));
    let only = with(task("T-1", &[asking(1, "test"), human]), json!({ "retries": 0 }));
    let stage = Stage::claimed(plan(&[only], json!({})));
    let evidence = json!({ "evidence": [shows("AC-1", "test", "PASS")] });
    let request = with(stage.validation("T-1", "builtin", &["PASS", "SKIP"]), evidence);
    assert_eq!(stage.ask("ana", "gate.validate", &request).unwrap()["status"], "blocked");
    stage
}

fn saw(results: &[(&str, &str)]) -> Value {
    let results: Vec<Value> = results
        .iter()
        .map(|(id, status)| json!({ "criterion": id, "status": status, "evidence": "I opened the page" }))
        .collect();
    json!({ "results": results })
}

#[test]
fn a_person_is_asked_for_what_only_a_person_can_say() {
    let stage = half_validated();
    let [item] = &stage.inbox()[..] else { panic!() };
    assert_eq!((&item["asks"], &item["failures"]), (&json!("validation"), &json!(["AC-2"])));
    assert!(item["answers"][0].as_str().unwrap().contains("gate testify T-1 --pass AC-2"), "{item}");
    assert!(item["answers"][1].as_str().unwrap().contains("gate testify T-1 --fail AC-2"), "{item}");
    let request =
        with(json!({ "run_id": stage.run, "task_id": "T-1", "shown": item["shown"] }), saw(&[("AC-2", "PASS")]));
    assert_eq!(code(stage.ask("pia", "gate.testify", &request)), "AUTHORIZATION_MISSING");
    assert_eq!(code(say(&stage.desk, &reviewer("coder"), "gate.testify", &request)), "AUTHORIZATION_MISSING");
    let stale = with(request.clone(), json!({ "shown": "0123456789abcdef.30000000" }));
    assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.testify", &stale)), "INTEGRITY_MISMATCH");
    say(&stage.desk, &reviewer("pia"), "gate.testify", &request).unwrap();
    assert_eq!(stage.status("T-1"), "todo");
    assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.testify", &request)), "INVALID_TRANSITION");
    stage.claim("coder", "T-1");
    stage.land("T-1", COMMIT).unwrap();
    assert_eq!(stage.task("T-1")["task"]["assurance"], "verified");
}

#[test]
fn what_a_person_saw_counts_as_far_as_a_word_goes() {
    // What they say, what counts of it, what both criteria come to, and what is asked then.
    let table: Vec<(Value, Value, &str, Option<&str>)> = vec![
        (saw(&[("AC-2", "PASS")]), json!({ "AC-1": "SKIP", "AC-2": "PASS" }), "todo", None),
        (saw(&[("AC-1", "PASS"), ("AC-2", "PASS")]), json!({ "AC-1": "SKIP", "AC-2": "PASS" }), "todo", None),
        (saw(&[("AC-2", "FAIL")]), json!({ "AC-1": "SKIP", "AC-2": "FAIL" }), "blocked", Some("acceptance")),
        (saw(&[("AC-2", "SKIP")]), json!({ "AC-1": "SKIP", "AC-2": "SKIP" }), "blocked", Some("acceptance")),
        (
            saw(&[("AC-1", "FAIL"), ("AC-2", "PASS")]),
            json!({ "AC-1": "FAIL", "AC-2": "PASS" }),
            "blocked",
            Some("acceptance"),
        ),
        (
            saw(&[("AC-1", "FAIL"), ("AC-2", "FAIL")]),
            json!({ "AC-1": "FAIL", "AC-2": "FAIL" }),
            "blocked",
            Some("decision"),
        ),
        (
            saw(&[("AC-1", "BLOCKED"), ("AC-2", "SKIP")]),
            json!({ "AC-1": "BLOCKED", "AC-2": "SKIP" }),
            "blocked",
            Some("decision"),
        ),
    ];
    for (said, counted, status, asks) in table {
        let stage = half_validated();
        stage.answer("gate.testify", said.clone()).unwrap();
        let given = stage.last("gate.validated");
        assert_eq!((&given["validator"], &given["results"]), (&json!("person"), &counted), "{said}");
        assert_eq!(given["bound"], COMMIT, "{said}");
        assert_eq!(stage.status("T-1"), status, "{said}");
        assert_eq!(stage.inbox().first().and_then(|item| item["asks"].as_str()), asks, "{said}");
    }
}

#[test]
fn a_person_answers_each_criterion_once_and_no_other() {
    let stage = half_validated();
    assert_eq!(code(stage.answer("gate.testify", saw(&[("AC-3", "PASS")]))), "MISSING_REQUIRED_INPUT");
    assert_eq!(code(stage.answer("gate.testify", saw(&[("AC-2", "FAIL"), ("AC-2", "PASS")]))), "INVALID_TRANSITION");
    assert_eq!(code(stage.answer("gate.testify", json!({ "results": [] }))), "MISSING_REQUIRED_INPUT");
    assert_eq!(stage.gate("T-1")["unvalidated"], json!(["person"]));
}

#[test]
fn nobody_testifies_where_nobody_is_asked() {
    let stage = Stage::claimed(crate::stage::of_words(0));
    assert_eq!(code(stage.answer("gate.testify", saw(&[("AC-1", "PASS")]))), "INVALID_TRANSITION");
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(code(stage.answer("gate.testify", saw(&[("AC-1", "PASS")]))), "INVALID_TRANSITION");
}

#[test]
fn what_a_person_saw_in_their_absence_is_not_made_up() {
    // Nobody can validate in a person's name, and the built-in validator alone does not let the work pass.
    let stage = half_validated();
    let forged = stage.validation("T-1", "person", &["PASS", "PASS"]);
    assert_eq!(code(stage.ask("ana", "gate.validate", &forged)), "AUTHORIZATION_MISSING");
    assert_eq!(stage.gate("T-1")["passed"], false);
}

#[test]
fn a_person_is_shown_what_was_bound_before_they_are_heard() {
    let stage = Stage::claimed(plan(&[task("T-1", &[crate::stage::word(1)])], json!({ "validate": "person" })));
    assert_eq!(stage.gate("T-1")["unvalidated"], json!(["person"]));
    assert_eq!(code(stage.answer("gate.testify", saw(&[("AC-1", "PASS")]))), "DEPENDENCY_NOT_MET");
    // The built-in validator has nothing to say, and says so about a commit.
    assert_eq!(stage.validate("builtin", &["SKIP"])["status"], "blocked");
    assert_eq!(stage.inbox()[0]["asks"], "validation");
    stage.answer("gate.testify", saw(&[("AC-1", "PASS")])).unwrap();
    stage.claim("coder", "T-1");
    stage.land("T-1", COMMIT).unwrap();
    assert_eq!(stage.task("T-1")["task"]["assurance"], "verified");
}
