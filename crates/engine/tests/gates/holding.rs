//! An attempt is held until a person has accepted what was changed beside the run: exactly that, whoever asks meanwhile.

use crate::stage::{COMMIT, OTHER, Stage, code, of_process, of_words, owner, say, with};
use serde_json::{Value, json};

fn hold(stage: &Stage, content: &str, more: Value) -> Value {
    let request = json!({
        "run_id": stage.run, "task_id": "T-1", "lease": stage.lease("T-1"), "content": content, "reason": "x was changed",
    });
    stage.ask("ana", "attempt.hold", &with(request, more)).unwrap()
}

fn accept(stage: &Stage, content: &str) {
    say(&stage.desk, &owner("olga"), "run.accept", &json!({ "content": content, "reason": "mine" })).unwrap();
}

#[test]
fn what_was_claimed_stands_where_that_was_said_and_is_done_again_otherwise() {
    for keeps in [true, false] {
        let stage = Stage::claimed(of_words(0));
        hold(&stage, COMMIT, json!({ "keeps": keeps }));
        let item = stage.inbox().remove(0);
        assert_eq!([&item["asks"], &item["content"], &item["code"]], ["content", COMMIT, "SCOPE_VIOLATION"]);
        let answer = format!("countersign run accept {COMMIT} --reason TEXT");
        assert_eq!(item["answers"][0], answer.as_str(), "{item}");
        accept(&stage, COMMIT);
        assert_eq!((stage.status("T-1").as_str(), stage.inbox().len()), ("todo", 0));
        assert_eq!(stage.gate("T-1")["claim"].is_u64(), keeps);
        assert_eq!(stage.task("T-1")["failures"], json!({}), "it was nobody's failure");
    }
}

#[test]
fn who_waits_for_something_else_looks_again_and_unblocking_accepts_nothing() {
    let stage = Stage::claimed(of_words(0));
    hold(&stage, OTHER, json!({ "keeps": true }));
    stage.decide("task.unblock", json!({ "task_id": "T-1", "reason": "once more" })).unwrap();
    stage.claim("coder", "T-1");
    assert_eq!(hold(&stage, OTHER, json!({ "keeps": true }))["status"], "blocked");
    // It may be on the way to what was accepted.
    accept(&stage, COMMIT);
    assert_eq!(stage.status("T-1"), "todo");
    stage.claim("coder", "T-1");
    assert_eq!(hold(&stage, OTHER, json!({ "keeps": true }))["status"], "blocked");
}

#[test]
fn what_was_accepted_while_it_was_looked_at_holds_nobody_up() {
    let stage = Stage::claimed(of_words(0));
    accept(&stage, COMMIT);
    assert_eq!(hold(&stage, COMMIT, json!({ "keeps": true }))["status"], "todo");
    assert!(stage.gate("T-1")["claim"].is_u64() && stage.inbox().is_empty());
}

#[test]
fn neither_a_worker_nor_half_a_name_is_enough() {
    let stage = Stage::claimed(of_words(0));
    let accept = |call, content: &str| {
        code(say(&stage.desk, &call, "run.accept", &json!({ "content": content, "reason": "mine" })))
    };
    assert_eq!(accept(owner("coder"), COMMIT), "AUTHORIZATION_MISSING", "it works in the run");
    assert_eq!(accept(of_process("olga", 9), COMMIT), "AUTHORIZATION_MISSING", "anybody can say that they are olga");
    for content in ["HEAD", &COMMIT[..12], "sha256:00", &COMMIT.to_uppercase()] {
        assert_eq!(accept(owner("olga"), content), "MISSING_REQUIRED_INPUT", "{content}");
    }
}

#[test]
fn what_lands_is_said_by_nobody_but_who_leads_and_again_if_it_is_another_commit() {
    let stage = Stage::claimed(of_words(0));
    let landing = |commit: &str| {
        let mark = json!({ "commit": commit, "was": COMMIT });
        json!({ "run_id": stage.run, "task_id": "T-1", "lease": stage.lease("T-1"), "kind": "landing", "mark": mark })
    };
    for commit in [COMMIT, COMMIT, OTHER] {
        stage.ask("ana", "effect.start", &landing(commit)).unwrap();
    }
    let first = stage.desk.head();
    assert_eq!(stage.last("effect.started")["mark"]["commit"], OTHER);
    // Nobody leads any more.
    stage.lead(false);
    assert_eq!(
        code(say(&stage.desk, &of_process("coder", 2), "effect.start", &landing(COMMIT))),
        "AUTHORIZATION_MISSING"
    );
    assert!(!stage.desk.kinds_since(first).iter().any(|kind| kind == "effect.started"));
}
