//! What waits for a person: one list, oldest first, of open runs alone.

use crate::desk::Desk;
use crate::stage::{Stage, code, of_words, plan, task, with, word};
use serde_json::{Value, json};

/// A run with three tasks: one to be accepted, one to be judged, one that failed for good, in this order.
fn waiting() -> Stage {
    let tasks: Vec<Value> =
        ["T-1", "T-2", "T-3"].iter().map(|id| with(task(id, &[word(1), word(2)]), json!({ "retries": 0 }))).collect();
    let stage = Stage::of(plan(&tasks, json!({ "validate": "critic", "judge": "person" })));
    for (id, said) in [("T-3", ["PASS", "FAIL"]), ("T-1", ["PASS", "PASS"]), ("T-2", ["FAIL", "FAIL"])] {
        stage.work(id);
        stage.ask("ana", "gate.validate", &stage.validation(id, "critic", &said)).unwrap();
    }
    stage
}

#[test]
fn the_oldest_comes_first_and_says_what_can_be_answered() {
    let stage = waiting();
    let items = stage.inbox();
    let shown: Vec<(&str, &str, &str)> = items
        .iter()
        .map(|item| {
            let text = |name: &str| item[name].as_str().unwrap();
            (text("task_id"), text("asks"), text("code"))
        })
        .collect();
    let wanted = [
        ("T-3", "acceptance", "ACCEPTANCE_FAILED"),
        ("T-1", "judgement", "MISSING_VALIDATOR"),
        ("T-2", "decision", "ACCEPTANCE_FAILED"),
    ];
    assert_eq!(shown, wanted);
    assert!(items.windows(2).all(|pair| pair[0]["since"].as_u64() < pair[1]["since"].as_u64()), "{items:?}");
    let answers: Vec<String> =
        items[0]["answers"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    assert_eq!(answers[0], "countersign gate accept T-3 --failures AC-2 --reason TEXT");
    assert!(
        answers[1].starts_with("countersign task unblock T-3") && answers[2].starts_with("countersign task cancel T-3")
    );
    for (n, word) in ["PASS", "WARN", "FAIL"].into_iter().enumerate() {
        let answer = format!("countersign gate rule T-1 {word} --reason TEXT");
        assert_eq!(items[1]["answers"][n], answer.as_str(), "{items:?}");
    }
    assert!(items[..2].iter().all(|item| item["bound"].is_string()), "{items:?}");
    assert_eq!(items[2]["answers"].as_array().unwrap().len(), 2, "nothing is to be accepted");
    assert!(items.iter().all(|item| item["shown"].is_string()), "{items:?}");
}

#[test]
fn a_page_goes_on_where_the_one_before_ended() {
    let stage = waiting();
    let mut seen = Vec::new();
    let mut question = json!({ "limit": 1 });
    loop {
        let page = stage.desk.look("ana", "inbox.list", question.clone());
        seen.extend(page["items"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => question["cursor"] = json!(next),
            None => break,
        }
    }
    assert_eq!(seen, stage.inbox());
}

#[test]
fn only_what_is_open_waits() {
    let stage = waiting();
    let second = Stage::on(stage.desk, of_words(0));
    second.work("T-1");
    second.validate("critic", &["PASS", "FAIL"]);
    assert_eq!(second.inbox().len(), 4);
    let of_one = second.desk.look("ana", "inbox.list", json!({ "run_id": stage.run }));
    assert_eq!(of_one["items"].as_array().unwrap().len(), 3);
    // What is answered, unblocked or given up waits no more.
    second.accept(&["AC-2"]).unwrap();
    assert_eq!(second.inbox().len(), 3);
    let named = |task: &str| json!({ "run_id": stage.run, "task_id": task, "reason": "seen" });
    second.decide("task.unblock", named("T-2")).unwrap();
    second.decide("task.cancel", named("T-3")).unwrap();
    assert_eq!(second.inbox().len(), 1);
    second.decide("run.cancel", json!({ "run_id": stage.run, "reason": "not wanted" })).unwrap();
    assert_eq!(second.inbox(), Vec::<Value>::new());
}

#[test]
fn what_nobody_can_answer_at_a_gate_waits_for_a_decision() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    desk.ok("bob", "task.block", json!({ "task_id": "T-1", "code": "DEPENDENCY_NOT_MET", "reason": "no server" }));
    let items = desk.look("ana", "inbox.list", json!({}))["items"].clone();
    assert_eq!(items[0]["asks"], "decision");
    // Somebody who gives a task back asks nobody.
    desk.ok("ana", "task.unblock", json!({ "task_id": "T-1", "reason": "it is up" }));
    desk.claim("bob", "T-1");
    desk.ok("bob", "task.release", json!({ "task_id": "T-1", "reason": "too hard" }));
    assert_eq!(desk.look("ana", "inbox.list", json!({}))["items"], json!([]));
}

#[test]
fn an_answer_to_something_that_went_on_is_refused() {
    let stage = Stage::claimed(of_words(0));
    stage.validate("critic", &["PASS", "FAIL"]);
    stage.decide("task.cancel", json!({ "task_id": "T-1", "reason": "not wanted" })).unwrap();
    assert_eq!(code(stage.accept(&["AC-2"])), "INVALID_TRANSITION");
}
