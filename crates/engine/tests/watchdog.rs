//! Deadlines hold with nobody awake: whoever comes next acts on them, also after a restart.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_ledger::{Verifying, verify};
use desk::{Desk, result, spec};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

#[test]
fn a_lease_that_lapsed_because_its_keeper_was_gone_counts_for_nothing() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    let of = |more: Value| {
        let mut request = json!({ "task_id": "T-1" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    // Twice in a row it would be blocked for good.
    for round in 0..3 {
        let lease = desk.claim("bob", "T-1");
        desk.pass(24 * 3600);
        desk.engine.settle(8).unwrap();
        let shown = desk.look("ana", "task.show", of(json!({})));
        assert_eq!((&shown["task"]["status"], &shown["failures"]), (&json!("todo"), &json!({ "bob": 1 })), "{round}");
        let other = of(json!({ "lease": lease + 1000, "reason": "it was gone" }));
        assert_eq!(desk.code("ana", "attempt.return", other), "CONCURRENCY_CONFLICT");
        let request = of(json!({ "lease": lease, "reason": "it was gone" }));
        desk.ok("ana", "attempt.return", request.clone());
        let shown = desk.look("ana", "task.show", of(json!({})));
        assert_eq!((&shown["task"]["status"], &shown["failures"]), (&json!("todo"), &json!({})), "{round}");
        // Once.
        assert_eq!(desk.code("ana", "attempt.return", request), "CONCURRENCY_CONFLICT");
    }
    // What somebody took since is theirs.
    let first = desk.claim("bob", "T-1");
    desk.pass(24 * 3600);
    desk.claim("mia", "T-1");
    assert_eq!(
        desk.code("ana", "attempt.return", of(json!({ "lease": first, "reason": "it was gone" }))),
        "CONCURRENCY_CONFLICT"
    );
}

#[test]
fn a_silent_worker_loses_its_task_to_the_next_who_asks() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    let lease = desk.claim("bob", "T-1");
    desk.pass(599);
    desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": lease }));
    desk.pass(599);
    assert_eq!(desk.code("cem", "task.claim", json!({ "task_id": "T-1" })), "CONCURRENCY_CONFLICT");
    desk.pass(2);
    let before = desk.head();
    desk.claim("cem", "T-1");
    assert_eq!(desk.kinds_since(before), ["task.timed_out", "task.requeued", "task.claimed"]);
    let (_, facts) = desk.events().into_iter().find(|(kind, _)| kind == "task.timed_out").unwrap();
    assert_eq!(
        (&facts["timeout_seconds"], &facts["owner"], &facts["code"]),
        (&json!(600), &json!("bob"), &json!("TASK_TIMEOUT"))
    );
    assert_eq!(facts["last_heartbeat_at"], "2027-01-15T08:09:59Z");
}

#[test]
fn locks_of_a_silent_worker_are_free_before_the_task_is_given_out_again() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src");
    desk.task("T-2", "src/api");
    desk.claim("bob", "T-1");
    assert_eq!(desk.code("cem", "task.claim", json!({ "task_id": "T-2" })), "LOCK_CONFLICT");
    desk.pass(601);
    // A look changes nothing, and is not fooled either.
    let before = desk.head();
    assert_eq!(desk.look("cem", "task.next", json!({}))["task"]["task_id"], "T-2");
    assert_eq!(desk.head(), before);
    desk.claim("cem", "T-2");
    let kinds = desk.kinds_since(before);
    assert_eq!(kinds, ["task.timed_out", "task.requeued", "task.claimed"]);
    assert_eq!(desk.code("bob", "task.claim", json!({ "task_id": "T-1" })), "LOCK_CONFLICT");
}

#[test]
fn a_second_silence_of_the_same_worker_is_escalated() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    for expected in ["todo", "blocked"] {
        desk.claim("bob", "T-1");
        desk.pass(601);
        assert_eq!(desk.engine.settle(8).unwrap(), 1);
        assert_eq!(desk.status("T-1"), expected);
    }
    let shown = desk.look("ana", "task.show", json!({ "task_id": "T-1" }));
    assert_eq!(shown["task"]["blocker"], "TASK_TIMEOUT: bob gave no sign of life for 600 s");
    desk.ok("ana", "task.unblock", json!({ "task_id": "T-1", "reason": "another worker is there" }));
    assert_eq!(desk.status("T-1"), "todo");
}

#[test]
fn whoever_fails_in_turn_does_not_keep_a_task_going_round_for_ever() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    let mut rounds = 0;
    while desk.status("T-1") == "todo" {
        desk.claim(&format!("worker-{rounds}"), "T-1");
        desk.pass(601);
        desk.engine.settle(8).unwrap();
        rounds += 1;
        assert!(rounds < 100, "it must end");
    }
    assert_eq!((desk.status("T-1").as_str(), rounds), ("blocked", 6));
}

#[test]
fn deadlines_survive_a_restart_and_are_kept_in_order() {
    let desk = Desk::in_file();
    let run = desk.run();
    for (task, timeout) in [("T-1", 900), ("T-2", 300), ("T-3", 600)] {
        let mut spec = spec(task, &format!("src/{task}"));
        spec["timeout_seconds"] = json!(timeout);
        desk.ok("ana", "task.add", json!({ "tasks": [spec] }));
        desk.claim("bob", task);
    }
    assert_eq!(desk.engine.next_due().unwrap(), Some(desk::START + 300_000));
    desk.pass(601);
    let desk = desk.reopened();
    let before = desk.head();
    assert_eq!(desk.engine.settle(8).unwrap(), 2);
    let timed_out: Vec<String> = desk
        .events()
        .into_iter()
        .skip(usize::try_from(before).unwrap())
        .filter(|(kind, _)| kind == "task.timed_out")
        .map(|(_, facts)| facts["task"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(timed_out, ["T-2", "T-3"], "the longest overdue first");
    assert_eq!(desk.engine.next_due().unwrap(), Some(desk::START + 900_000));
    desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/T-1"]) }));
    assert_eq!(desk.engine.next_due().unwrap(), None);
    let mut store = desk.engine.ledger().store().unwrap();
    let verified = verify(
        &mut *store,
        &countersign_engine::Meaning,
        &Verifying { from: 1, ..Verifying::default() },
        &mut |_, _| {},
    )
    .unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[test]
fn a_heartbeat_from_the_future_is_refused_and_a_late_one_is_the_first_to_notice() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    desk.claim("bob", "T-1");
    let beat = |time: &str| json!({ "task_id": "T-1", "last_heartbeat_at": time });
    assert_eq!(desk.code("bob", "task.heartbeat", beat("2027-01-15T08:00:31Z")), "SCHEMA_INVALID");
    desk.ok("bob", "task.heartbeat", beat("2027-01-15T08:00:30Z"));
    desk.pass(601);
    assert_eq!(desk.code("bob", "task.heartbeat", json!({ "task_id": "T-1" })), "CONCURRENCY_CONFLICT");
    assert_eq!(desk.status("T-1"), "todo");
}

#[test]
fn more_time_is_given_under_the_same_lease() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    let lease = desk.claim("bob", "T-1");
    let extended =
        desk.ok("bob", "task.extend", json!({ "task_id": "T-1", "timeout_seconds": 3600, "reason": "slow" }));
    assert_eq!((&extended["lease"], &extended["expires_at"]), (&json!(lease), &json!("2027-01-15T09:00:00Z")));
    desk.pass(3599);
    desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": lease }));
    desk.pass(3601);
    assert_eq!(desk.engine.settle(8).unwrap(), 1);
}

#[test]
fn a_clock_that_jumped_ahead_and_came_back_leaves_no_worker_alive_that_is_gone() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    desk.task("T-2", "docs");
    desk.pass(11 * 86_400);
    desk.claim("bob", "T-1");
    desk.pass(-11 * 86_400);
    // Nobody asks for the task. Whoever acts on time learns when it is over.
    let due = desk.engine.next_due().unwrap().unwrap();
    desk.pass(599);
    assert_eq!(desk.engine.settle(8).unwrap(), 0);
    desk.pass(2);
    assert!(due <= desk.hand.load(Ordering::SeqCst), "it is due by now");
    // What was quiet by the other clock is looked at all the same.
    desk.claim("cem", "T-2");
    assert_eq!(desk.status("T-1"), "todo");
}
