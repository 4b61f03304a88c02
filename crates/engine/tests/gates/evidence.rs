//! What counts of what a validator says: where more than a word is asked for, only what shows as much.

use crate::stage::{Stage, asking, plan, shows, task, with};
use serde_json::{Value, json};

const KINDS: [&str; 8] = ["statement", "file", "diff", "port", "http", "command", "page", "test"];

/// What says more than what is asked for, and nothing else does.
const SAYS_MORE: [(&str, &str); 4] = [("test", "command"), ("http", "port"), ("page", "port"), ("page", "http")];

/// A run whose tasks each have one criterion that asks for the kind and one that is decided by a word, claimed.
fn claimed(asks: &[&str]) -> Stage {
    let tasks: Vec<Value> = asks
        .iter()
        .enumerate()
        .map(|(n, kind)| {
            with(task(&format!("T-{}", n + 1), &[asking(1, kind), asking(2, "statement")]), json!({ "retries": 0 }))
        })
        .collect();
    let stage = Stage::of(plan(&tasks, json!({ "validate": "critic" })));
    for n in 1..=asks.len() {
        stage.work(&format!("T-{n}"));
    }
    stage
}

/// What counts for AC-1 when the critic says so and shows this.
fn counts(stage: &Stage, task: &str, said: &[&str], evidence: &[Value]) -> String {
    let request = with(stage.validation(task, "critic", said), json!({ "evidence": evidence }));
    stage.ask("ana", "gate.validate", &request).unwrap();
    stage.last("gate.validated")["results"]["AC-1"].as_str().unwrap().to_owned()
}

#[test]
fn evidence_counts_only_where_it_says_as_much_as_is_asked() {
    for asked in KINDS {
        let stage = claimed(&[asked; KINDS.len()]);
        for (n, given) in KINDS.iter().enumerate() {
            let enough = *given == asked || SAYS_MORE.contains(&(given, asked)) || asked == "statement";
            let counted = counts(&stage, &format!("T-{}", n + 1), &["PASS", "PASS"], &[shows("AC-1", given, "PASS")]);
            assert_eq!(counted, if enough { "PASS" } else { "SKIP" }, "{given} for {asked}");
        }
    }
}

#[test]
fn what_is_shown_outweighs_what_is_said_unless_it_is_better() {
    let pass = |kind: &str| shows("AC-1", kind, "PASS");
    // What the criterion asks for, what is said, what is shown, and what counts.
    let table: Vec<(&str, &str, Vec<Value>, &str)> = vec![
        ("test", "PASS", vec![], "SKIP"),
        ("test", "PASS", vec![shows("AC-2", "test", "PASS")], "SKIP"),
        ("test", "PASS", vec![shows("AC-1", "test", "SKIP")], "SKIP"),
        ("test", "PASS", vec![pass("command"), pass("test")], "PASS"),
        ("test", "PASS", vec![pass("test"), shows("AC-1", "statement", "FAIL")], "FAIL"),
        ("test", "PASS", vec![pass("test"), shows("AC-1", "test", "BLOCKED")], "BLOCKED"),
        ("test", "PASS", vec![shows("AC-1", "test", "BLOCKED"), shows("AC-1", "file", "FAIL")], "FAIL"),
        ("test", "FAIL", vec![pass("test")], "FAIL"),
        ("test", "SKIP", vec![pass("test")], "SKIP"),
        ("test", "BLOCKED", vec![pass("test")], "BLOCKED"),
        ("statement", "PASS", vec![], "PASS"),
        ("statement", "PASS", vec![shows("AC-1", "file", "FAIL")], "FAIL"),
        ("statement", "FAIL", vec![], "FAIL"),
    ];
    for (asked, said, evidence, expected) in table {
        let stage = claimed(&[asked]);
        let counted = counts(&stage, "T-1", &[said, "PASS"], &evidence);
        assert_eq!(counted, expected, "{asked} {said} {evidence:?}");
    }
}

#[test]
fn a_machine_has_no_word_to_give() {
    let stage = claimed(&["statement"]);
    let request = stage.validation("T-1", "builtin", &["PASS", "PASS"]);
    stage.ask("ana", "gate.validate", &request).unwrap();
    assert_eq!(stage.last("gate.validated")["results"], json!({ "AC-1": "SKIP", "AC-2": "SKIP" }));
}

#[test]
fn a_pass_that_nothing_shows_holds_the_work_back() {
    // With a criterion that holds beside it, a person is asked; without one, nothing was seen.
    let stage = claimed(&["test"]);
    stage.ask("ana", "gate.validate", &stage.validation("T-1", "builtin", &["PASS", "SKIP"])).unwrap();
    assert_eq!(stage.last("gate.validated")["verdict"], "BLOCKED");
    let answer = stage.ask("ana", "gate.validate", &stage.validation("T-1", "critic", &["PASS", "PASS"])).unwrap();
    assert_eq!((&answer["verdict"], &answer["status"]), (&json!("PARTIAL"), &json!("blocked")));
    assert_eq!(stage.inbox()[0]["failures"], json!(["AC-1"]));
    let only = plan(&[with(task("T-1", &[asking(1, "test")]), json!({ "retries": 0 }))], json!({}));
    let stage = Stage::claimed(only);
    let answer = stage.validate("builtin", &["PASS"]);
    assert_eq!((&answer["verdict"], &answer["status"]), (&json!("BLOCKED"), &json!("blocked")));
    assert_eq!(stage.inbox()[0]["code"], "MISSING_VALIDATOR");
}
