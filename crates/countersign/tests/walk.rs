//! A walk through the tables of commands and views by the command line: each is really asked for by its verb, on one project.
//! That a command was carried out is read from the ledger; what a view shows is held to its schema.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use countersign_contract::Schemas;
use countersign_engine::{COMMANDS, VIEWS};
use run_support::{Yard, task};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

const PROMISE: &str = "promise-1a2b3c4d";
const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";

/// What no verb asks for by itself, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("attempt.return", "a run asks for it when it goes on after its process had ended"),
    ("gate.hold", "a run asks for it when it finds what contradicts a claim"),
    ("gate.recheck", "a run asks for it when what was validated is not what is there any more"),
    ("delegation.show", "`delegate` and runs look at it before they act, and show the response instead"),
    ("delegation.end", "the same"),
    (
        "delegation.start",
        "`delegate` begins with receiving; it asks for this where an instruction was received and not begun",
    ),
    ("delegation.observe", "what git shows goes with the answer; it is asked for where a success is looked at later"),
    ("delegation.entries", "`doctor` compares them with what lies in the repository"),
    ("delegation.task", "a run looks at it before it acts"),
    ("run.plan", "a run looks at it when it goes on"),
    ("effect.list", "the same"),
    ("lock.strays", "hooks look at it after a command was run"),
];

struct Walk {
    yard: Yard,
    shown: RefCell<BTreeSet<&'static str>>,
}

impl Walk {
    fn begun() -> Self {
        Self { yard: Yard::new(), shown: RefCell::default() }
    }

    /// Carries a verb out, and reads what it answers to programs.
    #[track_caller]
    fn does(&self, words: &str, more: &[&str]) -> Value {
        let arguments: Vec<&str> = words.split(' ').chain(more.iter().copied()).chain(["--format", "json"]).collect();
        let out = self.yard.run(&arguments).ended(0);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words}: {error}: {out}"))
    }

    /// The same by the person who owns the project.
    #[track_caller]
    fn owner(&self, words: &str, more: &[&str]) -> Value {
        self.does(words, &[more, &["--token-file", &self.yard.owner_token()]].concat())
    }

    /// Has a verb show a view.
    #[track_caller]
    fn shows(&self, view: &str, words: &str) -> Value {
        let row = VIEWS.iter().find(|row| row.info.id == view).unwrap();
        let mut schemas = Schemas::default();
        let mut schema = (row.shown)(&mut schemas);
        schema["$defs"] = Value::Object(schemas.into_defs());
        let shown = self.does(words, &[]);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<String> = validator.iter_errors(&shown).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{words}: {faults:?} in {shown}");
        self.shown.borrow_mut().insert(row.info.id);
        shown
    }

    /// What was carried out, as the ledger has it.
    fn carried_out(&self) -> BTreeSet<String> {
        let events = self.yard.events();
        let done = events.iter().filter(|event| event["kind"] != "command.refused");
        done.map(|event| event["command"].as_str().unwrap().to_owned()).collect()
    }

    /// A file beside the repository, in which everything that is not asked for would be found.
    fn file(&self, name: &str, value: &Value) -> String {
        let path = self.yard.path(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path.display().to_string()
    }

    fn mark(&self, of: &str) -> String {
        let shown = self.does(&format!("gate status {of}"), &[]);
        shown["shown"].as_str().unwrap().to_owned()
    }
}

#[test]
fn everything_that_can_be_asked_is_asked_by_its_verb() {
    let walk = Walk::begun();
    work(&walk);
    handoffs(&walk);
    promises(&walk);
    actions(&walk);
    plans(&walk);
    // A sign of life is no event, and its verb said until when.
    let mut asked = walk.carried_out();
    asked.insert("task.heartbeat".to_owned());
    asked.extend(walk.shown.borrow().iter().map(|id| (*id).to_owned()));
    let rows = COMMANDS.iter().map(|row| row.info.id).chain(VIEWS.iter().map(|row| row.info.id));
    let left: BTreeSet<&str> = rows.filter(|id| !asked.contains(*id)).collect();
    let without: BTreeSet<&str> = WITHOUT.iter().map(|(id, _)| *id).collect();
    assert_eq!(left, without, "each is asked for by a verb, or there is a reason why not");
}

fn work(walk: &Walk) {
    let yard = &walk.yard;
    let run = walk.does("run open --objective o --as lead", &[])["run_id"].as_str().unwrap().to_owned();
    for n in 1..=4 {
        walk.does(&format!("task add T-{n} --title t --lock src/{n} --as lead --accept"), &["it holds"]);
    }
    walk.shows("task.next", "task next");
    walk.does("task claim T-1 --as w1", &[]);
    assert!(walk.does("task heartbeat T-1 --as w1", &[])["expires_at"].is_string());
    walk.does("task extend T-1 --timeout 1h --reason long --as w1", &[]);
    walk.does("worklog add T-1 --action edit --decision d --result r --next n --as w1", &[]);
    for (view, words) in [
        ("run.list", "run list"),
        ("run.show", "run show"),
        ("task.list", "task list"),
        ("task.show", "task show T-1"),
        ("task.assignment", "task assignment T-1"),
        ("task.graph", "task graph"),
        ("lock.who", "lock who src/1"),
        ("lock.may", "lock may src/1 --as w1"),
        ("lock.mine", "lock mine --as w1"),
        ("gate.waiting", "gate waiting"),
        ("lock.list", "lock list"),
        ("worklog.show", "worklog show T-1"),
        ("reconcile", "reconcile"),
        ("bundle.make", "bundle make"),
    ] {
        walk.shows(view, words);
    }
    yard.write("src/1", "1");
    let result = json!({
        "schema_version": "1.0.0", "run_id": run, "task_id": "T-1", "status": "done", "notes_for_orchestrator": [],
        "changes": [{ "resource": "src/1", "action": "create", "evidence": "it is there" }],
        "acceptance_check": [{ "criterion": "it holds", "status": "pass", "evidence": "12 tests pass" }],
        "worklog_path": "worklogs/T-1.jsonl",
    });
    let result = walk.file("result.json", &result);
    walk.does("task submit --as w1", &[&result]);
    walk.does("task claim T-2 --as w1", &[]);
    walk.does("task block T-2 --reason r --as w1", &[]);
    walk.does("task unblock T-2 --reason r --as lead", &[]);
    walk.does("task replan T-2 --lock src/22 --reason r --as lead", &[]);
    walk.does("task claim T-2 --as w1", &[]);
    walk.does("task release T-2 --reason r --as w1", &[]);
    walk.does("task claim T-3 --as w1", &[]);
    walk.does("task reassign T-3 --to w2 --reason r --as lead", &[]);
    walk.does("task fail T-3 --code NON_COMPLIANT --reason r --as lead", &[]);
    walk.does("task cancel T-4 --reason r --as lead", &[]);
    let delta = json!({ "task_id": "T-2", "status": "canceled", "owner": "w1", "reason": "r", "delta_id": "d-1" });
    let envelope = json!({
        "schema_version": "1.0.0", "run_id": run, "ledger_delta": [delta], "assignments": [], "active_locks": [],
        "blockers": [], "next_actions": ["close the run"],
    });
    walk.does("apply --as lead", &[&walk.file("envelope.json", &envelope)]);
    let bundle = walk.file("bundle.json", &walk.does("bundle make", &[])["bundle"]);
    walk.does("bundle resume --as lead-2", &[&bundle]);
    walk.does("run close --as lead-2", &[]);
    walk.does("run open --objective another --as lead", &[]);
    walk.does("run cancel --reason r --as lead", &[]);
    let kept = walk.does("record", &[&result])["seq"].as_u64().unwrap().to_string();
    walk.owner(&format!("erase {kept} --reason mistake"), &[]);
    yard.commit("the first task");
}

fn handoffs(walk: &Walk) {
    let payload = walk.file("payload.json", &json!({ "decision": "round half to even" }));
    let handoff = walk.yard.path("handoff.json").display().to_string();
    let make = format!("handoff make --source planner --target builder --problem-type implementation --trace {TRACE}");
    walk.does(&make, &["--payload", &payload, "--out", &handoff, "--summary", "Build the plan"]);
    walk.does("handoff send --as planner", &[&handoff]);
    walk.shows("handoff.chain", &format!("handoff chain {TRACE}"));
    walk.shows("handoff.show", &format!("handoff show {TRACE}"));
    walk.does("handoff receive --as builder", &[&handoff]);
    walk.does("handoff receive --as builder --processed", &[&handoff]);
}

fn promises(walk: &Walk) {
    let create = |id: &str, more: &str| {
        walk.does(&format!("promise create --title t --id {id} --as c1 {more} --criterion"), &["it holds", "it lasts"]);
    };
    create(PROMISE, "--validator r1 --judge j1");
    walk.does(&format!("promise start {PROMISE} --as c1"), &[]);
    walk.does(&format!("promise release {PROMISE} --as c1"), &[]);
    walk.does(&format!("promise adopt {PROMISE} --as c2"), &[]);
    let evidence = "tests/cart.rs:41 sends an empty cart and gets 400";
    let meet = |id: &str, by: &str| {
        for criterion in ["AC-1", "AC-2"] {
            walk.does(&format!("promise meet {id} {criterion} --type manual --as {by} --evidence"), &[evidence]);
        }
    };
    meet(PROMISE, "c2");
    walk.shows("promise.show", &format!("promise show {PROMISE}"));
    walk.shows("promise.list", "promise list");
    walk.shows("gate.status", &format!("gate status {PROMISE}"));
    let result = |criterion: &str, status: &str| {
        let evidence = format!("POST /checkout came back as {criterion} asks, or not");
        json!({ "criterion_id": criterion, "status": status, "evidence": evidence, "remediation": "mend it" })
    };
    let response = json!({
        "task_id": PROMISE, "verdict": "PARTIAL", "timestamp": "2026-01-05T10:00:00Z", "validator_id": "r1",
        "criteria_results": [result("AC-1", "PASS"), result("AC-2", "FAIL")],
    });
    let response = walk.file("response.json", &response);
    walk.does("gate validate --validator r1 --as r1", &[PROMISE, &response]);
    walk.owner(&format!("gate accept {PROMISE} --failures AC-2 --reason known --shown {}", walk.mark(PROMISE)), &[]);
    walk.does(&format!("gate judge {PROMISE} PASS --judge j1 --reason convincing --as j1"), &[]);
    // What a person validates, and judges.
    let other = "promise-00000002";
    create(other, "--validator person --judge person");
    meet(other, "c1");
    walk.owner(
        &format!("gate testify {other} --pass AC-1,AC-2 --shown {} --evidence", walk.mark(other)),
        &["I tried it"],
    );
    walk.owner(&format!("gate rule {other} PASS --reason fine --shown {}", walk.mark(other)), &[]);
    create("promise-00000003", "--validator r1");
    walk.does("promise cancel promise-00000003 --reason r --as c1", &[]);
}

/// An instruction of a moment ago to make a branch.
fn instruction(yard: &Yard, number: u32, branch: &str) -> (String, Value) {
    let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
    let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
    let id = format!("DI-{}-{number:03}", &given[..10]);
    let mut instruction = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    let patch = json!({
        "INSTRUCTION_ID": id, "TIMESTAMP_UTC": given,
        "AUTHORIZATION": { "GOVERNANCE_EVIDENCE": "src/start", "QA_EVIDENCE": "src/start" },
    });
    countersign_contract::prove::merge(&mut instruction, &patch);
    let commit = yard.git(&["rev-parse", "HEAD"]);
    instruction["ACTION"] =
        json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": { "BRANCH_NAME": branch, "SOURCE_SHA": commit } });
    (id, instruction)
}

fn actions(walk: &Walk) {
    let (id, made) = instruction(&walk.yard, 1, "one");
    walk.does("delegate", &[&walk.file("instruction.json", &made)]);
    walk.shows("delegation.next", &format!("delegate --next {id}"));
    walk.shows("delegation.alerts", "delegate --alerts");
    // It lacks authority, and a person decides.
    let (id, mut again) = instruction(&walk.yard, 2, "other");
    again["AUTHORIZATION"]["HUMAN_APPROVAL"] = json!("NO");
    walk.yard.run(&["delegate", &walk.file("instruction.json", &again)]).ended(1);
    let shown = walk.yard.asked()["shown"].as_str().unwrap().to_owned();
    walk.owner(&format!("delegate --resolve {id} --decision abandon --reason r --shown {shown}"), &[]);
    walk.yard.commit("what was done");
}

/// A plan with a piece of work, and with actions that wait for a person.
fn plans(walk: &Walk) {
    let yard = &walk.yard;
    let action = |id: &str, number: u32, branch: &str| {
        let (_, instruction) = instruction(yard, number, branch);
        json!({ "id": id, "title": id, "kind": "delegate", "instruction": instruction, "approval": "person" })
    };
    let tried = yard.path("tried").display().to_string();
    // It fails once, and leaves a commit that nobody has landed.
    let beside = "git -C \"$COUNTERSIGN_PROJECT\" -c user.name=x -c user.email=x@x commit -q --allow-empty -m beside";
    let flaky =
        format!("test -e {tried} || {{ touch {tried}; {beside}; exit 3; }}; echo x > \"$scope\"; claim \"$scope\"");
    let agents = json!({ "coder": yard.honest(), "flaky": yard.agent(&flaky) });
    let work = [task("T-1", json!({})), task("T-5", json!({ "agent": "flaky", "depends_on": ["T-1"] }))];
    let tasks = work.into_iter().chain([action("T-2", 3, "two"), action("T-3", 4, "three")]).collect();
    yard.run(&["run", &yard.plan(agents, tasks, json!({}))]);
    // A run lands what its plan asks for; the verb of the same command is for what nobody lands.
    let head = yard.git(&["rev-parse", "HEAD"]);
    yard.run(&["gate", "land", "T-1", "--bound", &head, "--lease", "1", "--as", "lead"]).ended(1);
    let is_refused = |event: &Value| event["kind"] == "command.refused" && event["facts"]["command"] == "gate.land";
    assert!(yard.events().iter().any(is_refused));
    let inbox = walk.shows("inbox.list", "inbox");
    let mark = |task: &str| {
        let items = inbox["items"].as_array().unwrap();
        items.iter().find(|item| item["task_id"] == task).unwrap()["shown"].as_str().unwrap().to_owned()
    };
    walk.owner(&format!("run accept {head} --reason r"), &[]);
    walk.owner(&format!("gate approve T-2 --reason r --shown {}", mark("T-2")), &[]);
    walk.owner(&format!("gate refuse T-3 --reason r --shown {}", mark("T-3")), &[]);
    yard.resume();
}
