//! Who holds which path, however many tasks and however many lapsed leases there are: nothing that an index holds is
//! overlooked because there is much of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_domain::deciding::Tree;
use desk::{Desk, result, spec};
use serde_json::{Value, json};

/// More than a stretch of an index that is looked at first.
const MANY: usize = 45;
/// More than what is looked at in all before a claim.
const TOO_MANY: usize = 280;

/// A task whose worker may be silent for half a minute only.
fn short(task: &str, path: &str) -> Value {
    let mut spec = spec(task, path);
    spec["timeout_seconds"] = json!(30);
    spec["heartbeat_interval_seconds"] = json!(10);
    spec
}

/// Adds tasks, each on a file of its own in `lib`, and has somebody claim them.
fn claimed(desk: &Desk, worker: &str, count: usize) {
    let tasks: Vec<Value> = (0..count).map(|n| short(&format!("T-{n}"), &format!("lib/a{n:04}"))).collect();
    for some in tasks.chunks(500) {
        desk.ok("ana", "task.add", json!({ "tasks": some }));
    }
    for n in 0..count {
        desk.claim(worker, &format!("T-{n}"));
    }
}

/// The working tree, with what differs from the commit in it.
fn set_tree(desk: &Desk, changed: &[&str]) {
    let changed = changed.iter().map(|path| ((*path).to_owned(), Some(format!("hash of {path}")))).collect();
    *desk.around.tree.lock().unwrap() = Some(Tree { commit: Some("c0ffee".to_owned()), changed });
}

fn may(desk: &Desk, who: &str, path: &str) -> (bool, String) {
    let shown = desk.look(who, "lock.may", json!({ "path": path }));
    (shown["allowed"].as_bool().unwrap(), shown["code"].as_str().unwrap_or("OK").to_owned())
}

/// A list, page by page.
fn pages(desk: &Desk, who: &str, view: &str, items: &str, question: &Value, limit: usize) -> Vec<Value> {
    let mut question = question.clone();
    question["limit"] = json!(limit);
    let mut all = Vec::new();
    loop {
        let shown = desk.look(who, view, question.clone());
        all.extend(shown[items].as_array().unwrap().iter().cloned());
        match shown["next"].as_str() {
            Some(next) => question["cursor"] = json!(next),
            None => return all,
        }
    }
}

#[test]
fn whoever_is_alive_keeps_what_they_hold_however_many_beside_them_have_lapsed() {
    for count in [1, 31, 32, 33, MANY] {
        let desk = Desk::new();
        desk.run();
        claimed(&desk, "bob", count);
        desk.task("T-9001", "lib/z");
        desk.task("T-9002", "lib");
        desk.claim("live", "T-9001");
        desk.pass(35);
        // Neither who names it nor who takes what there is.
        assert_eq!(desk.code("thief", "task.claim", json!({ "task_id": "T-9002" })), "LOCK_CONFLICT", "{count}");
        assert_ne!(desk.look("thief", "task.next", json!({}))["task"]["task_id"], "T-9002", "{count}");
        let reassign = json!({ "task_id": "T-9002", "owner": "thief", "reason": "hurry" });
        assert_eq!(desk.code("ana", "task.reassign", reassign), "LOCK_CONFLICT", "{count}");
        assert_eq!(may(&desk, "live", "lib/z"), (true, "OK".to_owned()), "{count}");
        assert_eq!(may(&desk, "thief", "lib/z"), (false, "LOCK_CONFLICT".to_owned()), "{count}");
        assert_eq!(may(&desk, "thief", "lib"), (false, "LOCK_CONFLICT".to_owned()), "{count}");
        desk.ok("live", "task.release", json!({ "task_id": "T-9001", "reason": "later" }));
        desk.claim("thief", "T-9002");
        assert_eq!(desk.look("ana", "lock.list", json!({}))["locks"].as_array().unwrap().len(), 1, "{count}");
    }
}

#[test]
fn an_envelope_takes_nothing_from_whoever_is_alive_behind_many_who_lapsed() {
    let desk = Desk::new();
    let run = desk.run();
    claimed(&desk, "bob", MANY);
    desk.task("T-9001", "lib/z");
    desk.task("T-9002", "lib");
    desk.claim("live", "T-9001");
    desk.pass(35);
    let delta = json!({
        "task_id": "T-9002", "status": "in_progress", "owner": "thief", "reason": "hurry", "delta_id": "d-1",
    });
    let envelope = json!({
        "schema_version": "1.0.0", "run_id": run, "ledger_delta": [delta], "assignments": [], "active_locks": [],
        "blockers": [], "next_actions": ["wait"],
    });
    let (code, reason) = desk.refused("ana", "envelope.apply", json!({ "envelope": envelope }));
    assert_eq!(code, "LOCK_CONFLICT", "{reason}");
    assert!(reason.contains("T-9001 of live holds `lib/z`"), "{reason}");
}

#[test]
fn more_lapsed_leases_than_can_be_taken_back_at_once_are_taken_back_in_turns() {
    let desk = Desk::new();
    desk.run();
    claimed(&desk, "bob", TOO_MANY);
    desk.task("T-9002", "lib");
    desk.task("T-9001", "lib/z");
    desk.claim("live", "T-9001");
    // Whoever holds nothing is told of every change in what others hold.
    set_tree(&desk, &["README.md", "lib/a0279", "lib/z"]);
    let strays = desk.look("dan", "lock.strays", json!({}));
    assert_eq!(strays["paths"], json!(["lib/a0279", "lib/z"]));
    *desk.around.tree.lock().unwrap() = None;
    desk.pass(35);
    let wide = json!({ "task_id": "T-9002" });
    let (code, reason) = desk.refused("thief", "task.claim", wide.clone());
    assert_eq!(code, "LOCK_CONFLICT", "{reason}");
    assert!(reason.ends_with("have lapsed, and not all are taken back yet"), "{reason}");
    let (code, reason) = desk.refused("thief", "task.claim", wide.clone());
    assert_eq!(code, "LOCK_CONFLICT", "{reason}");
    assert!(reason.starts_with("T-9001 of live holds `lib/z`"), "{reason}");
    desk.ok("live", "task.release", json!({ "task_id": "T-9001", "reason": "later" }));
    desk.ok("thief", "task.claim", wide);
}

#[test]
fn the_best_task_is_one_whose_scope_is_free() {
    let desk = Desk::new();
    desk.run();
    let (mut wide, mut free) = (spec("T-3", "lib"), spec("T-4", "docs"));
    wide["priority"] = json!("critical");
    free["priority"] = json!("high");
    let tasks = [short("T-1", "lib/a"), spec("T-2", "lib/b"), wide, free];
    desk.ok("ana", "task.add", json!({ "tasks": tasks }));
    desk.claim("one", "T-1");
    desk.claim("two", "T-2");
    desk.pass(35);
    assert_eq!(desk.look("three", "task.next", json!({}))["task"]["task_id"], "T-4");
    assert_eq!(desk.ok("three", "task.claim", json!({}))["task_id"], "T-4");
}

#[test]
fn whoever_works_on_a_path_answers_for_a_change_of_it_however_many_tasks_share_a_path() {
    let desk = Desk::new();
    let run = desk.run();
    let tasks: Vec<Value> = (0..MANY).map(|n| spec(&format!("T-{n}"), "src/a.rs")).collect();
    desk.ok("ana", "task.add", json!({ "tasks": tasks }));
    desk.task("T-9001", "docs");
    set_tree(&desk, &[]);
    // Most of them were done before.
    for n in 0..MANY - 2 {
        desk.claim("coder", &format!("T-{n}"));
        desk.ok("coder", "task.submit", json!({ "result": result(&run, &format!("T-{n}"), &[]) }));
    }
    desk.claim("doc", "T-9001");
    let strays = || desk.look("doc", "lock.strays", json!({}))["paths"].clone();
    // Nobody has worked there since.
    set_tree(&desk, &["docs/x.md", "src/a.rs"]);
    assert_eq!(strays(), json!(["src/a.rs"]));
    let submit = json!({ "result": result(&run, "T-9001", &["docs/x.md"]) });
    assert_eq!(desk.code("doc", "task.submit", submit.clone()), "SCOPE_VIOLATION");
    // Somebody does.
    let last = format!("T-{}", MANY - 1);
    set_tree(&desk, &[]);
    desk.claim("coder", &last);
    set_tree(&desk, &["docs/x.md", "src/a.rs"]);
    assert_eq!(strays(), json!([]));
    // Somebody has.
    desk.ok("coder", "task.submit", json!({ "result": result(&run, &last, &["src/a.rs"]) }));
    assert_eq!(strays(), json!([]));
    desk.ok("doc", "task.submit", submit);
    assert_eq!(desk.status("T-9001"), "done");
}

#[test]
fn what_a_task_of_any_open_run_may_change_is_no_discrepancy() {
    let desk = Desk::new();
    let one = desk.run();
    let two = desk.run();
    for (run, path) in [(&one, "src"), (&two, "docs")] {
        desk.ok("ana", "task.add", json!({ "run_id": run, "tasks": [spec("T-1", path), spec("T-2", "never")] }));
        set_tree(&desk, &[]);
        desk.ok("bob", "task.claim", json!({ "run_id": run, "task_id": "T-1" }));
    }
    let strays = |run: &str| {
        let shown = desk.look("ana", "reconcile", json!({ "run_id": run }));
        let reasons = shown["findings"].as_array().unwrap().iter().map(|it| it["reason"].as_str().unwrap().to_owned());
        assert_eq!(shown["tree"], true);
        reasons.filter(|reason| reason.contains("was changed")).collect::<Vec<_>>()
    };
    set_tree(&desk, &["src/a.rs", "docs/d.md", "worklogs/T-1.jsonl"]);
    assert_eq!((strays(&one), strays(&two)), (vec![], vec![]));
    // What nobody works on is one, in each of them, and what the task of a run that is over might change.
    set_tree(&desk, &["docs/d.md", "never/x"]);
    let never = "`never/x` was changed, and no task that was worked on may change it".to_owned();
    assert_eq!((strays(&one), strays(&two)), (vec![never.clone()], vec![never.clone()]));
    set_tree(&desk, &["docs/d.md"]);
    desk.ok("bob", "task.submit", json!({ "run_id": two, "result": result(&two, "T-1", &["docs/d.md"]) }));
    set_tree(&desk, &["docs/d.md", "never/x"]);
    assert_eq!(strays(&one), std::slice::from_ref(&never));
    desk.ok("ana", "run.cancel", json!({ "run_id": two, "reason": "enough" }));
    assert_eq!(
        strays(&one),
        ["`docs/d.md` was changed, and no task that was worked on may change it".to_owned(), never]
    );
    assert_eq!(strays(&two).len(), 1);
}

#[test]
fn a_worklog_opens_nothing_that_somebody_else_holds() {
    let desk = Desk::new();
    desk.run();
    let with_log = |task: &str, path: &str, log: &str| {
        let mut spec = spec(task, path);
        spec["worklog_path"] = json!(log);
        spec
    };
    for log in
        [".claude/settings.json", ".codex/hooks.json", ".mcp.json", ".git/hooks/pre-commit", "./.git", ".countersign/x"]
    {
        let add = json!({ "tasks": [with_log("T-0", "src/z", log)] });
        assert_eq!(desk.code("ana", "task.add", add), "SCOPE_VIOLATION", "{log}");
    }
    desk.task("T-1", "docs");
    let tasks = [
        with_log("T-2", "src/a", "docs/d.md"),
        with_log("T-3", "src/b", "logs/all"),
        with_log("T-4", "src/c", "logs/all"),
    ];
    desk.ok("ana", "task.add", json!({ "tasks": tasks }));
    for (worker, task) in [("sly", "T-2"), ("one", "T-3"), ("two", "T-4")] {
        desk.claim(worker, task);
    }
    // As long as nobody holds what is around them, logs are written, also one that is shared.
    let (yes, held, outside) = ((true, "OK"), (false, "LOCK_CONFLICT"), (false, "SCOPE_VIOLATION"));
    let are = |cases: &[(&str, &str, (bool, &str))]| {
        for (who, path, expected) in cases {
            let (allowed, code) = may(&desk, who, path);
            assert_eq!((allowed, code.as_str()), *expected, "{who} {path}");
        }
    };
    are(&[("sly", "docs/d.md", yes), ("one", "logs/all", yes), ("two", "logs/all", yes), ("sly", "logs/all", outside)]);
    desk.claim("owner", "T-1");
    are(&[("owner", "docs/d.md", yes), ("sly", "docs/d.md", held), ("sly", "src/a/x", yes)]);
}

#[test]
fn whoever_holds_much_is_shown_all_of_it_and_may_change_it() {
    let desk = Desk::new();
    desk.run();
    let count = 111;
    claimed(&desk, "many", count);
    assert_eq!(may(&desk, "many", "lib/a0110/x"), (true, "OK".to_owned()));
    assert_eq!(may(&desk, "many", "worklogs/T-110.jsonl"), (true, "OK".to_owned()));
    assert_eq!(may(&desk, "many", "docs"), (false, "SCOPE_VIOLATION".to_owned()));
    let paths =
        |shown: &[Value]| shown.iter().map(|lock| lock["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let expected: Vec<String> = (0..count).map(|n| format!("lib/a{n:04}")).collect();
    for limit in [1, 100, 111, 112] {
        assert_eq!(paths(&pages(&desk, "many", "lock.mine", "locks", &json!({}), limit)), expected, "{limit}");
        let who = pages(&desk, "dan", "lock.who", "holders", &json!({ "path": "lib" }), limit);
        assert_eq!(paths(&who), expected, "{limit}");
    }
    // What is above a path comes first, and once.
    let mut nested = spec("T-9003", "app");
    nested["lock_scope"] = json!(["app", "app/ui/a", "app/ui/b", "app/z"]);
    desk.ok("ana", "task.add", json!({ "tasks": [nested] }));
    desk.claim("bob", "T-9003");
    for limit in [1, 2, 3, 4] {
        let who = pages(&desk, "dan", "lock.who", "holders", &json!({ "path": "app/ui" }), limit);
        assert_eq!(paths(&who), ["app", "app/ui/a", "app/ui/b"], "{limit}");
    }
    // A cursor that somebody made up shows nothing of others.
    let made_up = desk.look("bob", "lock.mine", json!({ "cursor": "00" }));
    assert_eq!(made_up["locks"].as_array().unwrap().len(), 4);
}
