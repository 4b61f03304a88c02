//! A person takes upon themselves what was not shown to hold.

use crate::stage::{COMMIT, Reached, Stage, code, of_words, reviewer, say, with};
use countersign_domain::deciding::Role;
use countersign_engine::Call;
use serde_json::{Value, json};

/// Two criteria, the second of which does not hold, with no budget left.
fn partial() -> Stage {
    let stage = Stage::claimed(of_words(0));
    stage.validate("critic", &["PASS", "FAIL"]);
    assert_eq!(stage.status("T-1"), "blocked");
    stage
}

fn acceptance(stage: &Stage) -> Value {
    json!({
        "run_id": stage.run, "task_id": "T-1", "shown": stage.gate("T-1")["shown"], "failures": ["AC-2"],
        "reason": "it is replaced next week",
    })
}

#[test]
fn only_who_answers_for_it_accepts() {
    let roles = [
        (Role::Agent, false),
        (Role::Orchestrator, false),
        (Role::Auditor, false),
        (Role::Reviewer, true),
        (Role::Owner, true),
    ];
    for (role, may) in roles {
        let stage = partial();
        let call = Call { roles: vec![role], ..Call::declared("pia") };
        let said = say(&stage.desk, &call, "gate.accept", &acceptance(&stage));
        if may {
            assert_eq!(said.unwrap()["status"], "todo", "{role:?}");
        } else {
            assert_eq!(code(said), "AUTHORIZATION_MISSING", "{role:?}");
            assert_eq!(stage.status("T-1"), "blocked", "{role:?}");
        }
    }
    let stage = partial();
    assert_eq!(code(stage.ask("pia", "gate.accept", &acceptance(&stage))), "AUTHORIZATION_MISSING");
    // Nor does whoever did the work, whatever they are.
    assert_eq!(code(say(&stage.desk, &reviewer("coder"), "gate.accept", &acceptance(&stage))), "AUTHORIZATION_MISSING");
}

#[test]
fn exactly_what_does_not_hold_is_accepted() {
    let table: [(&[&str], Option<&str>); 6] = [
        (&["AC-1"], Some("ACCEPTANCE_FAILED")),
        (&["AC-1", "AC-2"], Some("ACCEPTANCE_FAILED")),
        (&["AC-3"], Some("ACCEPTANCE_FAILED")),
        (&[], Some("MISSING_REQUIRED_INPUT")),
        (&["AC-2"], None),
        (&["AC-2", "AC-2"], None),
    ];
    for (failures, expected) in table {
        let stage = partial();
        let said = stage.accept(failures);
        assert_eq!(said.as_ref().err().map(|(code, _)| code.as_str()), expected, "{failures:?}: {said:?}");
    }
}

#[test]
fn only_what_holds_in_part_can_be_accepted() {
    let states: [Reached; 4] = [
        ("nothing claimed", |_| {}),
        ("not validated", |stage| {
            stage.work("T-1");
        }),
        ("passed", |stage| {
            stage.work("T-1");
            stage.validate("critic", &["PASS", "PASS"]);
        }),
        ("failed", |stage| {
            stage.work("T-1");
            stage.validate("critic", &["FAIL", "FAIL"]);
        }),
    ];
    for (what, prepare) in states {
        let stage = Stage::of(of_words(0));
        prepare(&stage);
        assert_eq!(code(stage.accept(&["AC-2"])), "INVALID_TRANSITION", "{what}");
    }
}

#[test]
fn an_answer_is_about_what_was_shown_and_not_for_ever() {
    let stage = partial();
    let request = acceptance(&stage);
    let digest = request["shown"].as_str().unwrap().split('.').next().unwrap().to_owned();
    let minute = |at: i64| (crate::desk::START / 60_000) + at;
    let wrong = [
        "0123456789abcdef.30000000".to_owned(),
        digest.clone(),
        format!("{digest}."),
        format!("{digest}.soon"),
        format!("{digest}.{}", minute(2)),
        format!("{digest}.{}", minute(-1441)),
        format!("{digest}.{}", i64::MIN),
        format!("{digest}.{}", i64::MAX),
        format!("{digest}.99999999999999999999"),
    ];
    for shown in wrong {
        let said = say(&stage.desk, &reviewer("pia"), "gate.accept", &with(request.clone(), json!({ "shown": shown })));
        assert_eq!(code(said), "INTEGRITY_MISMATCH", "{shown}");
    }
    // A day is in time, a minute more is not.
    for (seconds, in_time) in [(24 * 3600, true), (24 * 3600 + 60, false)] {
        let stage = partial();
        let request = acceptance(&stage);
        stage.desk.pass(seconds);
        let said = say(&stage.desk, &reviewer("pia"), "gate.accept", &request);
        match said {
            Ok(_) => assert!(in_time, "{seconds}"),
            Err((code, reason)) => assert_eq!((code.as_str(), in_time), ("INTEGRITY_MISMATCH", false), "{reason}"),
        }
    }
}

#[test]
fn what_was_shown_of_an_earlier_attempt_is_stale() {
    let stage = partial();
    let request = acceptance(&stage);
    stage.decide("task.unblock", json!({ "task_id": "T-1", "reason": "again" })).unwrap();
    stage.work("T-1");
    stage.validate("critic", &["PASS", "FAIL"]);
    assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.accept", &request)), "INTEGRITY_MISMATCH");
    stage.accept(&["AC-2"]).unwrap();
}

#[test]
fn what_is_accepted_goes_on_where_it_was_and_lands() {
    let stage = partial();
    let request = acceptance(&stage);
    let claimed = stage.task("T-1")["result"].clone();
    stage.accept(&["AC-2"]).unwrap();
    assert_eq!((stage.status("T-1"), stage.inbox().len()), ("todo".to_owned(), 0));
    let gate = stage.gate("T-1");
    assert_eq!(
        (&gate["passed"], &gate["accepted"], &gate["accepted_by"]),
        (&json!(true), &json!(["AC-2"]), &json!("pia"))
    );
    assert_eq!((gate["verdicts"].as_array().unwrap().len(), &gate["bound"]), (1, &json!(COMMIT)));
    // It is answered once.
    assert_eq!(code(say(&stage.desk, &reviewer("pia"), "gate.accept", &request)), "INVALID_TRANSITION");
    assert_eq!(code(stage.accept(&["AC-2"])), "INVALID_TRANSITION");
    // Nobody works on it, so nothing lands before it is taken up again.
    assert_eq!(code(stage.land("T-1", COMMIT)), "CONCURRENCY_CONFLICT");
    stage.claim("coder", "T-1");
    let gate = stage.gate("T-1");
    assert_eq!((&gate["passed"], &gate["accepted"]), (&json!(true), &json!(["AC-2"])));
    stage.land("T-1", COMMIT).unwrap();
    let done = stage.task("T-1");
    assert_eq!((&done["task"]["status"], &done["task"]["assurance"]), (&json!("done"), &json!("accepted")));
    assert_eq!(done["result"], claimed, "it is the work that was looked at");
    assert_eq!(stage.gate("T-1")["status"], "verified");
}

#[test]
fn what_was_accepted_is_lost_with_the_lease() {
    let stage = partial();
    stage.accept(&["AC-2"]).unwrap();
    stage.claim("coder", "T-1");
    stage.desk.pass(601);
    stage.desk.engine.settle(8).unwrap();
    let gate = stage.gate("T-1");
    assert_eq!((&gate["gate"], &gate["accepted"]), (&json!(1), &json!([])));
}
