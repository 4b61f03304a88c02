//! Tasks that wait for each other: what a ledger has of that is found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_domain::work::row::task_key;
use countersign_ledger::{Command, Draft};
use desk::{Desk, spec};
use serde_json::{Value, json};

/// Makes a task wait for others whatever they wait for, as ledgers of earlier versions may have it.
fn waits_for(desk: &Desk, run: &str, task: &str, others: &[&str]) {
    let shown = desk.engine.entity(&task_key(run, task)).unwrap().unwrap();
    let facts = json!({
        "from": "todo", "reason": "as it was", "run": run, "spec": shown.facts["spec"], "task": task, "to": "todo",
        "waiting_for": others,
    });
    let draft = Draft {
        id: None,
        kind: "task.replanned".to_owned(),
        v: 1,
        cause: None,
        run: Some(run.to_owned()),
        matter: "main".to_owned(),
        class: "internal".to_owned(),
        taint: "untrusted".to_owned(),
        facts: countersign_contract::canonical(&facts),
        read: None,
        texts: Vec::new(),
        lease: None,
        erase: Vec::new(),
    };
    let asked = Command {
        actor: "ana".to_owned(),
        authn: "declared".to_owned(),
        name: "task.replan".to_owned(),
        once: None,
        under: None,
    };
    desk.engine.ledger().write(move |transaction| transaction.append(&asked, vec![draft])).unwrap();
}

#[test]
fn tasks_that_wait_for_each_other_are_found() {
    let desk = Desk::new();
    let run = desk.run();
    for number in 1..=6 {
        desk.task(&format!("T-{number}"), &format!("src/{number}"));
    }
    let found = || {
        let shown = desk.look("ana", "reconcile", json!({ "run_id": run }));
        let reason = |it: &Value| (it["code"].as_str().unwrap().to_owned(), it["reason"].as_str().unwrap().to_owned());
        shown["findings"].as_array().unwrap().iter().map(reason).collect::<Vec<_>>()
    };
    waits_for(&desk, &run, "T-2", &["T-1"]);
    assert_eq!(found(), []);
    waits_for(&desk, &run, "T-1", &["T-3"]);
    waits_for(&desk, &run, "T-3", &["T-2"]);
    waits_for(&desk, &run, "T-4", &["T-4"]);
    // One that waits for them is on no circle.
    waits_for(&desk, &run, "T-5", &["T-1"]);
    let said = ["these tasks wait for each other: T-1, T-3, T-2", "T-4 waits for itself"];
    assert_eq!(found(), said.map(|reason| ("DEPENDENCY_NOT_MET".to_owned(), reason.to_owned())));
    // As it says.
    let specs = [spec("T-3", "src/3"), spec("T-4", "src/4")];
    for spec in specs {
        desk.ok("ana", "task.replan", json!({ "run_id": run, "task": spec, "reason": "wait for nobody" }));
    }
    assert_eq!(found(), []);
}
