//! Peers that claim tasks of a run themselves, through every door there is, and whose work is done only through its gates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod run_support;
mod server;
mod wire;

use run_support::{Yard, task};
use serde_json::{Value, json};
use server::Server;
use wire::{Revision, Session};

/// A door through which a peer works.
trait Door {
    /// What comes of a command: its answer, or the code of a refusal.
    fn ask(&mut self, tool: &str, command: &str, request: Value) -> Result<Value, String>;
}

impl Door for Session {
    fn ask(&mut self, tool: &str, _: &str, request: Value) -> Result<Value, String> {
        let (object, refused) = self.call(tool, request);
        if refused { Err(object["code"].as_str().unwrap().to_owned()) } else { Ok(object["answer"].clone()) }
    }
}

/// A server, and whoever speaks to it.
struct Served(Server, server::Client);

impl Door for Served {
    fn ask(&mut self, _: &str, command: &str, request: Value) -> Result<Value, String> {
        let said = self.1.ask(command, &request);
        if said.status == 200 { Ok(said.answer()) } else { Err(said.json()["code"].as_str().unwrap().to_owned()) }
    }
}

fn result(run: &str, changes: Value) -> Value {
    json!({
        "schema_version": "1.0.0", "run_id": run, "task_id": "T-1", "status": "done", "changes": changes,
        "acceptance_check": [{ "criterion": "the file is there", "status": "pass", "evidence": "it was written and read" }],
        "notes_for_orchestrator": [], "worklog_path": "worklogs/T-1.jsonl",
    })
}

fn result_of(run: &str, changes: Value) -> String {
    result(run, changes).to_string()
}

/// A peer works on T-1, T-2 waits for it: what it claims and is not there is found out, and what is there is done.
fn works(open: impl FnOnce(&Yard, &str) -> Box<dyn Door>) {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "agent": "pal" })), task("T-2", json!({ "depends_on": ["T-1"] }))];
    let agents = json!({ "pal": { "peer": true }, "coder": yard.honest() });
    let mut going = yard.start(&["run", &yard.plan(agents, tasks, json!({})), "--no-wait"]);
    // A run that waits says for whom, and why.
    going
        .until("run ")
        .until("T-1: waits for pal, a peer, to claim it: over MCP, over HTTP, or with `countersign task claim T-1");
    let run = yard.runs()[0].clone();
    let mut door = open(&yard, &run);
    let of = |more: Value| {
        let mut request = json!({ "run_id": run, "task_id": "T-1" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let claimed = door.ask("claim", "task.claim", of(json!({}))).unwrap();
    let lease = claimed["lease"].clone();
    going.until(&format!("T-1: pal works, attempt 1, lease {lease}"));
    door.ask("heartbeat", "task.heartbeat", of(json!({ "lease": lease }))).unwrap();
    // A claim that nothing bears out is refused, and can be mended.
    let made = json!([{ "resource": "src/T-1", "action": "created", "summary": "as asked" }]);
    let bring = |changes: &Value, lease: &Value| of(json!({ "lease": lease, "result": result(&run, changes.clone()) }));
    assert_eq!(door.ask("submit", "task.submit", bring(&made, &lease)).unwrap_err(), "INTEGRITY_MISMATCH");
    // One that is not what was asked for does not pass its gates.
    door.ask("submit", "task.submit", bring(&json!([]), &lease)).unwrap();
    going.until("AC-1 file FAIL").until("T-1: tried again").until("T-1: waits for pal, a peer, to claim it");
    let lease = door.ask("claim", "task.claim", of(json!({}))).unwrap()["lease"].clone();
    yard.write("src/T-1", "by the peer\n");
    door.ask("submit", "task.submit", bring(&made, &lease)).unwrap();
    going.until("T-1: PASS by builtin").until("T-1: done (verified)").until("T-2: done (verified)");
    going.end().ended(0);
    let claims = yard.events().into_iter().filter(|it| it["kind"] == "task.claimed" && it["facts"]["task"] == "T-1");
    assert!(
        claims.clone().count() == 2 && claims.clone().all(|it| it["actor"] == "pal"),
        "{:?}",
        claims.collect::<Vec<_>>()
    );
    assert_eq!(yard.landed(), ["T-2", "T-1"]);
    yard.is_tidy();
}

#[test]
fn what_a_peer_did_outside_of_its_scope_does_not_decide_about_its_work() {
    let yard = Yard::new();
    let strict = "echo 1..1\nif grep -q work src/T-1; then echo ok 1; else echo not ok 1; fi\n";
    yard.write("tests/t.sh", strict);
    yard.commit("a test");
    let acceptance = json!([
        { "text": "the file is there", "check": [{ "test": ["sh", "tests/t.sh"] }, { "diff": true }], "pin": "tests/t.sh" },
    ]);
    let agents = json!({ "pal": { "peer": true } });
    let tasks = vec![task("T-1", json!({ "agent": "pal", "acceptance": acceptance }))];
    let mut going = yard.start(&["run", &yard.plan(agents, tasks, json!({})), "--no-wait"]);
    going.until("run ");
    let run = yard.runs()[0].clone();
    // Before it takes its task, it bends the test.
    yard.write("tests/t.sh", "echo 1..1\necho ok 1\n");
    yard.write("src/T-1", "idle\n");
    let pal = [("COUNTERSIGN_ACTOR", "pal")];
    let submit = |work: &str| {
        yard.run_with(&["task", "claim", "T-1"], &pal).ended(0);
        yard.write("src/T-1", work);
        let made = json!([{ "resource": "src/T-1", "action": "created", "summary": "as asked" }]);
        let result = yard.path("result.json");
        std::fs::write(&result, result_of(&run, made)).unwrap();
        yard.run_with(&["task", "submit", &result.display().to_string()], &pal).ended(0);
    };
    submit("idle, too\n");
    going.until("was not committed when the work was begun").until("AC-1 test FAIL").until("T-1: tried again");
    submit("work\n");
    going.until("AC-1 test pass").until("AC-1 diff pass").until("T-1: landed as").until("T-1: done (verified)");
    going.end().ended(0);
    assert_eq!(
        (yard.git(&["show", "HEAD:src/T-1"]), yard.git(&["status", "--porcelain"])),
        ("work".into(), "M tests/t.sh".into())
    );
    assert_eq!(yard.git(&["show", "HEAD:tests/t.sh"]), strict.trim_end());
}

#[test]
fn a_peer_works_over_mcp() {
    for revision in [Revision::Handshake, Revision::Stateless] {
        works(|yard, _| Box::new(Session::over(yard.command(&["mcp", "--as", "pal"]), revision).greeted()));
    }
}

#[test]
fn a_peer_works_over_http() {
    works(|yard, run| {
        let make =
            ["token", "make", "--role", "agent", "--task", "T-1", "--name", "pal", "--run", run, "--format", "json"];
        let token: Value = serde_json::from_str(&yard.decide(&make).ended(0)).unwrap();
        let server = Server::over(yard.command(&["serve", "--listen", "127.0.0.1:0"]));
        let client = server.client(token["token"].as_str().unwrap());
        Box::new(Served(server, client))
    });
}

#[test]
fn what_a_person_has_accepted_of_a_peers_work_lands_and_is_not_waited_for_again() {
    let yard = Yard::new();
    let acceptance = json!([
        { "text": "the file is there", "check": { "file": { "path": "src/T-1" } } },
        { "text": "another is there", "check": { "file": { "path": "src/T-0" } } },
    ]);
    let tasks = vec![task("T-1", json!({ "agent": "pal", "acceptance": acceptance, "retries": 0 }))];
    let mut going = yard.start(&["run", &yard.plan(json!({ "pal": { "peer": true } }), tasks, json!({})), "--no-wait"]);
    going.until("T-1: waits for pal, a peer, to claim it");
    let pal = [("COUNTERSIGN_ACTOR", "pal")];
    yard.run_with(&["task", "claim", "T-1"], &pal).ended(0);
    yard.write("src/T-1", "by the peer\n");
    let mut brought =
        result(&yard.runs()[0], json!([{ "resource": "src/T-1", "action": "created", "summary": "as asked" }]));
    let another = json!({ "criterion": "another is there", "status": "pass", "evidence": "it was looked for" });
    brought["acceptance_check"].as_array_mut().unwrap().push(another);
    let file = yard.path("result.json");
    std::fs::write(&file, brought.to_string()).unwrap();
    yard.run_with(&["task", "submit", &file.display().to_string()], &pal).ended(0);
    going.end().ended(1);
    let asked = yard.asked();
    let accept = json!({ "task_id": "T-1", "shown": asked["shown"], "failures": ["AC-2"], "reason": "later" });
    yard.owner("gate.accept", accept).unwrap();
    let answer = yard.resume();
    answer.says("T-1: done (accepted)");
    assert!(!answer.out.contains("waits for pal"), "{}", answer.out);
    // Nobody has worked a second time.
    let row = answer.out.lines().find(|line| line.starts_with("T-1 ")).unwrap();
    assert_eq!(row.split_whitespace().nth(3), Some("1"), "{}", answer.out);
    answer.ended(0);
    assert_eq!(yard.landed(), ["T-1"]);
    yard.is_tidy();
}

/// A response of `critic` about T-1.
fn seen(status: &str) -> String {
    let results =
        json!([{ "criterion_id": "AC-1", "status": status, "evidence": "src/T-1 was read", "remediation": "mend it" }]);
    json!({
        "task_id": "T-1", "verdict": status, "criteria_results": results, "reasoning": "looked at it",
        "timestamp": "2026-01-01T00:00:00Z", "validator_id": "critic",
    })
    .to_string()
}

/// The same in YAML, a line for each field.
fn yaml(json: &str) -> String {
    let fields: serde_json::Map<String, Value> = serde_json::from_str(json).unwrap();
    fields.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

#[test]
fn a_peer_that_validates_is_waited_for_and_speaks_with_a_token_of_its_own() {
    let yard = Yard::new();
    let agents = json!({ "coder": yard.honest(), "critic": { "peer": true, "role": "validator" } });
    let tasks = vec![
        task("T-1", json!({ "acceptance": [{ "text": "it is elegant" }] })),
        task("T-2", json!({ "acceptance": [{ "text": "it is elegant" }] })),
    ];
    let more = json!({ "gates": { "validate": "critic" }, "concurrency": 1 });
    let mut going = yard.start(&["run", &yard.plan(agents, tasks, more), "--no-wait"]);
    // What waits for somebody takes nobody's place.
    going.until("T-1: waits for critic, a peer, to validate").until("T-2: waits for critic, a peer, to validate");
    let run = yard.runs()[0].clone();
    // Who validates can ask what waits for them, and about which commit.
    let waits = |name: &str| {
        let shown = yard.run(&["gate", "waiting", "--validator", name, "--format", "json"]).ended(0);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let items = shown["items"].as_array().unwrap().clone();
        let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
        items.iter().map(|item| (text(item, "task_id"), text(item, "bound"))).collect::<Vec<_>>()
    };
    let kept = |task: &str| yard.git(&["rev-parse", &format!("refs/countersign/{run}/{task}")]);
    assert_eq!(waits("critic"), ["T-1", "T-2"].map(|task| (task.to_owned(), kept(task))));
    assert_eq!(waits("somebody"), []);
    let make = ["token", "make", "--role", "reviewer", "--name", "critic", "--format", "json"];
    let token: Value = serde_json::from_str(&yard.decide(&make).ended(0)).unwrap();
    let file = yard.path("critic.token");
    std::fs::write(&file, token["token"].as_str().unwrap()).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.display().to_string();
    let response = yard.path("response.json");
    let say = |task: &str, status: &str, more: &[&str]| {
        // In either form.
        let written = seen(status).replace("T-1", task);
        std::fs::write(&response, if status == "PASS" { written } else { yaml(&written) }).unwrap();
        let commit = yard.git(&["rev-parse", &format!("refs/countersign/{run}/{task}")]);
        let response = response.display().to_string();
        yard.run(&[&["gate", "validate", task, &response, "--validator", "critic", "--bound", &commit], more].concat())
    };
    let own = ["--token-file", file.as_str()];
    // A name that somebody says is theirs is no voice, and nobody else's is either.
    say("T-1", "PASS", &["--as", "critic"]).says("AUTHORIZATION_MISSING").ended_with(1);
    say("T-1", "PASS", &["--token-file", &yard.owner_token()]).says("AUTHORIZATION_MISSING").ended_with(1);
    // What it finds wrong is done again.
    say("T-1", "FAIL", &own).ended_with(0);
    going.until("T-1: tried again").until("T-1: waits for critic, a peer, to validate");
    say("T-2", "PASS", &own).ended_with(0);
    going.until("T-2: PASS by critic").until("T-2: done (verified)");
    assert_eq!(waits("critic"), [("T-1".to_owned(), kept("T-1"))]);
    say("T-1", "PASS", &own).ended_with(0);
    going.until("T-1: PASS by critic").until("T-1: done (verified)");
    going.end().ended(0);
    yard.is_tidy();
}

#[test]
fn what_was_called_off_waits_for_no_validator() {
    let yard = Yard::new();
    let agents = json!({ "coder": yard.honest(), "critic": { "peer": true, "role": "validator" } });
    let tasks = ["T-1", "T-2"].map(|id| task(id, json!({ "acceptance": [{ "text": "it is elegant" }] })));
    let more = json!({ "gates": { "validate": "critic" }, "concurrency": 1 });
    let mut going = yard.start(&["run", &yard.plan(agents, tasks.to_vec(), more), "--no-wait"]);
    going.until("T-1: waits for critic, a peer, to validate").until("T-2: waits for critic, a peer, to validate");
    yard.decide(&["task", "cancel", "T-1", "--reason", "not wanted"]).ended_with(0);
    let shown = yard.run(&["gate", "waiting", "--format", "json"]).ended(0);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let waits: Vec<&Value> = shown["items"].as_array().unwrap().iter().map(|item| &item["task_id"]).collect();
    assert_eq!(waits, ["T-2"]);
    going.kill();
}

#[test]
fn peers_that_validate_are_waited_for_side_by_side() {
    let yard = Yard::new();
    let peer = json!({ "peer": true, "role": "validator" });
    let agents = json!({ "coder": yard.honest(), "critic": peer, "editor": peer });
    let tasks = vec![task("T-1", json!({ "acceptance": [{ "text": "it is elegant" }], "retries": 1 }))];
    let plan = yard.plan(agents, tasks, json!({ "gates": { "validate": ["critic", "editor"] } }));
    let mut going = yard.start(&["run", &plan, "--no-wait"]);
    let both = |going: &mut run_support::Going| {
        going.until("T-1: waits for critic, a peer, to validate").until("T-1: waits for editor, a peer, to validate");
    };
    both(&mut going);
    let run = yard.runs()[0].clone();
    let say = |name: &str, status: &str| {
        let make = ["token", "make", "--role", "reviewer", "--name", name, "--format", "json"];
        let token: Value = serde_json::from_str(&yard.decide(&make).ended(0)).unwrap();
        let [file, response] = ["token", "response"].map(|what| yard.path(&format!("{name}.{what}")));
        std::fs::write(&file, token["token"].as_str().unwrap()).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::write(&response, seen(status).replace("critic", name)).unwrap();
        let commit = yard.git(&["rev-parse", &format!("refs/countersign/{run}/T-1")]);
        let [file, response] = [file, response].map(|path| path.display().to_string());
        let said =
            ["gate", "validate", "T-1", &response, "--validator", name, "--bound", &commit, "--token-file", &file];
        yard.run(&said).ended_with(0);
    };
    // Whoever is named last may be first, and what follows is decided when all have spoken.
    say("editor", "FAIL");
    going.until("T-1: FAIL by editor");
    say("critic", "PASS");
    going.until("T-1: tried again");
    both(&mut going);
    say("editor", "PASS");
    going.until("T-1: PASS by editor");
    say("critic", "PASS");
    going.until("T-1: PASS by critic").until("T-1: done (verified)");
    going.end().ended(0);
    yard.is_tidy();
}
