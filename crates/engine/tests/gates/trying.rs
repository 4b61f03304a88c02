//! Work that does not pass is tried again within its budget, and then somebody must decide.

use crate::stage::{COMMIT, OTHER, Reached, Stage, code, of_words, owner, say, with};
use serde_json::{Value, json};

#[test]
fn work_that_fails_is_tried_again_as_often_as_the_plan_says() {
    for retries in [0, 1, 3] {
        let stage = Stage::of(of_words(retries));
        for attempt in 1..=retries + 1 {
            assert_eq!(stage.inbox(), Vec::<Value>::new(), "{retries} {attempt}");
            stage.work("T-1");
            assert_eq!(stage.task("T-1")["task"]["attempt"], attempt);
            let answer = stage.validate("critic", &["FAIL", "SKIP"]);
            let gate = stage.gate("T-1");
            assert_eq!((&answer["verdict"], &gate["gate"]), (&json!("FAIL"), &json!(1)), "{retries} {attempt}");
            assert_eq!(gate["last"], format!("attempt {attempt}: validated as FAIL: AC-1, AC-2"));
            assert_eq!(gate["last_responses"].as_array().unwrap().len(), 1);
            assert!(gate["last_responses"][0].as_str().unwrap().contains("round to even"), "{gate}");
        }
        assert_eq!(stage.status("T-1"), "blocked", "{retries}");
        let [item] = &stage.inbox()[..] else { panic!("{:?}", stage.inbox()) };
        assert_eq!((&item["asks"], &item["code"]), (&json!("decision"), &json!("ACCEPTANCE_FAILED")));
        assert_eq!(code(stage.accept(&["AC-1", "AC-2"])), "INVALID_TRANSITION");
        // It goes on as its orchestrator decides.
        stage.decide("task.unblock", json!({ "task_id": "T-1", "reason": "the tests were wrong" })).unwrap();
        stage.work("T-1");
        stage.validate("critic", &["PASS", "PASS"]);
        assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done");
    }
}

#[test]
fn what_could_not_be_looked_at_is_not_tried_again() {
    let stage = Stage::claimed(of_words(3));
    let answer = stage.validate("critic", &["SKIP", "BLOCKED"]);
    assert_eq!((&answer["verdict"], &answer["status"]), (&json!("BLOCKED"), &json!("blocked")));
    let [item] = &stage.inbox()[..] else { panic!() };
    assert_eq!((&item["asks"], &item["code"]), (&json!("decision"), &json!("MISSING_VALIDATOR")));
    assert_eq!(stage.task("T-1")["failures"], json!({}), "it is not the worker's failure");
}

#[test]
fn half_of_it_is_tried_again_while_there_is_budget_and_then_a_person_is_asked() {
    let stage = Stage::of(of_words(1));
    stage.work("T-1");
    stage.validate("critic", &["PASS", "FAIL"]);
    assert_eq!(stage.status("T-1"), "todo");
    assert_eq!(code(stage.accept(&["AC-2"])), "INVALID_TRANSITION");
    stage.work("T-1");
    stage.validate("critic", &["PASS", "SKIP"]);
    let [item] = &stage.inbox()[..] else { panic!() };
    assert_eq!((&item["asks"], &item["failures"]), (&json!("acceptance"), &json!(["AC-2"])));
    assert_eq!(item["shown"], stage.gate("T-1")["shown"]);
    // Another worker has a budget of its own.
    stage.decide("task.unblock", json!({ "task_id": "T-1", "reason": "somebody else tries" })).unwrap();
    assert_eq!((&stage.gate("T-1")["verdicts"], stage.inbox().len()), (&json!([]), 0));
}

#[test]
fn each_attempt_is_about_its_own_work() {
    let stage = Stage::of(of_words(1));
    let first = stage.work("T-1");
    stage.validate("critic", &["FAIL", "FAIL"]);
    stage.work("T-1");
    let late = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), json!({ "lease": first }));
    assert_eq!(code(stage.ask("ana", "gate.validate", &late)), "CONCURRENCY_CONFLICT");
    // What is found now is bound to something else than before.
    let request = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), json!({ "bound": OTHER }));
    stage.ask("ana", "gate.validate", &request).unwrap();
    assert_eq!(stage.land("T-1", OTHER).unwrap()["status"], "done");
    let shown = stage.desk.look("ana", "run.show", json!({}));
    assert_eq!((&shown["metrics"]["retries"], &shown["metrics"]["retries_won"]), (&json!(1), &json!(1)));
}

#[test]
fn a_worker_who_falls_silent_loses_what_it_claimed() {
    // While nobody has looked, while one of two has, and while it only had to land.
    let stages: [Reached; 3] = [
        ("unvalidated", |_| {}),
        ("looked at", |stage| {
            stage.ask("ana", "gate.validate", &stage.validation("T-1", "builtin", &["SKIP", "SKIP"])).unwrap();
        }),
        ("passed", |stage| {
            stage.validate("critic", &["PASS", "PASS"]);
        }),
    ];
    for (what, prepare) in stages {
        let stage = Stage::of(of_words(1));
        let lease = stage.work("T-1");
        prepare(&stage);
        let request = stage.at("T-1");
        stage.desk.pass(601);
        assert_eq!(stage.desk.engine.settle(8).unwrap(), 1, "{what}");
        assert_eq!(stage.status("T-1"), "todo", "{what}");
        let gate = stage.gate("T-1");
        assert_eq!((&gate["gate"], &gate["verdicts"], &gate["bound"]), (&json!(1), &json!([]), &Value::Null), "{what}");
        assert_eq!(gate["last"], "attempt 1: coder gave no sign of life for 600 s", "{what}");
        assert_eq!(code(stage.ask("ana", "gate.land", &request)), "ACCEPTANCE_FAILED", "{what}");
        let again = stage.work("T-1");
        assert!(again > lease, "{what}");
        stage.validate("critic", &["PASS", "PASS"]);
        assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done", "{what}");
    }
}

#[test]
fn a_claim_stands_however_often_whoever_led_the_run_was_gone() {
    // `return`: the next one gives the task back under a lease that is alive. `lapse`: the lease has lapsed by then.
    for ways in [&["return", "return"][..], &["return", "lapse"], &["lapse", "return"], &["lapse", "lapse", "return"]] {
        for retries in [0, 1] {
            let stage = Stage::of(of_words(retries));
            let mut lease = stage.work("T-1");
            let claim = stage.gate("T-1")["claim"].clone();
            for way in ways {
                if *way == "lapse" {
                    stage.desk.pass(601);
                    assert_eq!(stage.desk.engine.settle(8).unwrap(), 1, "{ways:?}");
                }
                let gone = json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease, "reason": "it was gone" });
                say(&stage.desk, &owner("olga"), "attempt.return", &gone).unwrap();
                assert_eq!((stage.status("T-1").as_str(), &stage.gate("T-1")["claim"]), ("todo", &claim), "{ways:?}");
                lease = stage.claim("coder", "T-1");
            }
            stage.validate("critic", &["PASS", "PASS"]);
            assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done", "{ways:?}");
        }
    }
}

#[test]
fn what_did_not_pass_is_not_claimed_again_because_the_next_attempt_lapsed() {
    let stage = Stage::of(of_words(3));
    stage.work("T-1");
    stage.validate("critic", &["FAIL", "FAIL"]);
    let lease = stage.claim("coder", "T-1");
    stage.desk.pass(601);
    assert_eq!(stage.desk.engine.settle(8).unwrap(), 1);
    let gone = json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease, "reason": "it was gone" });
    say(&stage.desk, &owner("olga"), "attempt.return", &gone).unwrap();
    assert_eq!((stage.status("T-1").as_str(), &stage.gate("T-1")["claim"]), ("todo", &Value::Null));
}

#[test]
fn a_lease_that_has_lapsed_counts_as_lapsed_with_nobody_awake() {
    let stage = Stage::claimed(of_words(1));
    let request = stage.validation("T-1", "critic", &["PASS", "PASS"]);
    stage.desk.pass(601);
    assert_eq!(code(stage.ask("ana", "gate.validate", &request)), "DEPENDENCY_NOT_MET");
    assert_eq!(stage.status("T-1"), "todo");
}
