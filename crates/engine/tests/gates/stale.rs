//! What was validated by hand counts for the working tree that was there, and for no other.

use crate::desk::Desk;
use crate::stage::{COMMIT, No, OTHER, response, reviewer, say, with};
use countersign_domain::deciding::Tree;
use countersign_engine::Call;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ID: &str = "promise-1a2b3c4d";

/// A working tree on a commit in which these files differ from the commit that is asked about.
fn tree(commit: &str, changed: &[(&str, &str)]) -> Option<Tree> {
    let changed: BTreeMap<String, Option<String>> =
        changed.iter().map(|(path, hash)| ((*path).to_owned(), Some((*hash).to_owned()))).collect();
    Some(Tree { commit: Some(commit.to_owned()), changed })
}

/// A promise whose owner says that it is met, over this tree.
fn met(over: Option<Tree>, judge: &str) -> Desk {
    let desk = Desk::new();
    *desk.around.tree.lock().unwrap() = over;
    let request = json!({
        "promise_id": ID, "title": "Refuse empty carts", "judge": judge, "summary": "Empty carts are answered with 400",
        "criteria": [{ "description": "an empty cart is answered with 400" }, { "description": "a full one with 201" }],
    });
    desk.ok("olga", "promise.create", request);
    for criterion in ["AC-1", "AC-2"] {
        let request = json!({ "promise_id": ID, "criterion": criterion, "evidence": "tests/cart.rs:41 gets 400" });
        desk.ok("olga", "promise.meet", request);
    }
    desk
}

fn validate(desk: &Desk, bound: Option<&str>, statuses: &[&str]) -> Result<Value, No> {
    let mut request = json!({ "promise_id": ID, "validator": "critic", "response": response(ID, "critic", statuses) });
    if let Some(bound) = bound {
        request["bound"] = json!(bound);
    }
    say(desk, &Call::declared("ana"), "gate.validate", &request)
}

fn gate(desk: &Desk) -> Value {
    desk.look("ana", "gate.status", json!({ "promise_id": ID }))
}

fn answer(desk: &Desk, id: &str, more: Value) -> Result<Value, No> {
    let request = json!({ "promise_id": ID, "shown": gate(desk)["shown"] });
    say(desk, &reviewer("pia"), id, &with(request, more))
}

/// What was there, what it was bound to, what is there now, and whether that is the same.
type Case = (Option<Tree>, Option<&'static str>, Option<Tree>, bool);

#[test]
fn what_was_found_counts_for_the_tree_that_was_there() {
    let clean = || tree(COMMIT, &[]);
    let edited = |hash| tree(COMMIT, &[("src/cart.rs", hash)]);
    let table: [Case; 9] = [
        (clean(), Some(COMMIT), clean(), true),
        (clean(), None, clean(), true),
        // A commit that brought the same content, or only a message.
        (clean(), None, tree(OTHER, &[]), true),
        (clean(), Some(COMMIT), edited("a"), false),
        (clean(), None, edited("a"), false),
        (edited("a"), None, edited("a"), true),
        (edited("a"), None, edited("b"), false),
        (edited("a"), None, clean(), false),
        // Where there was nothing to compare, nothing is compared.
        (None, Some(COMMIT), clean(), true),
    ];
    for (before, bound, now, same) in table {
        let what = format!("{before:?} bound to {bound:?}, then {now:?}");
        let desk = met(before, "none");
        assert_eq!(validate(&desk, bound, &["PASS", "PASS"]).unwrap()["verdict"], "PASS", "{what}");
        assert_eq!(gate(&desk)["passed"], true, "{what}");
        *desk.around.tree.lock().unwrap() = now;
        let shown = gate(&desk);
        assert_eq!((shown["passed"] == true, shown["stale"].is_null()), (same, same), "{what}: {shown}");
        if !same {
            assert_eq!(shown["gate"], 2, "{what}: {shown}");
        }
    }
}

#[test]
fn a_commit_that_is_gone_is_not_what_is_there() {
    let desk = met(tree(COMMIT, &[]), "none");
    validate(&desk, Some(COMMIT), &["PASS", "PASS"]).unwrap();
    // Nor is it there where nothing can be looked at.
    for seen in [Some(Tree::default()), None] {
        *desk.around.tree.lock().unwrap() = seen;
        let shown = gate(&desk);
        assert!(shown["stale"].as_str().unwrap().contains("cannot be seen here"), "{shown}");
    }
}

#[test]
fn nobody_accepts_or_judges_what_is_not_there_any_more() {
    let accept = json!({ "failures": ["AC-2"], "reason": "it is replaced next week" });
    let pass = json!({ "verdict": "PASS", "reasoning": "I read it" });
    let rows = [("none", ["PASS", "FAIL"], "gate.accept", accept), ("person", ["PASS", "PASS"], "gate.rule", pass)];
    for (judge, statuses, id, more) in rows {
        let desk = met(tree(COMMIT, &[]), judge);
        validate(&desk, Some(COMMIT), &statuses).unwrap();
        assert_eq!(gate(&desk)["waits_for_a_person"], true, "{id}");
        *desk.around.tree.lock().unwrap() = tree(COMMIT, &[("src/cart.rs", "a")]);
        assert_eq!(gate(&desk)["waits_for_a_person"], false, "{id}");
        let (code, reason) = answer(&desk, id, more.clone()).unwrap_err();
        assert_eq!(code, "INTEGRITY_MISMATCH", "{id}: {reason}");
        assert!(reason.contains("src/cart.rs"), "{id}: {reason}");
        // From here on nobody has looked at it, wherever the tree goes.
        *desk.around.tree.lock().unwrap() = tree(COMMIT, &[]);
        let shown = gate(&desk);
        assert_eq!((&shown["verdicts"], &shown["bound"]), (&json!([]), &Value::Null), "{id}: {shown}");
        // What is there now can be looked at, by the same validator too, and answered.
        validate(&desk, Some(COMMIT), &statuses).unwrap();
        answer(&desk, id, more).unwrap();
        assert_eq!(gate(&desk)["passed"], true, "{id}");
    }
}

#[test]
fn a_verdict_about_what_is_there_now_replaces_what_was_found_before() {
    let desk = met(tree(COMMIT, &[]), "none");
    validate(&desk, None, &["PASS", "FAIL"]).unwrap();
    *desk.around.tree.lock().unwrap() = tree(COMMIT, &[("src/cart.rs", "a")]);
    assert_eq!(validate(&desk, None, &["PASS", "PASS"]).unwrap()["verdict"], "PASS");
    let kinds: Vec<String> = desk.events().into_iter().map(|(kind, _)| kind).collect();
    assert!(kinds.ends_with(&["gate.stale", "gate.validated", "promise.verified"].map(str::to_owned)), "{kinds:?}");
}
