//! Several validators: what all of them together found decides what happens next.

use crate::stage::{COMMIT, Stage, asking, code, follows, plan, response, shows, task, with, word};
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

/// All that two validators can say of two criteria, in runs of a few tasks each.
fn each_combination(retries: u32, then: impl Fn(&Stage, &str, [&'static str; 2])) {
    let all: Vec<[&'static str; 4]> =
        (0..256).map(|row| [0, 1, 2, 3].map(|at| STATUSES[row >> (2 * at) & 3])).collect();
    for some in all.chunks(16) {
        let tasks: Vec<Value> = (1..=some.len())
            .map(|n| with(task(&format!("T-{n}"), &[word(1), word(2)]), json!({ "retries": retries })))
            .collect();
        let stage = Stage::of(plan(&tasks, json!({ "validate": ["critic", "editor"] })));
        for (n, [one, two, three, four]) in some.iter().enumerate() {
            let id = format!("T-{}", n + 1);
            stage.work(&id);
            let request = stage.validation(&id, "critic", &[one, two]);
            let first = stage.ask("ana", "gate.validate", &request).unwrap();
            assert_eq!(first["status"], Value::Null, "nothing follows before everybody has looked");
            let response = response(&id, "editor", &[three, four]);
            stage
                .ask("ana", "gate.validate", &with(request, json!({ "validator": "editor", "response": response })))
                .unwrap();
            then(&stage, &id, [together(one, three), together(two, four)]);
        }
    }
}

#[test]
fn what_two_validators_say_of_two_criteria_leads_where_the_ruling_says() {
    each_combination(0, |stage, id, results| {
        let verdict = follows(&results);
        let (status, blocked, asks) = next(verdict, 0);
        let shown = stage.task(id)["task"].clone();
        assert_eq!(shown["status"], status, "{results:?}");
        let blocker = shown["blocker"].as_str().map(|it| it.split(':').next().unwrap().to_owned());
        assert_eq!(blocker.as_deref(), blocked, "{results:?}");
        let gate = stage.gate(id);
        assert_eq!(gate["passed"], verdict == "PASS", "{results:?}");
        assert_eq!(gate["waits_for_a_person"], asks == Some("acceptance"), "{results:?}");
        if asks == Some("acceptance") || verdict == "PASS" {
            let criteria = gate["criteria"].as_array().unwrap().iter();
            assert_eq!(criteria.map(|it| it["status"].as_str().unwrap()).collect::<Vec<_>>(), results);
        }
        let item = stage.inbox().into_iter().find(|item| item["task_id"] == json!(id));
        assert_eq!(item.as_ref().and_then(|item| item["asks"].as_str()), asks, "{results:?}");
        if verdict == "PASS" {
            assert_eq!(stage.land(id, COMMIT).unwrap()["status"], "done");
        } else {
            assert_eq!(code(stage.land(id, COMMIT)), "ACCEPTANCE_FAILED", "{results:?}");
        }
    });
}

#[test]
fn the_same_is_tried_again_while_there_is_budget() {
    each_combination(1, |stage, id, results| {
        let (status, ..) = next(follows(&results), 1);
        assert_eq!(stage.status(id), status, "{results:?}");
    });
}

#[test]
fn every_verdict_comes_up_among_the_combinations() {
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for (one, two) in STATUSES.iter().flat_map(|one| STATUSES.map(|two| (*one, two))) {
        for (three, four) in STATUSES.iter().flat_map(|one| STATUSES.map(|two| (*one, two))) {
            *seen.entry(follows(&[together(one, three), together(two, four)])).or_default() += 1;
        }
    }
    assert_eq!((seen.len(), seen.values().sum::<usize>()), (4, 256), "{seen:?}");
}

#[test]
fn what_the_checks_refute_is_settled_before_others_have_looked_unless_a_person_accepts_it() {
    let table = [
        (["PASS", "PASS"], "in_progress", false),
        (["PASS", "BLOCKED"], "in_progress", false),
        (["FAIL", "FAIL"], "blocked", true),
        (["FAIL", "BLOCKED"], "blocked", true),
        (["FAIL", "PASS"], "blocked", true),
    ];
    for (results, status, settled) in table {
        let criteria = [asking(1, "file"), asking(2, "file")];
        let tasks = [with(task("T-1", &criteria), json!({ "retries": 0 }))];
        let stage = Stage::claimed(plan(&tasks, json!({ "validate": ["builtin", "critic"] })));
        let evidence = ["AC-1", "AC-2"].iter().zip(results).map(|(id, result)| shows(id, "file", result));
        let evidence = json!({ "evidence": evidence.collect::<Vec<_>>() });
        let answer = stage.ask("ana", "gate.validate", &with(stage.validation("T-1", "builtin", &results), evidence));
        assert_eq!(answer.unwrap()["status"].is_string(), settled, "{results:?}");
        assert_eq!(stage.status("T-1"), status, "{results:?}");
    }
    let criteria = [asking(1, "file"), asking(2, "file")];
    let tasks = [with(task("T-1", &criteria), json!({ "retries": 0 }))];
    let stage = Stage::claimed(plan(&tasks, json!({ "validate": ["builtin", "critic"] })));
    let evidence = json!({ "evidence": [shows("AC-1", "file", "FAIL"), shows("AC-2", "file", "PASS")] });
    stage.ask("ana", "gate.validate", &with(stage.validation("T-1", "builtin", &["FAIL", "PASS"]), evidence)).unwrap();
    assert_eq!(stage.accept(&["AC-1"]).unwrap()["status"], "todo");
    assert_eq!((&stage.gate("T-1")["unvalidated"], &stage.gate("T-1")["passed"]), (&json!(["critic"]), &json!(false)));
    stage.claim("coder", "T-1");
    stage.validate("critic", &["SKIP", "PASS"]);
    assert_eq!(stage.gate("T-1")["passed"], true);
    assert_eq!(stage.land("T-1", COMMIT).unwrap()["status"], "done");
}

#[test]
fn only_those_who_are_named_validate() {
    let stage = Stage::claimed(plan(&[task("T-1", &[word(1), word(2)])], json!({ "validate": ["critic"] })));
    for answers in [["PASS", "PASS"], ["FAIL", "FAIL"]] {
        let refused = stage.ask("ana", "gate.validate", &stage.validation("T-1", "editor", &answers));
        assert_eq!(crate::stage::code(refused), "AUTHORIZATION_MISSING");
    }
    assert_eq!(stage.gate("T-1")["verdicts"], json!([]));
    stage.validate("critic", &["PASS", "PASS"]);
    assert_eq!(stage.gate("T-1")["passed"], true);
}
