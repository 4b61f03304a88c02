//! Actions on a platform as tasks of a plan: approved exactly as they stand, carried out once, and concluded from their answers.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod crashes;
#[path = "../forge/mod.rs"]
mod forge;
mod outside;
#[path = "../run_support/mod.rs"]
mod run_support;

use countersign_domain::deciding::Role;
use countersign_engine::{Call, Failure, Nowhere};
use forge::Forge;
use run_support::{Answer, Yard, task, wait_for};
use serde_json::{Value, json};
use std::io::Write;
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
            yard.decide(&["run", "cancel", "--run", &run, "--reason", "seen enough"]).ended(0);
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
            yard.decide(&["run", "cancel", "--run", &other, "--reason", "seen enough"]).ended(0);
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

/// Another commit than the one that is checked out.
fn beside(yard: &Yard) -> String {
    yard.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "beside", "HEAD^{tree}"])
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
    let mut cases = vec![stands_there.clone(), tag(&yard, 1, "v2"), under(1_000_001), under(3_000_001), under(7)];
    // However it is written.
    let loud = |pointer: &str| {
        let mut other = under(7);
        let text = other.pointer(pointer).unwrap().as_str().unwrap().to_uppercase();
        *other.pointer_mut(pointer).unwrap() = json!(text);
        other
    };
    cases.extend([loud("/ACTION/PARAMETERS/TARGET_SHA"), loud("/REQUESTER/REPOSITORY")]);
    // The same name in another way: then there would be nothing left to approve.
    let otherwise = |pointer: &str, value: Value| {
        let mut other = under(7);
        *other.pointer_mut(pointer).unwrap() = value;
        other
    };
    let annotated = json!({
        "TAG_NAME": "v1", "TARGET_SHA": yard.git(&["rev-parse", "HEAD"]), "TAG_TYPE": "annotated", "MESSAGE": "m",
    });
    let elsewhere = json!({ "TAG_NAME": "v1", "TARGET_SHA": beside(&yard), "TAG_TYPE": "lightweight" });
    cases.extend([
        otherwise("/ACTION/PARAMETERS", annotated),
        otherwise("/ACTION/PARAMETERS", elsewhere),
        // Git acts in the repository of the project, whatever that is called.
        otherwise("/REQUESTER/REPOSITORY", json!("somebody/else")),
    ]);
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
    yard.decide(&["run", "cancel", "--run", &run, "--reason", "seen enough"]).ended(0);
    delegate(&under(7)).ended(0);
    assert_eq!(yard.git(&["tag"]), "v1\nv3");
    yard.run(&["verify"]).ended(0);
}

#[test]
fn who_works_in_a_run_does_not_approve_its_actions() {
    let yard = Yard::new();
    let tasks = vec![action("T-1", tag(&yard, 1, "v1"), json!({})), task("T-3", json!({ "retries": 0 }))];
    let agents = json!({ "coder": { "peer": true }, "idle": yard.honest() });
    let going = yard.start(&["run", &yard.plan(agents, tasks, json!({})), "--no-wait"]);
    let is_asked = || yard.look("inbox.list", json!({}))["items"] != json!([]);
    for _ in (0..1200).take_while(|_| !is_asked()) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    going.signal("-INT");
    going.end();
    // Somebody whose name stands in no plan takes a task for a while: a session of the peer.
    yard.run(&["task", "claim", "T-3", "--as", "coder:2"]).ended(0);
    yard.run(&["task", "release", "T-3", "--as", "coder:2", "--reason", "no time"]).ended(0);
    let inbox = yard.look("inbox.list", json!({}));
    let item = inbox["items"].as_array().unwrap().iter().find(|item| item["asks"] == "approval").unwrap();
    let request = json!({
        "run_id": item["run_id"], "task_id": "T-1", "shown": item["shown"], "reason": "looked at it",
    });
    for actor in ["coder", "Coder", "idle", "coder:2"] {
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
    yard.decide(&["run", "cancel", "--reason", "changed"]).ended(0);
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
    for (number, patch, tries) in [(1, json!({}), 4), (2, json!({ "retries": 1 }), 2)] {
        // Somebody else seems to be about to change it, and git does not say that it never ends.
        let name = format!("busy-{number}");
        let lock = yard.root().join(format!(".git/refs/heads/{name}.lock"));
        std::fs::write(&lock, "").unwrap();
        let before = events(&yard, "delegation.received");
        let answer = yard.run(&["run", &plan(&yard, vec![action("T-1", branch(&yard, number, &name), patch)])]);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert_eq!(events(&yard, "delegation.received") - before, tries, "{answer:?}");
        let run = yard.runs()[0].clone();
        assert_eq!(stands(&yard, &run, "T-1"), ("blocked".to_owned(), "delegation".to_owned()));
        // A person has it tried once more, in vain, and once more when it can work.
        let unblock = || yard.decide(&["task", "unblock", "T-1", "--reason", "again", "--run", &run]).ended(0);
        unblock();
        assert_eq!(yard.run(&["run", "--resume", &run]).code, 1);
        assert_eq!(events(&yard, "delegation.received") - before, tries + 1);
        std::fs::remove_file(&lock).unwrap();
        unblock();
        yard.run(&["run", "--resume", &run]).ended(0);
        assert!(has(&yard, &format!("refs/heads/{name}")));
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
