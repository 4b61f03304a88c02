//! Runners that are killed between any two steps, and two at once: an action is done once.

use super::*;

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
