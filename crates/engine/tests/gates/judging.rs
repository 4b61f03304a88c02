//! The third gate: who judges, what they may say, and what comes of it.

use crate::stage::{COMMIT, Stage, code, of_words, reviewer, say, with, with_judge};
use serde_json::{Value, json};

fn endpoint(optional: bool) -> Value {
    json!({ "url": "https://api.example.com/v1", "model": "judge-1", "key": "JUDGE_API_KEY", "optional": optional })
}

/// A run whose work was validated and is to be judged.
fn validated(judge: Value) -> Stage {
    let stage = Stage::claimed(with_judge(judge));
    stage.validate("critic", &["PASS", "PASS"]);
    stage
}

#[test]
fn what_a_judge_says_decides() {
    let (arbiter, optional, at) = (json!("arbiter"), json!("optional"), "endpoint");
    let passes = ("in_progress", true, None);
    let fails = ("blocked", false, Some("decision"));
    let asks = ("blocked", false, Some("judgement"));
    // The judge of the plan, its name, what it says, and: the state, whether it passed, what a person is asked.
    let table = [
        (arbiter.clone(), "arbiter", "PASS", passes),
        (arbiter.clone(), "arbiter", "WARN", passes),
        (arbiter.clone(), "arbiter", "FAIL", fails),
        (arbiter, "arbiter", "UNREACHED", asks),
        (endpoint(false), at, "PASS", passes),
        (endpoint(false), at, "FAIL", fails),
        (endpoint(false), at, "UNREACHED", asks),
        (endpoint(true), at, "WARN", passes),
        (endpoint(true), at, "FAIL", fails),
        (endpoint(true), at, "UNREACHED", passes),
        (optional.clone(), at, "PASS", passes),
        (optional.clone(), at, "FAIL", fails),
        (optional, at, "UNREACHED", passes),
    ];
    for (judge, name, verdict, (status, passed, asked)) in table {
        let stage = validated(judge.clone());
        let gate = stage.gate("T-1");
        assert_eq!((&gate["gate"], &gate["passed"]), (&json!(3), &json!(false)), "{judge}");
        assert_eq!(code(stage.land("T-1", COMMIT)), "ACCEPTANCE_FAILED", "{judge}");
        assert_eq!(stage.judge(name, verdict).unwrap()["verdict"], verdict, "{judge}");
        assert_eq!(stage.status("T-1"), status, "{judge} {verdict}");
        assert_eq!(stage.gate("T-1")["passed"], passed, "{judge} {verdict}");
        let inbox = stage.inbox();
        assert_eq!(inbox.first().and_then(|item| item["asks"].as_str()), asked, "{judge} {verdict}");
        if passed {
            // The judge is asked once, and that nobody answered is on record.
            assert_eq!(code(stage.judge(name, "FAIL")), "INVALID_TRANSITION", "{judge} {verdict}");
            assert_eq!(stage.gate("T-1")["judgement"], verdict, "{judge}");
            stage.land("T-1", COMMIT).unwrap();
            assert_eq!(stage.task("T-1")["task"]["assurance"], "verified");
        }
    }
}

#[test]
fn without_a_judge_nobody_is_asked() {
    for judge in [json!("none"), Value::Null] {
        let mut plan = of_words(0);
        if !judge.is_null() {
            plan["gates"]["judge"] = judge;
        }
        let stage = Stage::claimed(plan);
        stage.validate("critic", &["PASS", "PASS"]);
        assert_eq!(stage.gate("T-1")["passed"], true);
        assert_eq!(code(stage.judge("arbiter", "PASS")), "INVALID_TRANSITION");
    }
}

#[test]
fn a_judge_is_asked_after_everybody_has_looked_and_is_the_one_that_was_named() {
    let stage = Stage::claimed(with_judge(json!("arbiter")));
    assert_eq!(code(stage.judge("arbiter", "PASS")), "INVALID_TRANSITION");
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(code(stage.judge("coder", "PASS")), "AUTHORIZATION_MISSING");
    assert_eq!(code(stage.judge("person", "PASS")), "AUTHORIZATION_MISSING");
    assert_eq!(code(stage.judge("editor", "PASS")), "AUTHORIZATION_MISSING", "the plan names another");
    let judged = json!({ "judge": "arbiter", "verdict": "PASS", "reasoning": "I read it" });
    let request = with(stage.at("T-1"), judged);
    assert_eq!(code(stage.ask("coder", "gate.judge", &request)), "AUTHORIZATION_MISSING");
    let elsewhere = with(request.clone(), json!({ "bound": crate::stage::OTHER }));
    assert_eq!(code(stage.ask("ana", "gate.judge", &elsewhere)), "INTEGRITY_MISMATCH");
    let other_lease = with(request.clone(), json!({ "lease": 1 }));
    assert_eq!(code(stage.ask("ana", "gate.judge", &other_lease)), "CONCURRENCY_CONFLICT");
    assert_eq!(stage.gate("T-1")["judgement"], Value::Null);
    // A person judges only where one is asked for.
    assert_eq!(
        code(stage.answer("gate.rule", json!({ "verdict": "PASS", "reasoning": "fine" }))),
        "INVALID_TRANSITION"
    );
    stage.ask("ana", "gate.judge", &request).unwrap();
}

#[test]
fn a_person_who_judges_is_asked_and_heard() {
    for (verdict, retries, status) in
        [("PASS", 0, "todo"), ("WARN", 0, "todo"), ("FAIL", 0, "blocked"), ("FAIL", 1, "todo")]
    {
        let mut plan = of_words(retries);
        plan["gates"]["judge"] = json!("person");
        let stage = Stage::claimed(plan);
        assert_eq!(stage.validate("critic", &["PASS", "PASS"])["status"], "blocked");
        let [item] = &stage.inbox()[..] else { panic!() };
        assert_eq!((&item["asks"], &item["code"]), (&json!("judgement"), &json!("MISSING_VALIDATOR")));
        assert_eq!(code(stage.judge("arbiter", "PASS")), "AUTHORIZATION_MISSING", "a person speaks for themselves");
        let ruling = json!({ "verdict": verdict, "reasoning": "I read the change" });
        let request = with(json!({ "run_id": stage.run, "task_id": "T-1", "shown": item["shown"] }), ruling);
        assert_eq!(code(stage.ask("pia", "gate.rule", &request)), "AUTHORIZATION_MISSING");
        assert_eq!(code(say(&stage.desk, &reviewer("coder"), "gate.rule", &request)), "AUTHORIZATION_MISSING");
        let unheard = with(request.clone(), json!({ "verdict": "UNREACHED" }));
        assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.rule", &unheard)), "MISSING_REQUIRED_INPUT");
        let stale = with(request.clone(), json!({ "shown": "0123456789abcdef.30000000" }));
        assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.rule", &stale)), "INTEGRITY_MISMATCH");
        say(&stage.desk, &reviewer("pia"), "gate.rule", &request).unwrap();
        assert_eq!(stage.status("T-1"), status, "{verdict} {retries}");
        assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.rule", &request)), "INVALID_TRANSITION");
        if verdict == "FAIL" {
            assert_eq!(stage.gate("T-1")["last"], "attempt 1: the judge said FAIL");
            assert_eq!(stage.task("T-1")["failures"], json!({ "coder": 1 }));
        } else {
            stage.claim("coder", "T-1");
            stage.land("T-1", COMMIT).unwrap();
            assert_eq!(stage.task("T-1")["task"]["assurance"], "verified");
        }
    }
}

#[test]
fn a_person_stands_in_for_a_judge_that_cannot_be_reached() {
    let stage = validated(json!("arbiter"));
    stage.judge("arbiter", "UNREACHED").unwrap();
    assert_eq!(stage.status("T-1"), "blocked");
    stage.answer("gate.rule", json!({ "verdict": "PASS", "reasoning": "I read the change" })).unwrap();
    let gate = stage.gate("T-1");
    assert_eq!((&gate["passed"], &gate["judgement"]), (&json!(true), &json!("PASS")));
    assert_eq!(gate["reasoning"], "I read the change");
    stage.claim("coder", "T-1");
    assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done");
}

#[test]
fn a_judge_that_could_not_be_reached_is_asked_again_about_the_same_work() {
    let stage = validated(json!("arbiter"));
    stage.judge("arbiter", "UNREACHED").unwrap();
    let unblock = json!({ "run_id": stage.run, "task_id": "T-1", "reason": "the network is back" });
    stage.decide("task.unblock", unblock.clone()).unwrap();
    assert_eq!((stage.status("T-1").as_str(), &stage.gate("T-1")["gate"]), ("todo", &json!(3)));
    stage.claim("coder", "T-1");
    stage.judge("arbiter", "UNREACHED").unwrap();
    assert_eq!(stage.status("T-1"), "blocked");
    stage.decide("task.unblock", unblock).unwrap();
    stage.claim("coder", "T-1");
    stage.judge("arbiter", "PASS").unwrap();
    assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done");
}

#[test]
fn what_a_person_accepted_is_judged_like_anything_else() {
    for judge in ["arbiter", "person"] {
        let stage = Stage::claimed(with_judge(json!(judge)));
        stage.validate("critic", &["PASS", "FAIL"]);
        stage.accept(&["AC-2"]).unwrap();
        if judge == "person" {
            assert_eq!(stage.inbox()[0]["asks"], "judgement");
            stage.answer("gate.rule", json!({ "verdict": "PASS", "reasoning": "I read the change" })).unwrap();
            stage.claim("coder", "T-1");
        } else {
            stage.claim("coder", "T-1");
            assert_eq!(code(stage.land("T-1", COMMIT)), "ACCEPTANCE_FAILED");
            stage.judge("arbiter", "PASS").unwrap();
        }
        stage.land("T-1", COMMIT).unwrap();
        assert_eq!(stage.task("T-1")["task"]["assurance"], "accepted", "{judge}");
    }
}
