//! Several validators: what all of them together found decides what happens next.

use crate::stage::{COMMIT, Stage, code, follows, plan, task, with, word};
use serde_json::{Value, json};

const STATUSES: [&str; 4] = ["PASS", "FAIL", "SKIP", "BLOCKED"];

/// What two found about one criterion: a failure outweighs everything, then that somebody could not look; to pass, somebody
/// must have seen it.
fn together(one: &'static str, other: &'static str) -> &'static str {
    let both = [one, other];
    ["FAIL", "BLOCKED", "PASS"].into_iter().find(|it| both.contains(it)).unwrap_or("SKIP")
}

/// What happens next: the state of the task, the code, and what a person is asked.
fn next(verdict: &str, retries: u32) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    match (verdict, retries) {
        ("PASS", _) => ("in_progress", None, None),
        ("BLOCKED", _) => ("blocked", Some("MISSING_VALIDATOR"), Some("decision")),
        (_, 1..) => ("todo", None, None),
        ("FAIL", 0) => ("blocked", Some("ACCEPTANCE_FAILED"), Some("decision")),
        _ => ("blocked", Some("ACCEPTANCE_FAILED"), Some("acceptance")),
    }
}

#[test]
fn what_two_validators_say_of_two_criteria_leads_where_the_ruling_says() {
    for retries in [0, 1] {
        let combinations: Vec<[&'static str; 4]> =
            (0..256).map(|row| [0, 1, 2, 3].map(|at| STATUSES[row >> (2 * at) & 3])).collect();
        let tasks: Vec<Value> = (1..=combinations.len())
            .map(|n| with(task(&format!("T-{n}"), &[word(1), word(2)]), json!({ "retries": retries })))
            .collect();
        let stage = Stage::of(plan(&tasks, json!({ "validate": ["critic", "editor"] })));
        let mut seen = std::collections::BTreeMap::<&str, usize>::new();
        for (n, said) in combinations.iter().enumerate() {
            let id = format!("T-{}", n + 1);
            stage.work(&id);
            let [one, two, three, four] = *said;
            let first = stage.ask("ana", "gate.validate", &stage.validation(&id, "critic", &[one, two])).unwrap();
            // Nothing follows before everybody has looked.
            assert_eq!((&first["status"], stage.status(&id)), (&Value::Null, "in_progress".to_owned()), "{said:?}");
            stage.ask("ana", "gate.validate", &stage.validation(&id, "editor", &[three, four])).unwrap();
            let results = [together(one, three), together(two, four)];
            let verdict = follows(&results);
            *seen.entry(verdict).or_default() += 1;
            let (status, blocked, asks) = next(verdict, retries);
            let shown = stage.task(&id)["task"].clone();
            assert_eq!(shown["status"], status, "{said:?} {retries}");
            let blocker = shown["blocker"].as_str().map(|it| it.split(':').next().unwrap().to_owned());
            assert_eq!(blocker.as_deref(), blocked, "{said:?} {retries}");
            let gate = stage.gate(&id);
            assert_eq!(gate["passed"], verdict == "PASS", "{said:?} {retries}");
            assert_eq!(gate["waits_for_a_person"], asks == Some("acceptance"), "{said:?} {retries}");
            if asks == Some("acceptance") || verdict == "PASS" {
                let found: Vec<&str> =
                    gate["criteria"].as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect();
                assert_eq!(found, results, "{said:?} {retries}");
            }
            if verdict == "PASS" {
                assert_eq!(stage.land(&id, COMMIT).unwrap()["status"], "done", "{said:?}");
            } else {
                assert_eq!(code(stage.land(&id, COMMIT)), "ACCEPTANCE_FAILED", "{said:?}");
            }
            let item = stage.inbox().into_iter().find(|item| item["task_id"] == json!(id));
            assert_eq!(item.as_ref().and_then(|item| item["asks"].as_str()), asks, "{said:?} {retries}");
            // What was looked at is not worth looking up again.
            if item.is_some() {
                stage.desk.ok("ana", "task.cancel", json!({ "task_id": id, "reason": "seen" }));
            }
        }
        assert_eq!(seen.values().sum::<usize>(), 256);
        assert_eq!(seen.len(), 4, "every verdict comes up: {seen:?}");
    }
}

#[test]
fn one_who_was_not_asked_can_hold_back() {
    let stage = Stage::claimed(plan(&[task("T-1", &[word(1), word(2)])], json!({ "validate": ["critic"] })));
    stage.validate("editor", &["FAIL", "FAIL"]);
    assert_eq!(stage.gate("T-1")["unvalidated"], json!(["critic"]), "nothing follows before the critic has looked");
    assert_eq!(stage.validate("critic", &["PASS", "PASS"])["status"], "todo");
}
