//! Who decides how a run with gates goes on: who leads it, and people. A worker has what is its own.

use crate::desk::{Desk, spec};
use crate::stage::{Stage, code, of_process, owner, plan, reviewer, say, task, with, word};
use countersign_engine::{COMMANDS, Call};
use serde_json::{Value, json};

const OK: &str = "ok";
const NO: &str = "AUTHORIZATION_MISSING";
const CONFLICT: &str = "CONCURRENCY_CONFLICT";
const INVALID: &str = "INVALID_TRANSITION";
const NONE: &str = "DEPENDENCY_NOT_MET";

/// Only who leads and people.
const STEERS: [&str; 5] = [NO, NO, NO, OK, OK];
/// Only who works on the task.
const OWN: [&str; 5] = [OK, CONFLICT, CONFLICT, CONFLICT, CONFLICT];

/// Commands of work that are about no task of a run that goes on, or that say who leads: one process at a time carries a run
/// out, which is looked after where processes are.
const APART: [&str; 4] = ["run.open", "run.start", "run.lead", "bundle.resume"];

/// A run with one task in work, one that waits to be begun and one that is blocked, and the lease of the first.
fn stage(led: bool) -> (Stage, u64) {
    let tasks: Vec<Value> = ["T-1", "T-2", "T-3"].iter().map(|id| task(id, &[word(1), word(2)])).collect();
    let stage = Stage::of(plan(&tasks, json!({ "validate": "critic" })));
    let lease = stage.claim("coder", "T-1");
    stage.claim("coder", "T-3");
    let blocked = json!({ "task_id": "T-3", "code": "SCOPE_VIOLATION", "reason": "other was changed" });
    stage.desk.ok("coder", "task.block", blocked);
    let effect = json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease, "kind": "agent" });
    stage.desk.ok("ana", "effect.start", effect);
    stage.pass_on(led);
    (stage, lease)
}

/// The agent of T-1, another one, somebody who says that they orchestrate, who leads, and a person.
fn callers() -> [Call; 5] {
    [of_process("coder", 2), of_process("mia", 3), of_process("ana", 4), of_process("lead", 1), owner("olga")]
}

/// Every command about a run that goes on, and what comes of it for each of the callers while the run is led.
fn table(stage: &Stage, lease: u64) -> Vec<(&'static str, Value, [&'static str; 5])> {
    let of = |task: &str| json!({ "run_id": stage.run, "task_id": task, "reason": "so it is" });
    let failed = |task: &str| with(of(task), json!({ "code": "ACCEPTANCE_FAILED" }));
    let at = |more: Value| with(json!({ "run_id": stage.run, "task_id": "T-1", "lease": lease }), more);
    let two = json!({ "acceptance_criteria": ["criterion 1 holds", "criterion 2 holds"] });
    let wider = with(spec("T-3", "src/t-3"), with(two, json!({ "lock_scope": ["src/t-3", "other"] })));
    let envelope = json!({ "envelope": {
        "schema_version": "1.0.0", "run_id": stage.run, "assignments": [], "active_locks": [], "blockers": [],
        "ledger_delta": [{
            "task_id": "T-2", "status": "canceled", "owner": "coder", "reason": "not wanted", "delta_id": "d-1",
        }],
        "next_actions": ["wait"],
    }});
    let entry = json!({
        "action": "read", "decision": "go on", "result": "read", "next_step": "write", "run_id": stage.run, "task_id": "T-1",
    });
    let shown = json!({ "shown": stage.inbox()[0]["shown"] });
    let commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    vec![
        ("task.replan", with(json!({ "run_id": stage.run, "task": wider, "reason": "wider" }), shown.clone()), STEERS),
        ("task.unblock", with(of("T-3"), shown), STEERS),
        ("task.cancel", of("T-2"), STEERS),
        ("task.fail", failed("T-2"), STEERS),
        ("task.reassign", with(of("T-1"), json!({ "owner": "mia" })), [NO, NO, NO, INVALID, INVALID]),
        ("task.block", failed("T-2"), STEERS),
        ("envelope.apply", envelope, STEERS),
        ("run.cancel", json!({ "run_id": stage.run, "reason": "enough" }), STEERS),
        ("run.close", json!({ "run_id": stage.run }), [NO, NO, NO, INVALID, INVALID]),
        ("run.accept", json!({ "run_id": stage.run, "content": commit, "reason": "mine" }), [NO, NO, NO, NO, OK]),
        ("attempt.hold", at(json!({ "content": commit, "reason": "x was changed" })), STEERS),
        ("attempt.fail", at(json!({ "code": "DEPENDENCY_NOT_MET", "reason": "it died" })), STEERS),
        ("attempt.return", at(json!({ "reason": "it is gone" })), STEERS),
        ("effect.start", at(json!({ "kind": "landing" })), STEERS),
        ("effect.finish", at(json!({ "kind": "agent", "outcome": "exited with 0" })), STEERS),
        ("task.add", json!({ "run_id": stage.run, "tasks": [spec("T-4", "src/d")] }), [INVALID; 5]),
        ("task.claim", json!({ "run_id": stage.run, "task_id": "T-2" }), [NO; 5]),
        ("task.claim", json!({ "run_id": stage.run }), [NO, NONE, NONE, NONE, NONE]),
        ("task.heartbeat", at(json!({})), OWN),
        ("task.extend", at(json!({ "timeout_seconds": 900, "reason": "slow tests" })), OWN),
        ("task.release", at(json!({ "reason": "too hard" })), OWN),
        ("task.block", with(failed("T-1"), json!({ "lease": lease })), OWN),
        ("task.submit", json!({ "result": stage.result("T-1", "done"), "lease": lease }), OWN),
        ("worklog.add", entry, OWN),
    ]
}

fn outcome(said: Result<Value, (String, String)>) -> String {
    said.map_or_else(|(code, _)| code, |_| OK.to_owned())
}

#[test]
fn only_who_leads_and_people_say_how_a_run_goes_on() {
    let (first, lease) = stage(true);
    let rows = table(&first, lease);
    for (n, (id, _, expected)) in rows.iter().enumerate() {
        for (call, expected) in callers().iter().zip(expected) {
            let (stage, lease) = stage(true);
            let (_, request, _) = table(&stage, lease).swap_remove(n);
            let said = say(&stage.desk, call, id, &request);
            assert_eq!(outcome(said.clone()), *expected, "{id} by {}: {said:?}", call.actor);
        }
    }
    let known = |id: &str| rows.iter().any(|(it, ..)| *it == id) || APART.contains(&id);
    let of_work = ["run.", "task.", "envelope.", "attempt.", "effect.", "worklog.", "bundle."];
    let of_work = |id: &str| of_work.iter().any(|start| id.starts_with(start));
    let missing: Vec<&str> = COMMANDS.iter().map(|row| row.info.id).filter(|id| of_work(id) && !known(id)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "commands of which the table does not say whose they are");
}

#[test]
fn nor_does_a_worker_while_nobody_carries_the_run_out() {
    let steering = ["task.replan", "task.unblock", "task.cancel", "task.fail", "envelope.apply", "run.cancel"];
    for id in steering {
        let (stage, lease) = stage(false);
        let request = |it: &str| table(&stage, lease).into_iter().find(|(id, ..)| *id == it).unwrap().1;
        for call in &callers()[..4] {
            assert_eq!(code(say(&stage.desk, call, id, &request(id))), NO, "{id} by {}", call.actor);
        }
        say(&stage.desk, &owner("olga"), id, &request(id)).unwrap();
    }
}

/// Otherwise an agent that ends the process which leads could put itself in its place, with its own programs in the way of the checks.
#[test]
fn what_a_person_began_only_a_person_goes_on_with() {
    let callers = [of_process("coder", 2), of_process("ana", 4), owner("olga"), reviewer("rita")];
    for (begins, expected) in [(owner("olga"), [NO, NO, OK, NO]), (of_process("ana", 1), [OK, OK, OK, NO])] {
        for (call, expected) in callers.iter().zip(expected) {
            let desk = Desk::new();
            let plan = plan(&[task("T-1", &[word(1)])], json!({ "validate": "critic" }));
            let started = say(&desk, &begins, "run.start", &json!({ "plan": plan })).unwrap();
            let lead = |leads: bool| json!({ "run_id": started["run_id"], "leads": leads });
            say(&desk, &begins, "run.lead", &lead(true)).unwrap();
            let said = say(&desk, call, "run.lead", &lead(true));
            assert_eq!(outcome(said.clone()), expected, "begun by {}, {}: {said:?}", begins.actor, call.actor);
            // To have stopped is nothing that anybody gains by.
            say(&desk, &of_process("coder", 2), "run.lead", &lead(false)).unwrap();
        }
    }
}

/// The plan says who does what: nobody takes the work of others, and what an agent does that is no peer is taken by who starts it.
#[test]
fn a_task_of_a_plan_is_taken_by_its_agent_alone() {
    let of_lead = Call { actor: "coder".to_owned(), ..of_process("lead", 1) };
    let session = of_process("coder:dd0baf0b", 5);
    let callers =
        [of_process("coder", 2), of_process("mia", 3), of_process("coder2", 4), session, of_lead, owner("coder")];
    // Whether the agent is a peer, whether the run is led, and what comes of it for each.
    let table: [(bool, bool, [&str; 6]); 4] = [
        (false, true, [NO, NO, NO, NO, OK, NO]),
        (false, false, [NO, NO, NO, NO, NO, OK]),
        (true, true, [OK, NO, NO, OK, OK, OK]),
        (true, false, [OK, NO, NO, OK, OK, OK]),
    ];
    for (peer, led, expected) in table {
        for (call, expected) in callers.iter().zip(expected) {
            let mut plan = plan(&[task("T-1", &[word(1)])], json!({ "validate": "critic" }));
            if peer {
                plan["agents"]["coder"] = json!({ "peer": true });
            }
            let stage = Stage::of(plan);
            stage.pass_on(led);
            let request = json!({ "run_id": stage.run, "task_id": "T-1" });
            let said = say(&stage.desk, call, "task.claim", &request);
            assert_eq!(outcome(said.clone()), expected, "peer {peer}, led {led}, {}: {said:?}", call.actor);
            assert_eq!(stage.status("T-1"), if expected == OK { "in_progress" } else { "todo" });
        }
    }
}

#[test]
fn what_is_best_for_a_worker_is_what_the_plan_gives_them() {
    let two = with(task("T-2", &[word(1)]), json!({ "agent": "mia" }));
    let mut plan = plan(&[task("T-1", &[word(1)]), two], json!({ "validate": "critic" }));
    plan["agents"]["coder"] = json!({ "peer": true });
    plan["agents"]["mia"] = json!({ "peer": true });
    let stage = Stage::of(plan);
    stage.pass_on(true);
    let next = |who: &str| stage.desk.look(who, "task.next", json!({}));
    assert_eq!((&next("coder")["task"]["task_id"], &next("mia")["task"]["task_id"]), (&json!("T-1"), &json!("T-2")));
    let none = next("dan");
    assert!(none["task"].is_null() && none["reason"].as_str().unwrap().ends_with("to coder, mia"), "{none}");
    let taken = say(&stage.desk, &of_process("mia", 3), "task.claim", &json!({})).unwrap();
    assert_eq!(taken["task_id"], "T-2");
}

#[test]
fn the_refusal_says_who_may_and_how() {
    let (stage, _) = stage(true);
    let request = json!({ "run_id": stage.run, "task_id": "T-3", "reason": "again" }).to_string();
    let said = stage.desk.engine.ask(&stage.desk.around, &of_process("coder", 2), "task.unblock", &request);
    let Err(countersign_engine::Failure::Refused(refusal)) = said else { panic!("{said:?}") };
    for words in ["the process that carries it out", "a person"] {
        assert!(refusal.reason.contains(words), "{}", refusal.reason);
    }
    for words in ["countersign inbox", "at a terminal", "--token-file"] {
        assert!(refusal.help.contains(words), "{}", refusal.help);
    }
}

/// The plan says who works: whoever carries the run out would start them again.
#[test]
fn nobody_gives_a_task_of_a_plan_to_another_worker() {
    for led in [true, false] {
        let (stage, lease) = stage(led);
        let mark = stage.inbox()[0]["shown"].clone();
        for (task, shown) in [("T-1", json!({})), ("T-2", json!({})), ("T-3", json!({ "shown": mark }))] {
            let request = json!({ "run_id": stage.run, "task_id": task, "owner": "mia", "reason": "stuck" });
            let request = with(request, shown).to_string();
            let said = stage.desk.engine.ask(&stage.desk.around, &owner("olga"), "task.reassign", &request);
            let Err(countersign_engine::Failure::Refused(refusal)) = said else { panic!("{task}: {said:?}") };
            assert_eq!(refusal.code.as_str(), INVALID, "{task}");
            for words in ["task unblock", "task cancel", "change the plan"] {
                assert!(refusal.help.contains(words), "{}", refusal.help);
            }
        }
        // Nothing was lost by asking.
        assert_eq!(stage.lease("T-1"), lease);
        assert_eq!(stage.inbox()[0]["task_id"], "T-3");
    }
}
