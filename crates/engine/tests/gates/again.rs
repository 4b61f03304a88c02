//! Everything that gates leave can be made again from the events.

use crate::desk::Desk;
use crate::stage::{COMMIT, OTHER, Stage, code, plan, shows, task, with, word};
use countersign_engine::Meaning;
use countersign_ledger::{Store, Verifying, rebuild, verify};
use serde_json::{Value, json};

/// A run in which everything happens that can happen at gates, in a file.
fn lived() -> Stage {
    let tasks: Vec<Value> =
        (1..=6).map(|n| with(task(&format!("T-{n}"), &[word(1), word(2)]), json!({ "retries": 0 }))).collect();
    let stage = Stage::on(Desk::in_file(), plan(&tasks, json!({ "validate": "critic", "judge": "arbiter" })));
    let said = |id: &str, statuses: &[&str]| {
        let request =
            with(stage.validation(id, "critic", statuses), json!({ "evidence": [shows("AC-1", "file", "PASS")] }));
        stage.ask("ana", "gate.validate", &request).unwrap()
    };
    let lease = stage.work("T-1");
    let effect = json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease, "kind": "agent" });
    stage.ask("ana", "effect.start", &effect).unwrap();
    let usage = json!({ "outcome": "exited with 0", "usage": { "input_tokens": 12, "cost_usd": 0.5 } });
    stage.ask("ana", "effect.finish", &with(effect, usage)).unwrap();
    said("T-1", &["PASS", "FAIL"]);
    stage.accept(&["AC-2"]).unwrap();
    stage.claim("coder", "T-1");
    stage.judge("arbiter", "WARN").unwrap();
    stage.land("T-1", COMMIT).unwrap();
    // One whose worker falls silent, one that fails, one that turns stale, one that waits, one that is given up.
    stage.work("T-4");
    stage.desk.pass(601);
    assert_eq!(stage.desk.engine.settle(8).unwrap(), 1);
    stage.work("T-2");
    said("T-2", &["FAIL", "FAIL"]);
    stage.work("T-3");
    said("T-3", &["PASS", "PASS"]);
    let judged = json!({ "judge": "arbiter", "verdict": "PASS", "reasoning": "I read it" });
    stage.ask("ana", "gate.judge", &with(stage.at("T-3"), judged)).unwrap();
    assert_eq!(code(stage.land("T-3", OTHER)), "INTEGRITY_MISMATCH");
    stage.work("T-5");
    said("T-5", &["PASS", "SKIP"]);
    stage.decide("task.cancel", json!({ "task_id": "T-6", "reason": "not wanted" })).unwrap();
    for (n, end) in ["release", "adopt", "cancel"].iter().enumerate() {
        let id = json!(format!("promise-0000000{n}"));
        let made = json!({ "promise_id": id, "title": "Refuse empty carts", "criteria": [{ "description": "it answers 400" }] });
        stage.desk.ok("olga", "promise.create", made);
        let named = json!({ "promise_id": id });
        match *end {
            "release" => drop(stage.desk.ok("olga", "promise.release", named)),
            "adopt" => {
                stage.desk.ok("olga", "promise.start", named.clone());
                stage.desk.ok("olga", "promise.release", named.clone());
                stage.desk.ok("sid", "promise.adopt", named.clone());
                let met = json!({ "criterion": "AC-1", "evidence": "tests/cart.rs:41 gets 400" });
                stage.desk.ok("sid", "promise.meet", with(named, met));
                let response = crate::stage::response(id.as_str().unwrap(), "critic", &["PASS"]);
                let request = json!({ "promise_id": id, "validator": "critic", "response": response });
                stage.ask("ana", "gate.validate", &request).unwrap();
            }
            _ => drop(stage.desk.ok("olga", "promise.cancel", with(named, json!({ "reason": "not wanted" })))),
        }
    }
    stage
}

/// Everything that can be seen of it.
fn seen(stage: &Stage) -> Vec<Value> {
    let mut seen: Vec<Value> = (1..=6).map(|n| stage.gate(&format!("T-{n}"))).collect();
    seen.extend((1..=6).map(|n| stage.task(&format!("T-{n}"))));
    let lists = ["inbox.list", "promise.list", "run.list", "effect.list", "run.plan", "reconcile"];
    seen.extend(lists.iter().map(|id| stage.desk.look("ana", id, json!({}))));
    seen
}

#[test]
fn what_the_gates_leave_is_verified_and_made_again() {
    let stage = lived();
    let before = seen(&stage);
    let mut store = stage.desk.engine.ledger().store().unwrap();
    let check = |store: &mut dyn Store| {
        let verified = verify(store, &Meaning, &Verifying::default(), &mut |_, _| {}).unwrap();
        assert_eq!(verified.findings, vec![]);
        verified.rows
    };
    let rows = check(&mut *store);
    rebuild(&mut *store, &Meaning, &mut |_| {}).unwrap();
    assert_eq!(check(&mut *store), rows);
    drop(store);
    let Stage { desk, run } = stage;
    let stage = Stage { desk: desk.reopened(), run };
    assert_eq!(seen(&stage), before);
    // Work goes on where it was.
    stage.ask("ana", "gate.validate", &stage.validation("T-3", "critic", &["PASS", "PASS"])).unwrap();
}

#[test]
fn every_kind_of_event_of_gates_and_plans_has_happened() {
    let stage = lived();
    let kinds: std::collections::BTreeSet<String> = stage.desk.events().into_iter().map(|(kind, _)| kind).collect();
    let wanted = countersign_domain::validation::event::ALL.iter().chain(countersign_domain::plan::event::ALL);
    for kind in wanted.chain(&["effect.started", "effect.finished"]) {
        assert!(kinds.contains(*kind), "{kind}");
    }
}
