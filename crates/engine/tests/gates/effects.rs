//! What is done in the world for a task: known while it goes on, and counted when it has ended.

use crate::stage::{COMMIT, Stage, code, of_words, with};
use countersign_domain::work::row::run_key;
use serde_json::{Value, json};

fn of(stage: &Stage, lease: u64, kind: &str) -> Value {
    json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease, "kind": kind })
}

fn ended(stage: &Stage, lease: u64, usage: Value) -> Value {
    with(of(stage, lease, "agent"), json!({ "outcome": "exited with 0", "usage": usage }))
}

fn open(stage: &Stage) -> Vec<(String, String)> {
    let shown = stage.desk.look("ana", "effect.list", json!({ "run_id": stage.run }));
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    shown["effects"].as_array().unwrap().iter().map(|item| (text(item, "kind"), text(item, "recovery"))).collect()
}

fn spent(stage: &Stage) -> Value {
    stage.desk.engine.entity(&run_key(&stage.run)).unwrap().unwrap().facts["spent"].clone()
}

#[test]
fn what_was_begun_is_listed_until_it_has_ended() {
    let stage = Stage::of(of_words(1));
    let lease = stage.claim("coder", "T-1");
    for (kind, recovery) in [("agent", "repeat"), ("landing", "probe"), ("notice", "ask")] {
        let request = with(of(&stage, lease, kind), json!({ "mark": { "pid": 4711 } }));
        stage.ask("ana", "effect.start", &request).unwrap();
        assert_eq!(open(&stage).last().unwrap(), &(kind.to_owned(), recovery.to_owned()));
        // Saying it again changes nothing.
        let before = stage.desk.head();
        stage.ask("ana", "effect.start", &request).unwrap();
        assert_eq!(stage.desk.head(), before);
    }
    let shown = stage.desk.look("ana", "effect.list", json!({}));
    assert_eq!(shown["effects"][0]["mark"], json!({ "pid": 4711 }));
    stage.ask("ana", "effect.finish", &ended(&stage, lease, json!({}))).unwrap();
    let before = stage.desk.head();
    stage.ask("ana", "effect.finish", &ended(&stage, lease, json!({ "input_tokens": 7 }))).unwrap();
    assert_eq!((stage.desk.head(), open(&stage).len()), (before, 2), "it has ended once");
}

#[test]
fn nothing_begins_under_a_lease_that_is_gone_and_everything_may_end() {
    let stage = Stage::of(of_words(3));
    assert_eq!(code(stage.ask("ana", "effect.start", &of(&stage, 1, "agent"))), "CONCURRENCY_CONFLICT");
    let lease = stage.claim("coder", "T-1");
    assert_eq!(code(stage.ask("ana", "effect.start", &of(&stage, lease + 1, "agent"))), "CONCURRENCY_CONFLICT");
    assert_eq!(code(stage.ask("ana", "effect.finish", &ended(&stage, lease, json!({})))), "DEPENDENCY_NOT_MET");
    stage.ask("ana", "effect.start", &of(&stage, lease, "agent")).unwrap();
    stage.desk.pass(601);
    assert_eq!(code(stage.ask("ana", "effect.start", &of(&stage, lease, "notice"))), "CONCURRENCY_CONFLICT");
    assert_eq!(open(&stage).len(), 1, "nobody knows how it ended");
    let next = stage.claim("coder", "T-1");
    stage.ask("ana", "effect.start", &of(&stage, next, "agent")).unwrap();
    stage
        .ask("ana", "effect.finish", &ended(&stage, lease, json!({ "input_tokens": 30, "output_tokens": 12 })))
        .unwrap();
    assert_eq!((open(&stage).len(), spent(&stage)), (1, json!({ "tokens": 42, "micros": 0 })));
}

#[test]
fn what_agents_use_up_is_counted() {
    let stage = Stage::of(of_words(3));
    assert_eq!(spent(&stage), Value::Null);
    let uses = [
        (json!({ "input_tokens": 1000, "output_tokens": 234, "cost_usd": 0.25 }), 1234, 250_000),
        (json!({ "input_tokens": 1, "cost_usd": 0.0 }), 1235, 250_000),
        (json!({ "cost_usd": 0.000_001, "turns": 4, "model": "m" }), 1235, 250_001),
        (json!({}), 1235, 250_001),
    ];
    for (usage, tokens, micros) in uses {
        let lease = stage.claim("coder", "T-1");
        stage.ask("ana", "effect.start", &of(&stage, lease, "agent")).unwrap();
        stage.ask("ana", "effect.finish", &ended(&stage, lease, usage.clone())).unwrap();
        assert_eq!(spent(&stage), json!({ "tokens": tokens, "micros": micros }), "{usage}");
        stage.desk.ok("coder", "task.release", json!({ "task_id": "T-1", "reason": "again" }));
    }
}

#[test]
fn a_cost_beyond_all_bounds_breaks_nothing() {
    let stage = Stage::of(of_words(3));
    let most = countersign_contract::INTEGER_MAX;
    for _ in 0..3 {
        let lease = stage.claim("coder", "T-1");
        stage.ask("ana", "effect.start", &of(&stage, lease, "agent")).unwrap();
        for cost in [-3.0, 1.1e9, 9e15, 1e300] {
            let usage = json!({ "input_tokens": most, "output_tokens": most, "cost_usd": cost });
            assert_eq!(
                code(stage.ask("ana", "effect.finish", &ended(&stage, lease, usage))),
                "SCHEMA_INVALID",
                "{cost}"
            );
        }
        let usage = json!({ "input_tokens": most, "output_tokens": most, "cost_usd": 1e9 });
        stage.ask("ana", "effect.finish", &ended(&stage, lease, usage)).unwrap();
        stage.desk.ok("coder", "task.release", json!({ "task_id": "T-1", "reason": "again" }));
    }
    // It stands at the largest number that can be written down exactly.
    assert_eq!(spent(&stage), json!({ "tokens": most, "micros": 3_000_000_000_000_000_u64 }));
}

#[test]
fn with_the_task_done_so_is_its_landing() {
    let stage = Stage::of(of_words(0));
    let lease = stage.work("T-1");
    stage.validate("critic", &["PASS", "PASS"]);
    stage.ask("ana", "effect.start", &of(&stage, lease, "landing")).unwrap();
    assert_eq!(open(&stage).len(), 1);
    stage.land("T-1", COMMIT).unwrap();
    assert_eq!(open(&stage), vec![]);
}
