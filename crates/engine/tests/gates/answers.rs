//! Whatever a person answers to what waits for them: it counts for what they were shown, once, and for a day.

use crate::desk::{Desk, spec};
use crate::stage::{Stage, code, of_words, owner, plan, say, task, with, word};
use countersign_engine::Call;
use serde_json::{Value, json};

/// How a task comes to wait for a person.
type Blocked = (&'static str, fn() -> Stage);

/// An escalation, a conflict, something to be accepted and something to be judged.
const KINDS: [Blocked; 4] = [
    ("decision", || {
        let stage = Stage::claimed(of_words(0));
        stage.validate("critic", &["FAIL", "FAIL"]);
        stage
    }),
    ("conflict", || {
        let stage = Stage::claimed(of_words(0));
        stage.validate("critic", &["PASS", "PASS"]);
        let held = json!({ "lease": stage.lease("T-1"), "obstacle": "conflict", "reason": "src/a: both sides" });
        let request = with(json!({ "run_id": stage.run, "task_id": "T-1" }), held);
        stage.ask("ana", "gate.hold", &request).unwrap();
        stage
    }),
    ("acceptance", || {
        let stage = Stage::claimed(of_words(0));
        stage.validate("critic", &["PASS", "FAIL"]);
        stage
    }),
    ("judgement", || {
        let only = task("T-1", &[word(1), word(2)]);
        let stage = Stage::claimed(plan(&[only], json!({ "validate": "critic", "judge": "person" })));
        stage.validate("critic", &["PASS", "PASS"]);
        stage
    }),
];

/// Every command that answers, but for what was shown.
fn answers(stage: &Stage) -> [(&'static str, Value); 4] {
    let of = json!({ "run_id": stage.run, "task_id": "T-1", "reason": "so it is" });
    let two = json!({ "acceptance_criteria": ["criterion 1 holds", "criterion 2 holds"] });
    let anew = with(spec("T-1", "src/t-1"), two);
    [
        ("task.unblock", of.clone()),
        ("task.cancel", of.clone()),
        ("task.fail", with(of, json!({ "code": "NON_COMPLIANT" }))),
        ("task.replan", json!({ "run_id": stage.run, "task": anew, "reason": "so it is" })),
    ]
}

fn shown(stage: &Stage) -> Value {
    let [item] = &stage.inbox()[..] else { panic!("{:?}", stage.inbox()) };
    json!({ "shown": item["shown"] })
}

fn person(stage: &Stage, id: &str, request: &Value) -> Result<Value, (String, String)> {
    say(&stage.desk, &owner("olga"), id, request)
}

#[test]
fn every_answer_names_what_was_shown_whatever_is_asked() {
    for (asks, make) in KINDS {
        let first = make();
        assert_eq!(first.inbox()[0]["asks"], asks);
        for n in 0..answers(&first).len() {
            let stage = make();
            let (id, request) = answers(&stage)[n].clone();
            let what = format!("{asks}: {id}");
            assert_eq!(code(person(&stage, id, &request)), "MISSING_REQUIRED_INPUT", "{what}");
            let other = with(request.clone(), json!({ "shown": "0123456789abcdef.30000000" }));
            assert_eq!(code(person(&stage, id, &other)), "INTEGRITY_MISMATCH", "{what}");
            let named = with(request, shown(&stage));
            person(&stage, id, &named).unwrap_or_else(|no| panic!("{what}: {no:?}"));
            // It is used up, whatever would answer now.
            for (id, request) in answers(&stage) {
                let again = with(request, json!({ "shown": named["shown"] }));
                assert_eq!(code(person(&stage, id, &again)), "INTEGRITY_MISMATCH", "{what}, then {id}");
            }
        }
    }
}

#[test]
fn an_answer_comes_within_a_day() {
    for (seconds, in_time) in [(24 * 3600, true), (24 * 3600 + 60, false)] {
        let stage = KINDS[0].1();
        let (id, request) = answers(&stage)[0].clone();
        let named = with(request, shown(&stage));
        stage.desk.pass(seconds);
        match person(&stage, id, &named) {
            Ok(_) => assert!(in_time, "{seconds}"),
            Err((code, reason)) => assert_eq!((code.as_str(), in_time), ("INTEGRITY_MISMATCH", false), "{reason}"),
        }
    }
}

#[test]
fn what_is_asked_anew_is_another_question() {
    let stage = KINDS[0].1();
    let (id, request) = answers(&stage)[0].clone();
    let before = with(request.clone(), shown(&stage));
    stage.decide(id, request).unwrap();
    stage.work("T-1");
    stage.validate("critic", &["FAIL", "FAIL"]);
    let said = person(&stage, id, &before).unwrap_err();
    assert_eq!(said.0, "INTEGRITY_MISMATCH", "{said:?}");
    person(&stage, id, &with(before, shown(&stage))).unwrap();
}

#[test]
fn the_same_mark_answers_at_the_gate_and_beside_it() {
    let stage = KINDS[2].1();
    assert_eq!(shown(&stage)["shown"], stage.gate("T-1")["shown"]);
    stage.accept(&["AC-2"]).unwrap();
    let stage = KINDS[2].1();
    let mark = shown(&stage);
    stage.accept(&["AC-2"]).unwrap();
    let (id, request) = answers(&stage)[1].clone();
    assert_eq!(code(person(&stage, id, &with(request, mark))), "INTEGRITY_MISMATCH", "it was answered at the gate");
}

#[test]
fn where_nobody_is_asked_nothing_is_named() {
    // A task that waits for its turn, in a run with gates.
    let stage = Stage::of(of_words(0));
    let (id, request) = answers(&stage)[1].clone();
    assert_eq!(code(person(&stage, id, &with(request.clone(), json!({ "shown": "0f.1" })))), "INTEGRITY_MISMATCH");
    person(&stage, id, &request).unwrap();
    // A run that somebody orchestrates by hand: what they name must hold, and they need not.
    for named in [true, false] {
        let desk = Desk::new();
        desk.run();
        desk.task("T-1", "src/a");
        desk.ok("bob", "task.block", json!({ "task_id": "T-1", "code": "DEPENDENCY_NOT_MET", "reason": "no server" }));
        let mut request = json!({ "task_id": "T-1", "reason": "it is up" });
        if named {
            let wrong = with(request.clone(), json!({ "shown": "0f.1" }));
            assert_eq!(code(say(&desk, &Call::declared("ana"), "task.unblock", &wrong)), "INTEGRITY_MISMATCH");
            let items = desk.look("ana", "inbox.list", json!({}))["items"].clone();
            request["shown"] = items[0]["shown"].clone();
        }
        desk.ok("ana", "task.unblock", request);
    }
}
