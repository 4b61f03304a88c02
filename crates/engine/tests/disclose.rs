//! What somebody who is bound to a task is told of what is not theirs, through every view there is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::Shape;
use countersign_domain::deciding::Role;
use countersign_domain::handoff::payload::UniversalHandoff;
use countersign_engine::{Bound, Call, Engine, Failure, Nowhere, VIEWS, WITHHELD};
use countersign_ledger::{Clock, Memory};
use serde_json::{Value, json};

/// What only the other run knows.
const NAMES: [&str; 5] = ["eve", "overthrow", "T-77", "T-78", "whispered"];

struct Two {
    engine: Engine,
    own: String,
    other: String,
}

impl Two {
    fn new() -> Self {
        let engine = Engine::create(Box::new(Memory::new(Clock::System)), "two").unwrap();
        let mut two = Self { engine, own: String::new(), other: String::new() };
        two.ask("ana", "project.init", json!({ "name": "two" }));
        two.own = two.opened("ship it");
        two.other = two.opened("overthrow");
        let task = |id: &str, path: &str, says: &str| json!({ "task_id": id, "title": says, "lock_scope": [path], "acceptance_criteria": [says] });
        let (own, other) = (two.own.clone(), two.other.clone());
        two.ask("ana", "task.add", json!({ "run_id": own, "tasks": [task("T-1", "src", "it is done")] }));
        let tasks = [task("T-77", "src/money", "whispered"), task("T-78", "docs", "whispered")];
        two.ask("eve", "task.add", json!({ "run_id": other, "tasks": tasks }));
        for id in ["T-77", "T-78"] {
            two.ask("eve", "task.claim", json!({ "run_id": other, "task_id": id }));
        }
        let criteria = json!([{ "description": "whispered" }]);
        two.ask("eve", "promise.create", json!({ "title": "overthrow", "criteria": criteria }));
        let mut handoff = UniversalHandoff::example();
        handoff["handoff"]["context"]["summary"] = json!("whispered");
        let request = json!({ "trace_id": handoff["handoff"]["trace_id"], "handoff": handoff.to_string() });
        two.ask("eve", "handoff.send", request);
        two
    }

    fn ask(&self, actor: &str, id: &str, request: Value) -> Value {
        self.engine.ask(&Nowhere, &Call::declared(actor), id, &request.to_string()).unwrap().answer
    }

    fn opened(&self, objective: &str) -> String {
        self.ask("ana", "run.open", json!({ "objective": objective }))["run_id"].as_str().unwrap().to_owned()
    }

    fn bound(&self) -> Call {
        let bound = Some(Bound { run: self.own.clone(), task: "T-1".to_owned() });
        Call { roles: vec![Role::Agent], bound, ..Call::declared("bob") }
    }

    /// What a call is told, or why it is not told it.
    fn look(&self, call: &Call, id: &str, question: &Value) -> Result<Value, (String, String)> {
        self.engine.look(&Nowhere, call, id, &question.to_string()).map_err(|failure| match failure {
            Failure::Refused(refusal) => (refusal.code.as_str().to_owned(), refusal.reason),
            Failure::Malformed(decision) => ("malformed".to_owned(), decision.reason),
            failure => panic!("{failure:?}"),
        })
    }
}

#[test]
fn no_view_names_what_is_not_in_the_run_of_whoever_is_bound() {
    let two = Two::new();
    let (bound, free) = (two.bound(), Call::declared("bob"));
    let mut told = 0;
    for row in VIEWS {
        let example = (row.example)();
        let with = |more: Value| {
            let mut question = example.clone();
            countersign_contract::prove::merge(&mut question, &more);
            question
        };
        let asked = [
            example.clone(),
            with(json!({ "run_id": two.own })),
            with(json!({ "run_id": two.other })),
            with(json!({ "task_id": "T-77" })),
            with(json!({ "run_id": two.other, "task_id": "T-77" })),
            with(json!({ "path": "docs" })),
            with(json!({ "owner": "eve" })),
            json!({}),
        ];
        for question in asked {
            let is_named = |name: &&&str| !question.to_string().contains(**name);
            let names: Vec<&&str> = NAMES.iter().filter(is_named).collect();
            let says = |answer: &Result<Value, (String, String)>| {
                let said = answer.as_ref().map_or_else(|(_, reason)| reason.clone(), Value::to_string);
                names.iter().any(|name| said.contains(**name))
            };
            let answer = two.look(&bound, row.info.id, &question);
            assert!(!says(&answer), "{} {question}: {answer:?}", row.info.id);
            told += usize::from(says(&two.look(&free, row.info.id, &question)));
        }
    }
    assert!(told > 10, "whoever is not bound is told it: {told}");
}

#[test]
fn a_question_means_the_own_run_and_another_one_is_refused() {
    let two = Two::new();
    let bound = two.bound();
    let shown = two.look(&bound, "task.list", &json!({})).unwrap();
    assert_eq!(shown["tasks"].as_array().unwrap().len(), 1, "{shown}");
    for (id, question) in [
        ("task.list", json!({ "run_id": two.other })),
        ("run.show", json!({ "run_id": two.other })),
        ("inbox.list", json!({})),
        ("delegation.alerts", json!({})),
        ("delegation.show", json!({ "instruction_id": "DI-2026-11-16-001" })),
    ] {
        let (code, reason) = two.look(&bound, id, &question).unwrap_err();
        assert_eq!(code, "AUTHORIZATION_MISSING", "{id}: {reason}");
    }
    // What is wrong with a question is still found, and where it is.
    assert_eq!(two.look(&bound, "task.list", &json!({ "nonsense": 1 })).unwrap_err().0, "malformed");
}

#[test]
fn a_lock_that_may_not_be_seen_is_in_the_way_all_the_same() {
    let two = Two::new();
    let bound = two.bound();
    let may = two.look(&bound, "lock.may", &json!({ "path": "docs" })).unwrap();
    let expected = (&json!(false), &json!("LOCK_CONFLICT"), &json!(WITHHELD), &json!(WITHHELD));
    assert_eq!((&may["allowed"], &may["code"], &may["holder"], &may["task_id"]), expected, "{may}");
    assert!(may["expires_at"].is_string(), "{may}");
    let request = json!({ "run_id": two.own, "task_id": "T-1" }).to_string();
    let refused = two.engine.ask(&Nowhere, &bound, "task.claim", &request).unwrap_err();
    let Failure::Refused(refusal) = refused else { panic!("{refused:?}") };
    assert!(refusal.reason.starts_with("another run holds `src/money` until "), "{}", refusal.reason);
    // What is recorded says all of it.
    let head = two.engine.ledger().head().unwrap().seq;
    assert!(format!("{:?}", two.engine.texts(head).unwrap()).contains("T-77 of eve holds"));
    let stub = two.engine.disclosed(&bound, two.engine.stored(1, 1).unwrap().remove(0));
    assert_eq!((stub.seq, stub.value()), (1, &json!({ "kind": WITHHELD, "seq": 1 })));
}

#[test]
fn whoever_is_bound_has_no_part_in_what_others_hold_in_the_same_name() {
    let two = Two::new();
    // One name, two tokens: one for a task of either run, and one for another task of the same run.
    let token = |run: &str, task: &str| {
        let bound = Some(Bound { run: run.to_owned(), task: task.to_owned() });
        Call { roles: vec![Role::Agent], bound, ..Call::declared("agent") }
    };
    let task = |id: &str, path: &str| json!({ "task_id": id, "title": "t", "lock_scope": [path], "acceptance_criteria": ["it holds"] });
    two.ask("ana", "task.add", json!({ "run_id": two.own, "tasks": [task("T-2", "lib"), task("T-3", "bin")] }));
    two.ask("eve", "task.add", json!({ "run_id": two.other, "tasks": [task("T-79", "overthrow")] }));
    let all = [(&two.own, "T-2", "lib/x"), (&two.own, "T-3", "bin/x"), (&two.other, "T-79", "overthrow/x")];
    let mut claimed = Vec::new();
    for (run, id, _) in all {
        let request = json!({ "run_id": run, "task_id": id }).to_string();
        claimed.push(two.engine.ask(&Nowhere, &token(run, id), "task.claim", &request).unwrap().events.remove(0));
    }
    for (run, id, own) in all {
        let call = token(run, id);
        for (other, held, path) in all {
            let may = two.look(&call, "lock.may", &json!({ "path": path })).unwrap();
            let code = if path == own { json!(null) } else { json!("LOCK_CONFLICT") };
            assert_eq!((&may["allowed"], &may["code"]), (&json!(path == own), &code), "{id} {path}: {may}");
            assert!(other == run || !may.to_string().contains(held), "{id} {path}: {may}");
        }
        let mine = two.look(&call, "lock.mine", &json!({})).unwrap();
        let names: Vec<&str> =
            mine["locks"].as_array().unwrap().iter().map(|it| it["task_id"].as_str().unwrap()).collect();
        assert_eq!(names, [id], "{mine}");
        for ((other, ..), event) in all.into_iter().zip(&claimed) {
            let kind = two.engine.disclosed(&call, event.clone()).value()["kind"].clone();
            assert_eq!(kind == WITHHELD, other != run, "{id}: {kind}");
        }
    }
}

#[test]
fn whoever_is_bound_to_a_task_is_offered_no_other() {
    let two = Two::new();
    let token = |task: &str| {
        let bound = Some(Bound { run: two.own.clone(), task: task.to_owned() });
        Call { roles: vec![Role::Agent], bound, ..Call::declared("agent") }
    };
    let task = |id: &str, path: &str, after: &[&str]| json!({ "task_id": id, "title": "t", "lock_scope": [path], "dependencies": after, "acceptance_criteria": ["it holds"] });
    let tasks = [task("T-2", "lib", &[]), task("T-3", "bin", &[]), task("T-4", "etc", &["T-3"])];
    two.ask("ana", "task.add", json!({ "run_id": two.own, "tasks": tasks }));
    let offered = |task: &str| two.look(&token(task), "task.next", &json!({})).unwrap();
    // Somebody else would be offered T-2.
    assert_eq!(offered("T-3")["task"]["task_id"], "T-3");
    let request = json!({ "run_id": two.own, "task_id": "T-3" }).to_string();
    two.engine.ask(&Nowhere, &token("T-3"), "task.claim", &request).unwrap();
    for (task, why) in [
        ("T-1", "wants files that others hold"),
        ("T-3", "is in_progress"),
        ("T-4", "waits for T-3"),
        ("T-9", "has no such task"),
    ] {
        let shown = offered(task);
        assert!(shown.get("task").is_none_or(Value::is_null), "{shown}");
        let reason = shown["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("may speak for {task} alone")) && reason.ends_with(why), "{reason}");
    }
}
