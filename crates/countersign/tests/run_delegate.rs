//! Actions on a platform as tasks of a plan: approved exactly as they stand, carried out once, and concluded from their answers.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use countersign_domain::deciding::Role;
use countersign_engine::{Call, Failure, Nowhere};
use run_support::{Answer, Yard, task, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// The smallest instruction with an action in it, given a moment ago.
fn instruction(yard: &Yard, number: u32, action: &str, parameters: Value) -> Value {
    let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
    let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
    let contract = countersign_domain::contract("delegation_instruction").unwrap();
    let mut instruction = (contract.example)();
    let patch = json!({
        "INSTRUCTION_ID": format!("DI-{}-{number:03}", &given[..10]), "TIMESTAMP_UTC": given,
        "AUTHORIZATION": { "GOVERNANCE_EVIDENCE": "src/start", "QA_EVIDENCE": "src/start" },
    });
    countersign_contract::prove::merge(&mut instruction, &patch);
    let mut parameters = parameters;
    for name in ["SOURCE_SHA", "TARGET_SHA"] {
        if parameters[name] == "HEAD" {
            parameters[name] = json!(yard.git(&["rev-parse", "HEAD"]));
        }
    }
    instruction["ACTION"] = json!({ "TYPE": action, "PARAMETERS": parameters });
    instruction
}

fn branch(yard: &Yard, number: u32, name: &str) -> Value {
    instruction(yard, number, "CREATE_BRANCH", json!({ "BRANCH_NAME": name, "SOURCE_SHA": "HEAD" }))
}

fn tag(yard: &Yard, number: u32, name: &str) -> Value {
    let parameters = json!({ "TAG_NAME": name, "TARGET_SHA": "HEAD", "TAG_TYPE": "lightweight" });
    instruction(yard, number, "CREATE_TAG", parameters)
}

/// A task that is an action, with a patch over it.
fn action(id: &str, instruction: Value, patch: Value) -> Value {
    let mut task =
        json!({ "id": id, "title": format!("have {id} done"), "kind": "delegate", "instruction": instruction });
    for (name, value) in patch.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

/// A plan of actions alone.
fn plan(yard: &Yard, tasks: Vec<Value>) -> String {
    yard.plan(json!({}), tasks, json!({}))
}

fn has(yard: &Yard, name: &str) -> bool {
    !yard.git(&["for-each-ref", name]).is_empty()
}

fn events(yard: &Yard, kind: &str) -> usize {
    yard.events().iter().filter(|it| it["kind"] == kind).count()
}

/// A person answers what is asked, as it was shown to them.
fn answered(yard: &Yard, command: &str, item: &Value) -> Result<Value, String> {
    let request = json!({
        "run_id": item["run_id"], "task_id": item["task_id"], "shown": item["shown"], "reason": "looked at it",
    });
    yard.owner(command, request)
}

/// The state of a task, and what it asks for.
fn stands(yard: &Yard, run: &str, task: &str) -> (String, String) {
    let shown = yard.look("task.show", json!({ "run_id": run, "task_id": task }));
    let inbox = yard.look("inbox.list", json!({ "run_id": run }));
    let items = inbox["items"].as_array().unwrap().iter();
    let asks = items.filter(|item| item["task_id"] == task).map(|item| item["asks"].as_str().unwrap().to_owned());
    (shown["task"]["status"].as_str().unwrap().to_owned(), asks.collect())
}

#[test]
fn each_kind_of_action_is_asked_for_and_concluded_as_it_should_be() {
    let yard = Yard::new();
    yard.git(&["branch", "taken"]);
    let delete = |number, name: &str| instruction(&yard, number, "DELETE_BRANCH", json!({ "BRANCH_NAME": name }));
    let policy = || json!({});
    let person = || json!({ "approval": "person" });
    // What is asked at first; how it stands in the end; which name is there then.
    let cases = [
        (branch(&yard, 1, "one"), policy(), "", ("done", ""), ("refs/heads/one", true)),
        (branch(&yard, 2, "two"), person(), "approval", ("done", ""), ("refs/heads/two", true)),
        (tag(&yard, 3, "three"), policy(), "approval", ("done", ""), ("refs/tags/three", true)),
        (branch(&yard, 5, "taken"), policy(), "", ("blocked", "delegation"), ("refs/heads/taken", true)),
        (delete(6, "main"), json!({ "retries": 0 }), "approval", ("blocked", "delegation"), ("refs/heads/main", true)),
        (delete(7, "taken"), policy(), "approval", ("done", ""), ("refs/heads/taken", false)),
    ];
    for (instruction, patch, asks, ended, (name, there)) in cases {
        let id = instruction["INSTRUCTION_ID"].as_str().unwrap().to_owned();
        let answer = yard.run(&["run", &plan(&yard, vec![action("T-1", instruction.clone(), patch)])]);
        let run = yard.runs()[0].clone();
        if asks.is_empty() {
            assert_eq!(stands(&yard, &run, "T-1"), (ended.0.to_owned(), ended.1.to_owned()), "{id}: {answer:?}");
        } else {
            answer.says("needs a person's approval").says("countersign inbox");
            assert_eq!(stands(&yard, &run, "T-1"), ("blocked".to_owned(), asks.to_owned()), "{id}");
            let inbox = yard.look("inbox.list", json!({ "run_id": run }));
            let item = &inbox["items"][0];
            // What is shown is the exact instruction, and its hash.
            let shown: Value = serde_json::from_str(item["instruction"].as_str().unwrap()).unwrap();
            assert_eq!(shown, instruction);
            assert_eq!(item["sha256"], countersign_domain::delegation::trying::digest(&instruction));
            assert_eq!(yard.events().iter().filter(|it| it["facts"]["instruction_id"] == id.as_str()).count(), 1);
            answered(&yard, "delegation.approve", item).unwrap();
            let no = answered(&yard, "delegation.approve", item).unwrap_err();
            assert!(no.starts_with("INVALID_TRANSITION"), "an answer counts once: {no}");
            yard.run(&["run", "--resume", &run]);
        }
        assert_eq!(stands(&yard, &run, "T-1"), (ended.0.to_owned(), ended.1.to_owned()), "{id}");
        assert_eq!(has(&yard, name), there, "{name}");
        if ended.0 == "blocked" {
            yard.run(&["run", "cancel", "--run", &run, "--reason", "seen enough"]).ended(0);
        }
        // Another run with the same instruction does nothing more: it was acted on once. So nothing is done for it.
        let before = (yard.git(&["for-each-ref"]), events(&yard, "delegation.started"));
        if ended.0 == "done" {
            let again = yard.run(&["run", &plan(&yard, vec![action("T-1", instruction, policy())])]);
            assert_eq!(again.code, 1, "{again:?}");
            again.says(&format!("for T-1 of run {run}, and is acted on once")).says("a new id");
            let other = yard.runs()[0].clone();
            assert_eq!(stands(&yard, &other, "T-1"), ("blocked".to_owned(), "delegation".to_owned()), "{id}");
            assert_eq!((yard.git(&["for-each-ref"]), events(&yard, "delegation.started")), before);
            yard.run(&["run", "cancel", "--run", &other, "--reason", "seen enough"]).ended(0);
        }
        // What happened to it stands in the log of its run.
        let kinds = ["received", "started", "audited", "answered"].map(|kind| json!(format!("delegation.{kind}")));
        let happened = yard.events().into_iter().filter(|it| it["facts"]["instruction_id"] == id.as_str());
        let mut happened = happened.filter(|it| kinds.contains(&it["kind"]));
        assert!(happened.all(|it| it["run"] == run.as_str()), "{id}");
    }
    // A dry run would never be done.
    for instruction in [branch(&yard, 4, "four"), json!("four.json")] {
        let dry = plan(&yard, vec![action("T-1", instruction, json!({ "executor": "dry-run" }))]);
        let answer = yard.run(&["check", &dry]);
        assert_eq!(answer.code, 1, "{answer:?}");
        answer.says("plan-executor-unable");
    }
    yard.run(&["verify"]).ended(0);
}

#[test]
fn what_is_refused_is_not_done_and_nothing_else_stops() {
    let yard = Yard::new();
    let tasks = vec![
        action("T-1", tag(&yard, 1, "v1"), json!({})),
        action("T-2", branch(&yard, 2, "after"), json!({ "depends_on": "T-1" })),
        task("T-3", json!({})),
    ];
    let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
    let answer = yard.run(&["run", &plan]);
    assert_eq!(answer.code, 1, "{answer:?}");
    answer.says("T-3: done (verified)");
    let item = yard.asked();
    // An orchestrator is no reviewer, and an agent takes no action.
    let run = yard.runs()[0].clone();
    let line = ["gate", "approve", "T-1", "--reason", "x", "--shown", item["shown"].as_str().unwrap()];
    let refused = yard.run(&line);
    assert_eq!(refused.code, 1, "{refused:?}");
    refused.says("AUTHORIZATION_MISSING");
    let text = yard.run(&["inbox"]).ended(0);
    for words in ["may this be done", "\"TAG_NAME\": \"v1\"", "countersign gate approve T-1", "--shown"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    answered(&yard, "delegation.refuse", &item).unwrap();
    let answer = yard.resume();
    answer.says("ann refused it: looked at it");
    assert_eq!(stands(&yard, &run, "T-1").0, "failed");
    assert_eq!(stands(&yard, &run, "T-2").0, "todo");
    assert!(!has(&yard, "refs/tags/v1") && !has(&yard, "refs/heads/after"));
    assert_eq!(events(&yard, "delegation.received"), 0);
}

#[test]
fn nobody_but_the_runner_takes_an_action() {
    let yard = Yard::new();
    yard.run(&["run", &plan(&yard, vec![action("T-1", tag(&yard, 1, "v1"), json!({}))])]);
    answered(&yard, "delegation.approve", &yard.asked()).unwrap();
    for arguments in [&["task", "claim", "T-1", "--as", "coder"][..], &["task", "claim", "--as", "coder"]] {
        let answer = yard.run(arguments);
        assert_eq!(answer.code, 1, "{answer:?}");
    }
    yard.run(&["task", "claim", "T-1", "--as", "coder"]).says("only the process that carries the run out");
    yard.run(&["gate", "status", "T-1"]).says("has no gates");
    // Approved or not, another instruction is not taken for this one.
    let other = branch(&yard, 2, "other").to_string();
    let request = json!({ "file": "x.json", "instruction": other, "executor": "git", "task_id": "T-1" });
    let no = yard.owner("delegation.receive", request).unwrap_err();
    assert!(no.starts_with("AUTHORIZATION_MISSING"), "{no}");
    yard.resume().ended(0);
    assert!(has(&yard, "refs/tags/v1"));
}

#[test]
fn nobody_goes_around_a_plan() {
    let yard = Yard::new();
    let stands_there = tag(&yard, 1, "v1");
    yard.run(&["run", &plan(&yard, vec![action("T-1", stands_there.clone(), json!({}))])]);
    let under = |number: u32| {
        let mut other = stands_there.clone();
        other["INSTRUCTION_ID"] = tag(&yard, number, "v1")["INSTRUCTION_ID"].clone();
        other
    };
    let delegate = |instruction: &Value| {
        yard.write("alone.json", &instruction.to_string());
        yard.run(&["delegate", "alone.json"])
    };
    // The instruction itself, another and a try under its id, and the same action under another id.
    let cases = [stands_there.clone(), tag(&yard, 1, "v2"), under(1_000_001), under(3_000_001), under(7)];
    for refused in [false, true] {
        for instruction in &cases {
            let answer = delegate(instruction);
            assert_eq!(answer.code, 1, "{answer:?}");
            answer.says("AUTHORIZATION_MISSING").says("T-1 of run");
        }
        if !refused {
            // Something else that is like it is nobody's business here.
            delegate(&tag(&yard, 8, "v3")).ended(0);
            answered(&yard, "delegation.refuse", &yard.asked()).unwrap();
        }
    }
    assert_eq!(yard.git(&["tag"]), "v3");
    let run = yard.runs()[0].clone();
    assert_eq!(stands(&yard, &run, "T-1").0, "failed");
    // When nothing goes on in the run any more, it does not matter what stood there.
    yard.run(&["run", "cancel", "--run", &run, "--reason", "seen enough"]).ended(0);
    delegate(&under(7)).ended(0);
    assert_eq!(yard.git(&["tag"]), "v1\nv3");
    yard.run(&["verify"]).ended(0);
}

#[test]
fn what_was_received_for_a_task_is_acted_on_and_answered_by_its_runner_alone() {
    let yard = Yard::new();
    approved(&yard);
    let path = deadly_git(&yard, true);
    assert_eq!(yard.run_with(&["run", "--resume"], &[("PATH", &path)]).code, -1);
    let id = branch(&yard, 1, "fix")["INSTRUCTION_ID"].clone();
    let requests = [
        ("delegation.start", json!({ "instruction_id": id, "place": "elsewhere", "seconds": 60 })),
        ("delegation.answer", json!({ "instruction_id": id, "agent_instance_id": "coder" })),
    ];
    for (command, request) in requests {
        let no = yard.owner(command, request).unwrap_err();
        assert!(!no.is_empty() && events(&yard, "delegation.answered") == 0, "{no}");
    }
    let start = json!({ "instruction_id": id, "place": "elsewhere", "seconds": 60 });
    assert!(yard.owner("delegation.start", start).unwrap_err().starts_with("AUTHORIZATION_MISSING"));
    goes_on(&yard, 2);
}

#[test]
fn who_works_in_a_run_does_not_approve_its_actions() {
    let yard = Yard::new();
    let tasks = vec![action("T-1", tag(&yard, 1, "v1"), json!({})), task("T-3", json!({ "retries": 0 }))];
    let agents = json!({ "coder": yard.agent("exit 1"), "idle": yard.honest() });
    yard.run(&["run", &yard.plan(agents, tasks, json!({}))]);
    // Somebody who stands in no plan takes a task for a while.
    yard.run(&["task", "unblock", "T-3", "--reason", "again"]).ended(0);
    yard.run(&["task", "claim", "T-3", "--as", "peer"]).ended(0);
    yard.run(&["task", "release", "T-3", "--as", "peer", "--reason", "no time"]);
    let inbox = yard.look("inbox.list", json!({}));
    let item = inbox["items"].as_array().unwrap().iter().find(|item| item["asks"] == "approval").unwrap();
    let request = json!({
        "run_id": item["run_id"], "task_id": "T-1", "shown": item["shown"], "reason": "looked at it",
    });
    for actor in ["coder", "Coder", "idle", "peer"] {
        let call = Call { roles: vec![Role::Owner], ..Call::declared(actor) };
        for command in ["delegation.approve", "delegation.refuse"] {
            let failure = yard.engine().ask(&Nowhere, &call, command, &request.to_string()).unwrap_err();
            let Failure::Refused(refusal) = failure else { panic!("{failure:?}") };
            assert_eq!(refusal.code.as_str(), "AUTHORIZATION_MISSING", "{actor}");
            assert!(refusal.reason.contains("works in this run"), "{}", refusal.reason);
        }
    }
    // Nor does the process of an agent, whatever name it goes by.
    for verb in ["approve", "refuse"] {
        let line = ["gate", verb, "T-1", "--reason", "x", "--shown", item["shown"].as_str().unwrap()];
        let answer = yard.run_with(&line, &[("COUNTERSIGN_ATTEMPT", "1"), ("COUNTERSIGN_ACTOR", "ann")]);
        assert_eq!(answer.code, 1, "{answer:?}");
        answer.says("the process of an agent");
    }
    let line = ["gate", "approve", "T-1", "--reason", "x"];
    let (code, said) = at_a_terminal(&yard, &[&line[..], &["--as", "coder"]].concat(), "y\n");
    assert!(code == 1 && said.contains("AUTHORIZATION_MISSING"), "{said}");
    let (code, said) = at_a_terminal(&yard, &line, "y\n");
    assert_eq!(code, 0, "{said}");
    // Whoever is not asked is not shown anything, and not asked either.
    let (code, said) = at_a_terminal(&yard, &line, "y\n");
    assert!(code == 1 && said.contains("does not ask for an approval: it was approved"), "{said}");
    assert!(!said.contains("[y/N]"), "{said}");
}

/// What a person is told at a terminal, who types this.
fn at_a_terminal(yard: &Yard, arguments: &[&str], typed: &str) -> (i32, String) {
    const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let own = yard.command(arguments);
    let mut person = Command::new("python3");
    person.args(["-c", SPAWN]).arg(own.get_program()).args(own.get_args()).current_dir(yard.root());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => person.env(name, value),
            None => person.env_remove(name),
        };
    }
    person.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut going = person.spawn().unwrap();
    going.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = going.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn an_answer_counts_for_the_exact_instruction_alone() {
    let yard = Yard::new();
    let (one, two) = (tag(&yard, 1, "v1"), tag(&yard, 1, "v2"));
    yard.run(&["run", &plan(&yard, vec![action("T-1", one.clone(), json!({}))])]);
    let first = yard.asked();
    answered(&yard, "delegation.approve", &first).unwrap();
    // Changed after it was approved: it is another instruction, and asked for again.
    yard.run(&["run", "cancel", "--reason", "changed"]).ended(0);
    yard.run(&["run", &plan(&yard, vec![action("T-1", two, json!({}))])]);
    let second = yard.asked();
    assert_ne!((&first["sha256"], &first["shown"]), (&second["sha256"], &second["shown"]));
    let mut old = second.clone();
    old["shown"] = first["shown"].clone();
    assert!(answered(&yard, "delegation.approve", &old).unwrap_err().starts_with("INTEGRITY_MISMATCH"));
    // So is the same one in another run, and what was shown too long ago.
    let (mark, minute) = second["shown"].as_str().unwrap().split_once('.').unwrap();
    let minute: i64 = minute.parse().unwrap();
    for (shown, good) in [(minute - 24 * 60 - 1, false), (minute + 2, false), (minute, true)] {
        let mut item = second.clone();
        item["shown"] = json!(format!("{mark}.{shown}"));
        assert_eq!(answered(&yard, "delegation.approve", &item).is_ok(), good, "{shown}");
    }
    yard.resume().ended(0);
    assert!(has(&yard, "refs/tags/v2") && !has(&yard, "refs/tags/v1"));
    // The id was used up by then.
    yard.run(&["run", &plan(&yard, vec![action("T-1", one, json!({}))])]).says("another instruction came under");
    assert!(!has(&yard, "refs/tags/v1"));
}

#[test]
fn what_fails_is_tried_again_three_times_and_then_when_a_person_says_so() {
    let yard = Yard::new();
    // A branch beneath another cannot be made, and git does not say that it never will be.
    yard.git(&["branch", "a"]);
    for (number, patch, tries) in [(1, json!({}), 4), (2, json!({ "retries": 1 }), 2)] {
        let name = format!("a/{number}");
        let before = events(&yard, "delegation.received");
        let answer = yard.run(&["run", &plan(&yard, vec![action("T-1", branch(&yard, number, &name), patch)])]);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert_eq!(events(&yard, "delegation.received") - before, tries, "{answer:?}");
        let run = yard.runs()[0].clone();
        assert_eq!(stands(&yard, &run, "T-1"), ("blocked".to_owned(), "delegation".to_owned()));
        // A person has it tried once more, in vain, and once more when it can work.
        let unblock = || yard.run(&["task", "unblock", "T-1", "--reason", "again", "--run", &run]).ended(0);
        unblock();
        assert_eq!(yard.run(&["run", "--resume", &run]).code, 1);
        assert_eq!(events(&yard, "delegation.received") - before, tries + 1);
        yard.git(&["branch", "-m", "a", "b"]);
        unblock();
        yard.run(&["run", "--resume", &run]).ended(0);
        yard.git(&["branch", "-D", &name]);
        yard.git(&["branch", "-m", "b", "a"]);
    }
}

#[test]
fn what_the_platform_forbids_is_waited_for_and_the_run_says_so() {
    let yard = Yard::new();
    let delete = instruction(&yard, 1, "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }));
    let tasks = vec![action("T-1", delete, json!({})), action("T-2", branch(&yard, 2, "beside"), json!({}))];
    yard.run(&["run", &plan(&yard, tasks)]);
    answered(&yard, "delegation.approve", &yard.asked()).unwrap();
    let mut going = yard.start(&["run", "--resume"]);
    going.until("waits for the platform until");
    going.kill();
    // Whoever goes on waits on, and tries nothing before its time.
    let mut going = yard.start(&["run", "--resume"]);
    going.until("waits for the platform until");
    going.signal("-INT");
    going.end();
    assert_eq!(events(&yard, "delegation.received"), 2);
    assert!(has(&yard, "refs/heads/beside"), "nothing else stops");
}

/// A `git` that kills whoever calls it, before or after it has made the branch.
fn deadly_git(yard: &Yard, before: bool) -> String {
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap().trim().to_owned();
    let act = if before { String::new() } else { format!("'{real}' \"$@\" </dev/null") };
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do\n  if [ \"$word\" = refs/heads/fix ] && echo \"$@\" | grep -q update-ref; then\n    {act}\n    \
         kill -9 $PPID\n    exit 1\n  fi\ndone\nexec '{real}' \"$@\"\n"
    );
    std::fs::create_dir_all(yard.path("bin")).unwrap();
    std::fs::write(yard.path("bin/git"), script).unwrap();
    std::fs::set_permissions(yard.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", yard.path("bin").display(), std::env::var("PATH").unwrap())
}

/// After a kill: the run goes on to its end, and the branch was made once.
fn goes_on(yard: &Yard, started: usize) {
    let resumed = yard.resume();
    assert!(resumed.code == 0 || resumed.err.contains("no open run"), "{resumed:?}");
    assert_eq!(yard.git(&["reflog", "show", "--format=%gs", "refs/heads/fix"]).lines().count(), 1);
    assert_eq!((events(yard, "delegation.started"), events(yard, "delegation.answered")), (started, 1));
    assert_eq!((yard.count("delegation.received", "T-1"), yard.count("task.completed", "T-1")), (1, 1));
    let folder = yard.root().join(".evidence/platform-actions");
    let months = std::fs::read_dir(folder).unwrap().flatten();
    let entries: Vec<_> = months.flat_map(|it| std::fs::read_dir(it.path()).unwrap().flatten()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    yard.run(&["check", &entries[0].path().display().to_string()]).ended(0);
    yard.run(&["verify"]).ended(0);
}

fn approved(yard: &Yard) {
    yard.run(&["run", &plan(yard, vec![action("T-1", branch(yard, 1, "fix"), json!({ "approval": "person" }))])]);
    answered(yard, "delegation.approve", &yard.asked()).unwrap();
}

#[test]
fn killed_between_any_two_steps_it_acts_once() {
    // Before anybody was asked, and before anything was received: after each line that is said.
    for line in 0..3 {
        let yard = Yard::new();
        let plan = plan(&yard, vec![action("T-1", branch(&yard, 1, "fix"), json!({ "approval": "person" }))]);
        let mut going = yard.start(&["run", &plan]);
        for _ in 0..=line {
            going.line();
        }
        going.kill();
        yard.resume();
        answered(&yard, "delegation.approve", &yard.asked()).unwrap();
        goes_on(&yard, 1);
    }
    // Received, and not begun: whoever holds the lock of the instruction keeps it from being begun.
    let yard = Yard::new();
    approved(&yard);
    std::fs::create_dir_all(yard.root().join(".countersign/delegations")).unwrap();
    let id = branch(&yard, 1, "fix")["INSTRUCTION_ID"].as_str().unwrap().to_owned();
    let held = std::fs::File::create(yard.root().join(format!(".countersign/delegations/{id}.lock"))).unwrap();
    held.lock().unwrap();
    let going = yard.start(&["run", "--resume"]);
    wait_for("the instruction", || events(&yard, "delegation.received") == 1);
    going.kill();
    drop(held);
    goes_on(&yard, 1);
    // Begun, before and after acting.
    for before in [true, false] {
        let yard = Yard::new();
        approved(&yard);
        let path = deadly_git(&yard, before);
        assert_eq!(yard.run_with(&["run", "--resume"], &[("PATH", &path)]).code, -1);
        assert_eq!((has(&yard, "refs/heads/fix"), events(&yard, "delegation.answered")), (!before, 0));
        goes_on(&yard, 2);
    }
    // Answered, and the entry not written: a pipe that nobody writes to is in its place.
    let yard = Yard::new();
    approved(&yard);
    let today = jiff::Timestamp::now().to_string()[..10].to_owned();
    let pipe = yard.root().join(format!(".evidence/platform-actions/{}/PAA-{today}-001.md", &today[..7]));
    std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let going = yard.start(&["run", "--resume"]);
    wait_for("the answer", || events(&yard, "delegation.answered") == 1);
    going.kill();
    std::fs::remove_file(&pipe).unwrap();
    goes_on(&yard, 1);
    // Answered, and not concluded.
    let yard = Yard::new();
    approved(&yard);
    let mut going = yard.start(&["run", "--resume"]);
    going.until("SUCCESS, audit entry");
    going.kill();
    goes_on(&yard, 1);
}

#[test]
fn two_runs_with_one_instruction_act_once() {
    let yard = Yard::new();
    let plan = plan(&yard, vec![action("T-1", branch(&yard, 1, "fix"), json!({}))]);
    let both = [yard.start(&["run", &plan]), yard.start(&["run", &plan])];
    let mut codes = both.map(|going| going.end().code);
    codes.sort_unstable();
    assert_eq!(codes, [0, 1]);
    assert_eq!((events(&yard, "delegation.started"), events(&yard, "delegation.answered")), (1, 1));
    // It was done for one of them alone.
    assert_eq!(yard.count("task.completed", "T-1"), 1);
    let item = yard.asked();
    assert_eq!(item["asks"], "delegation");
    assert!(item["reason"].as_str().unwrap().contains("is acted on once"), "{item}");
}

#[test]
fn an_instruction_in_a_file_is_read_once_and_must_lie_beneath_the_project() {
    let yard = Yard::new();
    yard.write("instructions/branch.yaml", &branch(&yard, 1, "one").to_string());
    let named = |file: &str| plan(&yard, vec![action("T-1", json!(file), json!({ "approval": "person" }))]);
    let dry = yard.run(&["run", &named("instructions/branch.yaml"), "--dry-run"]).ended(0);
    assert!(dry.contains("CREATE_BRANCH in acme/shop") && dry.contains("a person is asked"), "{dry}");
    yard.run(&["run", &named("instructions/branch.yaml")]);
    // What is in the file from here on does not count.
    yard.write("instructions/branch.yaml", &branch(&yard, 1, "two").to_string());
    answered(&yard, "delegation.approve", &yard.asked()).unwrap();
    yard.resume().ended(0);
    assert!(has(&yard, "refs/heads/one") && !has(&yard, "refs/heads/two"));
    std::fs::write(yard.path("outside.yaml"), branch(&yard, 3, "three").to_string()).unwrap();
    let link = yard.root().join("instructions/link.yaml");
    std::os::unix::fs::symlink(yard.path("outside.yaml"), &link).unwrap();
    let absolute = yard.path("outside.yaml").display().to_string();
    for file in ["../outside.yaml", &absolute, "instructions/link.yaml", "instructions/absent.yaml"] {
        for arguments in [&["run"][..], &["run", "--dry-run"]] {
            let answer = yard.run(&[arguments, &[&named(file)]].concat());
            assert_eq!(answer.code, 2, "{file}: {answer:?}");
        }
    }
    yard.run(&["check", &named("../outside.yaml")]).says("leads out of the project");
    // One that is wrong is shown with everything that is.
    yard.write("instructions/wrong.yaml", &branch(&yard, 4, "a..b").to_string());
    let answer = yard.run(&["run", &named("instructions/wrong.yaml")]);
    assert_eq!(answer.code, 1, "{answer:?}");
    answer.says("instructions/wrong.yaml").says("BRANCH_NAME");
    assert!(!has(&yard, "refs/heads/three"));
    // Over the engine itself a file is not read at all.
    let text =
        json!({ "plan": "1.0", "objective": "o", "agents": {}, "tasks": [action("T-1", json!("x.yaml"), json!({}))] });
    let no = yard.owner("run.start", json!({ "plan": text })).unwrap_err();
    assert!(no.starts_with("MISSING_REQUIRED_INPUT"), "{no}");
}

#[test]
fn a_secret_in_an_instruction_appears_nowhere() {
    let canary = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let yard = Yard::new();
    let tagged = |parameters: Value| instruction(&yard, 1, "CREATE_TAG", parameters);
    let with = |name: &str| {
        let mut parameters = json!({ "TAG_NAME": "v1", "TARGET_SHA": "HEAD", "TAG_TYPE": "annotated", "MESSAGE": "m" });
        parameters[name] = json!(canary);
        tagged(parameters)
    };
    let mut elsewhere = branch(&yard, 1, "fix");
    elsewhere["AUDIT_CONTEXT"]["REASON"] = json!(canary);
    for instruction in
        [with("TAG_NAME"), with("MESSAGE"), with("TARGET_SHA"), with("TAG_TYPE"), with("UNKNOWN"), elsewhere]
    {
        yard.write("instruction.json", &instruction.to_string());
        for instruction in [instruction.clone(), json!("instruction.json")] {
            let plan = plan(&yard, vec![action("T-1", instruction, json!({}))]);
            for arguments in [&["run"][..], &["run", "--dry-run"], &["run", "--format", "json"], &["check"]] {
                let Answer { out, err, .. } = yard.run(&[arguments, &[&plan]].concat());
                assert!(!out.contains(&canary) && !err.contains(&canary), "{arguments:?}: {out}\n{err}");
            }
            yard.run(&["inbox"]).ended(0);
        }
        std::fs::remove_file(yard.root().join("instruction.json")).unwrap();
    }
    let found = yard.ledger().windows(canary.len()).any(|part| part == canary.as_bytes());
    assert!(!found && !has(&yard, "refs/tags"), "it is in the ledger, or was acted on");
    assert_eq!(events(&yard, "delegation.planned"), 0);
}

/// A platform that answers everything with one status. Gives its address.
fn platform(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the test.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(found) = line.to_lowercase().strip_prefix("content-length:") {
                    length = found.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let reads = first.starts_with("GET");
            let body = if reads {
                "[]".to_owned()
            } else {
                json!({ "id": 7, "node_id": "N_7", "number": 42, "state": "open", "created_at": "2020-01-01T00:00:00Z", "message": format!("so {}it is", "very ".repeat(60)) }).to_string()
            };
            let status = if reads { 200 } else { status };
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(head.as_bytes());
        }
    });
    url
}

#[test]
fn github_is_asked_where_the_settings_say_once_the_user_has_said_so() {
    let yard = Yard::new();
    let comment = |number: u32| {
        instruction(&yard, number, "COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 4, "COMMENT_BODY": "ready" }))
    };
    let (good, bad) = (platform(201), platform(404));
    let env = [("FORGE_TOKEN", "canary-4711"), ("GITHUB_TOKEN", "canary-4711")];
    let run = |number: u32, flags: &[&str]| {
        let plan = plan(&yard, vec![action("T-1", comment(number), json!({}))]);
        let answer = yard.run_with(&[&["run", &plan], flags].concat(), &env);
        assert!(!answer.out.contains("canary-4711") && !answer.err.contains("canary-4711"), "{answer:?}");
        if answer.code != 0 {
            yard.run(&["run", "cancel", "--reason", "seen enough"]).ended(0);
        }
        answer
    };
    // Flags outweigh, and are remembered for this address and this variable.
    yard.write(
        ".countersign/config.toml",
        &format!("[delegation]\ngithub_url = \"{good}\"\ngithub_token = \"FORGE_TOKEN\"\n"),
    );
    let answer = run(1, &[]);
    assert_eq!(answer.code, 1, "{answer:?}");
    answer.says("which this user has not named before");
    let answer = run(2, &["--github-url", &bad, "--github-token", "FORGE_TOKEN"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    answer.says("FAILURE").says("very it is");
    run(3, &["--github-url", &good, "--github-token", "FORGE_TOKEN"]).ended(0);
    run(4, &[]).ended(0);
    // Another variable is another thing to be sent there.
    yard.write(
        ".countersign/config.toml",
        &format!("[delegation]\ngithub_url = \"{good}\"\ngithub_token = \"HOME\"\n"),
    );
    run(5, &[]).says("which this user has not named before");
    yard.write("five.json", &comment(6).to_string());
    let answer = yard.run_with(&["delegate", "five.json", "--executor", "github"], &env);
    assert_eq!(answer.code, 2, "{answer:?}");
    yard.write(".countersign/config.toml", "");
    let answer = yard.run(&["delegate", "five.json", "--executor", "github", "--github-token", "NOWHERE_SET"]);
    assert_eq!(answer.code, 2, "{answer:?}");
}

#[test]
fn what_a_requester_may_not_go_on_with_is_in_the_inbox_and_answered_there() {
    let yard = Yard::new();
    yard.git(&["branch", "taken"]);
    let delegate = |number: u32, instruction: Value| {
        let name = format!("{number}.json");
        yard.write(&name, &instruction.to_string());
        yard.run(&["delegate", &name]);
        instruction["INSTRUCTION_ID"].as_str().unwrap().to_owned()
    };
    let next = |id: &str| yard.look("delegation.next", json!({ "instruction_id": id }))["step"].clone();
    let resolve = |id: &str, shown: &Value, decision: &str| {
        yard.owner(
            "delegation.resolve",
            json!({ "instruction_id": id, "shown": shown, "decision": decision, "reason": "r" }),
        )
    };
    // What the requester can do something about by itself is not asked of a person.
    delegate(1, branch(&yard, 1, "one"));
    delegate(2, branch(&yard, 2, "a..b"));
    delegate(3, instruction(&yard, 3, "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" })));
    assert_eq!(yard.look("inbox.list", json!({}))["items"], json!([]));
    let id = delegate(4, branch(&yard, 4, "taken"));
    let item = yard.asked();
    assert_eq!(
        (&item["instruction_id"], &item["asks"], next(&id)),
        (&json!(id), &json!("delegation"), json!("escalate"))
    );
    let text = yard.run(&["inbox"]).ended(0);
    assert!(text.contains(&format!("countersign delegate --resolve {id} --decision retry")), "{text}");
    assert!(text.contains("is there already"), "{text}");
    // Not by its requester, not by an older mark, and once.
    let line = [
        "delegate",
        "--resolve",
        &id,
        "--decision",
        "retry",
        "--reason",
        "r",
        "--shown",
        item["shown"].as_str().unwrap(),
    ];
    yard.run(&line).says("AUTHORIZATION_MISSING");
    assert!(resolve(&id, &json!("0123456789abcdef.1"), "retry").unwrap_err().starts_with("INTEGRITY_MISMATCH"));
    resolve(&id, &item["shown"], "retry").unwrap();
    assert_eq!(next(&id), "retry");
    assert!(resolve(&id, &item["shown"], "abandon").unwrap_err().starts_with("INVALID_TRANSITION"));
    assert_eq!(yard.look("inbox.list", json!({}))["items"], json!([]));
    // The next try fails as well, and is given up.
    let id = delegate(5, branch(&yard, 5, "taken"));
    let item = yard.asked();
    resolve(&id, &item["shown"], "abandon").unwrap();
    assert_eq!(next(&id), "abandon");
    yard.run(&["verify"]).ended(0);
}
