//! Who holds which path, however many tasks and however many lapsed leases there are: nothing that an index holds is
//! overlooked because there is much of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_domain::deciding::Tree;
use desk::{Desk, result, spec};
use serde_json::{Value, json};

/// More than a stretch of an index that is looked at first.
const MANY: usize = 45;

/// The working tree, with what differs from the commit in it.
fn set_tree(desk: &Desk, changed: &[&str]) {
    let changed = changed.iter().map(|path| ((*path).to_owned(), Some(format!("hash of {path}")))).collect();
    *desk.around.tree.lock().unwrap() = Some(Tree { commit: Some("c0ffee".to_owned()), changed });
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
