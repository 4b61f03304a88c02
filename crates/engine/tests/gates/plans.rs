//! Runs that follow a plan: how they are started, and that the plan stays what it is.

use crate::desk::{Desk, spec};
use crate::stage::{Stage, checked, code, of_words, plan, task, with, word};
use serde_json::{Value, json};

const V4: &str = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";

#[test]
fn a_plan_becomes_a_run_with_its_tasks_in_order_and_a_promise_for_each() {
    let mut last = task("T-1", &[word(1)]);
    last["depends_on"] = json!(["T-3", "T-2"]);
    let mut middle = task("T-2", &[checked(1, json!({ "test": ["pytest"] })), word(2)]);
    middle["depends_on"] = json!("T-3");
    let whole = plan(&[last, middle, task("T-3", &[word(1)])], json!({ "validate": ["critic", "builtin"] }));
    let desk = Desk::new();
    let started = desk.ok("ana", "run.start", json!({ "run_id": V4, "plan": whole }));
    assert_eq!((&started["run_id"], &started["task_ids"]), (&json!(V4), &json!(["T-3", "T-2", "T-1"])));
    let stage = Stage { desk, run: V4.to_owned() };
    assert_eq!(stage.desk.look("ana", "run.show", json!({}))["policy"], "gates");
    // Checks are run by the built-in validator, wherever there are some.
    let gate = stage.gate("T-2");
    assert_eq!(gate["unvalidated"], json!(["builtin", "critic"]));
    let asks: Vec<&Value> = gate["criteria"].as_array().unwrap().iter().map(|it| &it["asks"]).collect();
    assert_eq!(asks, ["test", "statement"]);
    assert_eq!(gate["criteria"][0]["description"], "criterion 1 holds");
    assert_eq!((&gate["status"], &gate["gate"], &gate["passed"]), (&json!("pending"), &json!(1), &json!(false)));
    assert_eq!(stage.gate("T-1")["unvalidated"], json!(["critic"]));
    assert_eq!(stage.task("T-1")["task"]["waiting_for"], json!(["T-3", "T-2"]));
    // The plan stands there, word for word.
    let shown = stage.desk.look("ana", "run.plan", json!({}));
    let text = shown["plan"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(shown["sha256"], json!(countersign_contract::sha256_hex(text.as_bytes())));
}

#[test]
fn a_plan_may_be_a_text() {
    let text = of_words(1).to_string();
    let stage = Stage::of(json!(text));
    assert_eq!(stage.status("T-1"), "todo");
}

#[test]
fn plans_that_cannot_be_carried_out_are_refused_and_leave_nothing() {
    let bent = |bend: fn(&mut Value)| {
        let mut plan = of_words(1);
        bend(&mut plan);
        plan
    };
    let table: Vec<(&str, Value, &str)> = vec![
        ("another version", bent(|it| it["plan"] = json!("2.0")), "UNKNOWN_SCHEMA_VERSION"),
        ("no tasks", bent(|it| it["tasks"] = json!([])), "MISSING_REQUIRED_INPUT"),
        ("a strange field", bent(|it| it["speed"] = json!(9)), "SCHEMA_INVALID"),
        ("too many retries", bent(|it| it["tasks"][0]["retries"] = json!(11)), "SCHEMA_INVALID"),
        ("an author who validates", bent(|it| it["gates"]["validate"] = json!("coder")), "MISSING_VALIDATOR"),
        ("an author who judges", bent(|it| it["gates"]["judge"] = json!("coder")), "MISSING_VALIDATOR"),
        ("nobody who validates", bent(|it| it["gates"]["validate"] = json!("builtin")), "MISSING_VALIDATOR"),
        ("a circle", bent(|it| it["tasks"][0]["depends_on"] = json!(["T-1"])), "DEPENDENCY_NOT_MET"),
        ("nobody to wait for", bent(|it| it["tasks"][0]["depends_on"] = json!(["T-9"])), "DEPENDENCY_NOT_MET"),
        ("no text", json!("plan: ["), "SCHEMA_INVALID"),
    ];
    for (what, plan, expected) in table {
        let desk = Desk::new();
        let before = desk.head();
        let (code, reason) = desk.refused("ana", "run.start", json!({ "plan": plan }));
        assert_eq!(code, expected, "{what}: {reason}");
        assert_eq!(desk.kinds_since(before), ["command.refused"], "{what}");
    }
}

#[test]
fn a_run_id_is_used_once_and_is_a_uuid_of_version_4() {
    let desk = Desk::new();
    let v7 = "01a1e290-58f8-7594-83be-c6c80ce3d841";
    assert_eq!(desk.code("ana", "run.start", json!({ "run_id": v7, "plan": of_words(1) })), "SCHEMA_INVALID");
    desk.ok("ana", "run.start", json!({ "run_id": V4, "plan": of_words(1) }));
    let again = json!({ "run_id": V4, "plan": of_words(1) });
    assert_eq!(desk.code("ana", "run.start", again), "INVALID_TRANSITION");
    // Nor that of a run without a plan.
    let open = desk.ok("ana", "run.open", json!({ "objective": "Round money" }))["run_id"].clone();
    assert_eq!(desk.code("ana", "run.start", json!({ "run_id": open, "plan": of_words(1) })), "INVALID_TRANSITION");
}

fn assignment(stage: &Stage, task: &str, criteria: &[&str]) -> Value {
    json!({
        "schema_version": "1.0.0", "run_id": stage.run, "packet_type": "assignment", "global_objective": "Round money",
        "task": {
            "task_id": task, "title": "Work", "type": "parallelizable", "dependencies": [], "lock_scope": ["src/t-1"],
            "forbidden_scope": [], "acceptance_criteria": criteria, "worklog_path": format!("worklogs/{task}.jsonl"),
            "timeout_seconds": 600, "heartbeat_interval_seconds": 60,
        },
        "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1",
    })
}

fn envelope(stage: &Stage, assignment: Value, status: &str) -> Value {
    let task = assignment["task"]["task_id"].clone();
    json!({ "envelope": {
        "schema_version": "1.0.0", "run_id": stage.run, "assignments": [assignment], "active_locks": [], "blockers": [],
        "ledger_delta": [{
            "task_id": task, "status": status, "owner": "coder", "reason": "as planned", "delta_id": "d-1", "title": "Work",
        }],
        "next_actions": ["wait"],
    }})
}

#[test]
fn nothing_is_added_to_a_plan_beside_it() {
    let stage = Stage::of(of_words(1));
    let add = json!({ "tasks": [spec("T-2", "src/b")] });
    assert_eq!(stage.desk.code("ana", "task.add", add), "INVALID_TRANSITION");
    let made = envelope(&stage, assignment(&stage, "T-2", &["it works"]), "todo");
    assert_eq!(code(stage.decide("envelope.apply", made)), "INVALID_TRANSITION");
    assert_eq!(stage.desk.look("ana", "task.list", json!({}))["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn what_the_gates_ask_stays_when_a_task_is_asked_for_anew() {
    let anew = |criteria: &[&str]| {
        let task = with(spec("T-1", "src"), json!({ "acceptance_criteria": criteria }));
        json!({ "task": task, "reason": "wider" })
    };
    for criteria in [&["criterion 1 holds"][..], &["one", "two", "three"]] {
        let stage = Stage::of(of_words(3));
        assert_eq!(code(stage.decide("task.replan", anew(criteria))), "INVALID_TRANSITION");
        let asked = envelope(&stage, assignment(&stage, "T-1", criteria), "todo");
        assert_eq!(code(stage.decide("envelope.apply", asked)), "INVALID_TRANSITION", "{criteria:?}");
    }
    let two = ["criterion 1 still holds", "criterion 2 still holds"];
    let by_replan = Stage::of(of_words(3));
    by_replan.decide("task.replan", anew(&two)).unwrap();
    let by_envelope = Stage::of(of_words(3));
    let asked = envelope(&by_envelope, assignment(&by_envelope, "T-1", &two), "todo");
    by_envelope.decide("envelope.apply", asked).unwrap();
    for stage in [by_replan, by_envelope] {
        assert_eq!(stage.gate("T-1")["criteria"][1]["description"], "criterion 2 still holds");
        // How often it may be tried is part of the plan as well.
        for attempt in 1..=3 {
            stage.work("T-1");
            stage.validate("critic", &["FAIL", "FAIL"]);
            assert_eq!(stage.status("T-1"), "todo", "{attempt}");
        }
    }
}

#[test]
fn what_was_found_does_not_outlive_what_was_asked() {
    let replans: [fn(&Stage); 2] = [
        |stage| {
            let two = json!({ "acceptance_criteria": ["quite another thing", "and one more"] });
            stage.decide("task.replan", json!({ "task": with(spec("T-1", "src/t-1"), two), "reason": "new" })).unwrap();
        },
        |stage| {
            let asked = assignment(stage, "T-1", &["quite another thing", "and one more"]);
            stage.decide("envelope.apply", envelope(stage, asked, "todo")).unwrap();
        },
    ];
    for replan in replans {
        // While a person is asked, and after they have answered.
        for answered in [false, true] {
            let stage = Stage::claimed(of_words(0));
            stage.validate("critic", &["PASS", "FAIL"]);
            assert_eq!(stage.status("T-1"), "blocked");
            if answered {
                stage.accept(&["AC-2"]).unwrap();
            }
            replan(&stage);
            let gate = stage.gate("T-1");
            assert_eq!((&gate["verdicts"], &gate["accepted"]), (&json!([]), &json!([])), "{answered}");
            assert_eq!(gate["gate"], 1, "{answered}");
            stage.claim("coder", "T-1");
            assert_eq!(code(stage.land("T-1", crate::stage::COMMIT)), "ACCEPTANCE_FAILED", "{answered}");
        }
    }
}
