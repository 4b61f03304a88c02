//! The demonstration, end to end through the binary; and a plan of one's own, as the README tells it.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod readme;

use house::{Answer, House};
use serde_json::Value;
use std::process::Command;

/// What is typed inside of what the demonstration left.
fn in_till(house: &House, arguments: &[&str]) -> Answer {
    let (till, home) = (house.path("demo/till").display().to_string(), house.path("demo/home").display().to_string());
    house.run_with(&[&["--project", &till], arguments].concat(), "", &[("COUNTERSIGN_HOME", &home)])
}

fn sh(house: &House, folder: &str, script: &str) -> (bool, String) {
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap().display().to_string();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let output = shell.args(["-ec", script]).current_dir(house.path(folder)).env("PATH", path).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn everybody_is_caught_and_everything_is_done() {
    let house = House::new();
    let answer = house.run(&["demo", "--dir", "demo"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!house.path(".home").exists(), "the user's own configuration is not touched");

    // Each is caught by what is there for it, and goes on as it should.
    let rows: Vec<Vec<&str>> = answer
        .out
        .lines()
        .skip_while(|line| !line.starts_with("== Who lied"))
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let told: Vec<(&str, &str, &str, &str, &str)> = rows
        .iter()
        .map(|row| match row.as_slice() {
            [task, agent, attempt, by, then] => (*task, *agent, *attempt, *by, *then),
            [task, agent, attempt, by, event, then] => {
                let shown = in_till(&house, &["show", event]).out;
                assert!(shown.contains("task.blocked") && shown.contains(*task), "event {event}: {shown}");
                (*task, *agent, *attempt, *by, *then)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let again = "told why, tried again, done (verified)";
    assert_eq!(
        told,
        [
            ("T-1", "honest", "1", "nothing", "done (verified)"),
            ("T-2", "boaster", "1", "test: 1 of 3 failed", again),
            ("T-3", "wanderer", "1", "SCOPE_VIOLATION", "sent back by ana, done (verified)"),
            ("T-4", "skipper", "1", "test: 1 of 3 skipped", "told why, tried again"),
            ("T-4", "skipper", "2", "test: 1 of 3 failed", again),
            ("T-5", "mortal", "1", "process: ended by signal 9", again),
            ("T-6", "optimist", "1", "file: AC-2 FAIL", "accepted by ana, done (accepted)"),
        ]
    );

    // Nobody is caught twice at what a person has accepted.
    let of_manual = |word: &str| {
        let line = format!("  {word:<8} AC-2 by file: `doc/manual.md`");
        answer.out.lines().filter(|it| it.starts_with(&line)).count()
    };
    assert_eq!((of_manual("CAUGHT"), of_manual("accepted")), (1, 1));

    // What is handed over was too long: from how many tokens to how many, what is kept where, and that it arrived.
    let handed = answer.out.lines().find(|line| line.contains("hands    handoff to T-5 made, ")).unwrap();
    let numbers: Vec<u64> = handed.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
    let [5, tokens, 1500, was, ..] = numbers[..] else { panic!("{handed}") };
    assert!(tokens <= 1500 && was > 3000, "{handed}");
    let kept = handed.split(" and ").nth(1).unwrap().split(" keeps the whole of ").next().unwrap();
    assert!(house.read(&format!("demo/till/{kept}")).contains("I gave it 37 and 53, and it printed 90"), "{handed}");
    assert!(handed.contains("payload/working/from_agent/tried"), "{handed}");
    assert!(answer.out.contains("receives handoff 1 from T-1; its hash was verified: sha256:"));
    assert!(answer.out.contains("T-1 tells me: till/sum.sh adds amounts up"));

    // So says the ledger, and nobody has changed it.
    let run = answer.out.split("COUNTERSIGN_RUN=").nth(1).unwrap().split_whitespace().next().unwrap();
    let list = in_till(&house, &["task", "list", "--run", run, "--format", "json"]);
    let list: Value = serde_json::from_str(&list.out).unwrap();
    let mut tasks: Vec<(&str, &str, &str)> = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| ["task_id", "status", "assurance"].map(|name| task[name].as_str().unwrap()).into())
        .collect();
    // In the order in which they were added: what waits for others comes after them.
    tasks.sort_unstable();
    let verified = ["T-1", "T-2", "T-3", "T-4", "T-5"].map(|task| (task, "done", "verified"));
    assert_eq!(tasks, [&verified[..], &[("T-6", "done", "accepted"), ("T-7", "done", "verified")]].concat());

    // The action was asked for as it stood, done once after it was approved, and its entry passes.
    let asked = "CREATE_TAG in demo/till by git needs a person's approval";
    for words in [asked, "ana approves it, once", "with SUCCESS", "refs/tags/before-the-agents"] {
        assert!(answer.out.contains(words), "{words}: {}", answer.out);
    }
    let order = ["CREATE_TAG in demo/till", "ana approves it", "with SUCCESS"].map(|words| answer.out.find(words));
    assert!(order.is_sorted(), "{order:?}");
    let (_, entries) = sh(&house, "demo/till", "git ls-files .evidence");
    assert_eq!(entries.lines().count(), 1);
    assert!(answer.out.contains(entries.trim()), "{entries}");
    assert_eq!(
        in_till(&house, &["check", &format!("{}/{}", house.path("demo/till").display(), entries.trim())]).code,
        0
    );
    let verify = in_till(&house, &["verify", "--format", "json"]);
    assert_eq!(verify.code, 0, "{verify:?}");
    let verify: Value = serde_json::from_str(&verify.out).unwrap();
    assert_eq!((&verify["matches"], &verify["checkpoints"]), (&true.into(), &1.into()));
    let project = house.path("demo/till").display().to_string();
    assert_eq!(house.run(&["verify", "--project", &project]).code, 0, "it needs no key of the demonstration's");

    // What was landed is what passed, once each, and nothing that was refused.
    let (_, log) = sh(&house, "demo/till", "git log --format=%s");
    let mut landed: Vec<&str> = log.lines().collect();
    assert_eq!(landed.remove(0), "What was done on the platform");
    assert_eq!(landed.pop(), Some("A till without programs"));
    landed.sort_unstable();
    let titles = [
        "T-1: Add amounts up",
        "T-2: Round half to even",
        "T-3: Give change in coins",
        "T-4: Refuse what is no amount",
        "T-5: Print a receipt",
        "T-6: Describe the till",
    ];
    assert_eq!(landed, titles);
    let (passes, said) = sh(&house, "demo/till", "for test in tests/*.t; do sh $test; done; git status --porcelain");
    assert!(passes && !said.contains("not ok") && !said.contains("SKIP"), "{said}");
    assert!(!said.contains("??") && !said.contains(" M "), "the tree is clean: {said}");
    assert!(!house.path("demo/till/tests/skip").exists());
    assert!(!house.read("demo/till/till/sum.sh").contains("tidied"));

    // What it says to look at can be looked at.
    let next = answer.out.split("== What to look at next\n").nth(1).unwrap();
    let (works, seen) = sh(&house, "", next);
    assert!(works && seen.contains("everything matches"), "{seen}");
}

#[test]
fn without_a_directory_nothing_is_left_and_nothing_of_others_counts() {
    let house = House::new();
    house.write("tmp/.keep", "").write("ledger.db", "not ours");
    let tmp = house.path("tmp").display().to_string();
    let foreign = [
        ("TMPDIR", tmp.as_str()),
        ("COUNTERSIGN_PROJECT", "nowhere"),
        ("COUNTERSIGN_LEDGER", "ledger.db"),
        ("COUNTERSIGN_TOKEN", "cst_nobody"),
        ("COUNTERSIGN_RUN", "no run"),
        ("GIT_DIR", "nowhere"),
    ];
    let answer = house.run_with(&["demo"], "", &foreign);
    assert_eq!(answer.code, 0, "{answer:?}");
    let left: Vec<_> = house.all().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [house.path("ledger.db"), house.path("tmp/.keep")]);
    let readme = readme::text();
    let [shown] = &readme::steps(&readme, "console demo", &[""])[..] else { panic!("it is shown once") };
    assert_eq!(shown.command, "countersign demo");
    shown.must_print(&answer.out);
}

#[test]
fn what_is_there_is_never_written_over() {
    let house = House::new();
    house.write("mine/notes.txt", "keep me").write("file", "keep me");
    let home = house.path("mine/home").display().to_string();
    for (arguments, code) in [
        (&["demo", "--dir", "mine"][..], 2),
        (&["demo", "--dir", "file"], 3),
        (&["demo", "--inside", "--dir", "mine"], 2),
        (&["demo", "--inside", "--dir", "other"], 2),
        (&["demo", "--inside", "--fleeting", "--dir", "mine"], 2),
        (&["demo", "--fleeting", "--dir", "mine"], 2),
        (&["demo-agent", "honest"], 2),
    ] {
        let answer = house.run_with(arguments, "{}", &[("COUNTERSIGN_HOME", &home)]);
        assert_eq!(answer.code, code, "{arguments:?}: {answer:?}");
        assert!(answer.err.contains("error:"), "{arguments:?}: {answer:?}");
        assert_eq!(house.all().len(), 2, "{arguments:?}");
    }
    let inside = house.path("mine").display().to_string();
    let answer =
        house.run_with(&["demo", "--inside", "--fleeting", "--dir", &inside], "", &[("COUNTERSIGN_HOME", &home)]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("not empty"), "{answer:?}");
    assert_eq!(house.read("mine/notes.txt"), "keep me");
}

/// The section of the README, from its files to its last command.
#[test]
fn a_plan_of_ones_own_works_from_the_readme_alone() {
    let readme = readme::text();
    let house = House::new();
    for (block, name) in [("yaml plan.yaml", "plan.yaml"), ("sh agent.sh", "agent.sh"), ("sh test.sh", "test.sh")] {
        let lines = readme::lines(&readme, block);
        assert!(!lines.is_empty(), "{name} stands there");
        house.write(name, lines.join("\n") + "\n");
    }
    // Who commits is known to git, wherever one works.
    let settings: Vec<(String, String)> = [
        ("GIT_AUTHOR_NAME", "ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ("GIT_COMMITTER_NAME", "ann"),
        ("GIT_COMMITTER_EMAIL", "ann@example.org"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let steps = readme::steps(&readme, "console plan", &[""]);
    assert!(steps.len() >= 6, "{}", steps.len());
    for step in steps {
        step.play(&house, &settings);
    }
}
