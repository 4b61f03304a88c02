//! Agents that hang, flood, lie, fork, die, and print what nobody may see: a run holds, and says what happened.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Answer, Yard, task, wait_for};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does something for each of many, a few at a time.
fn each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(one);
                }
            });
        }
    });
}

/// One task without retries and an agent that does what a script says.
fn one(yard: &Yard, script: &str, patch: Value) -> Answer {
    let mut task = json!({ "retries": 0 });
    for (name, value) in patch.as_object().unwrap() {
        task[name] = value.clone();
    }
    yard.one(json!({ "coder": yard.agent(script) }), task, json!({}))
}

#[test]
fn work_that_cannot_be_used_is_not_done_and_the_reason_is_said() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("floods its output", "yes | head -c 5000000", &["wrote 5000000 bytes to standard output"]),
        ("prints garbage", "echo '{{{ not a result'", &["SCHEMA_INVALID"]),
        ("prints bytes", "printf '\\377\\376'", &["is not UTF-8, at byte 0"]),
        ("prints nothing", "echo thinking >&2", &["wrote no result to standard output", "thinking"]),
        ("ends with an error", "echo 'out of memory' >&2; exit 3", &["exit code 3", "out of memory"]),
        (
            "claims and ends with an error",
            "echo x > $scope; claim $scope; exit 4",
            &["`sh` ended with an error (exit code 4)"],
        ),
        ("is killed", "kill -9 $$", &["ended by signal 9"]),
        ("brings the result of another task", "echo x > $scope; COUNTERSIGN_TASK=T-9 claim $scope", &["T-9"]),
        (
            "brings the result of another run",
            "echo x > $scope; COUNTERSIGN_RUN=4ce0c7b8-64a1-4a2a-8f5d-0d7b4b1f4a11 claim $scope",
            &["4ce0c7b8"],
        ),
        (
            "changes what is not its own",
            "echo x > $scope; echo x > other; claim $scope other",
            &["SCOPE_VIOLATION", "other"],
        ),
        (
            "changes what is not its own and is silent about it",
            "echo x > $scope; echo x > other; claim $scope",
            &["other"],
        ),
        ("removes what is not its own", "echo x > $scope; rm tests/t.sh; claim $scope", &["tests/t.sh"]),
        ("claims what it did not do", "claim $scope", &["src/T-1"]),
        ("says that it failed", "claim $scope | sed 's/\"done\"/\"failed\"/; s/\"pass\"/\"fail\"/'", &[]),
        ("removes its working tree", "rm -rf \"$PWD\"; claim $scope", &[]),
    ];
    each(cases, |(what, script, says)| {
        let yard = Yard::new();
        let answer = one(&yard, script, json!({}));
        assert_eq!(answer.code, 1, "{what}: {answer:?}");
        for words in *says {
            assert!(answer.out.contains(words), "{what}: `{words}` in\n{}", answer.out);
        }
        assert_eq!(yard.landed(), Vec::<String>::new(), "{what}");
        assert_eq!(yard.show("T-1")["task"]["status"], "blocked", "{what}: {}", answer.out);
        assert_eq!(yard.processes(), Vec::<String>::new(), "{what}");
        assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 1, "{what}");
        assert_eq!(yard.git(&["status", "--porcelain"]), "", "{what}");
        assert_eq!(yard.asked()["task_id"], "T-1", "{what}");
        yard.run(&["verify"]).ended(0);
    });
}

#[test]
fn work_that_can_be_used_is_done_whatever_the_agent_does_beside_it() {
    let cases: &[(&str, &str)] = &[
        ("floods its worklog", "yes error | head -c 20000000 >&2; echo x > $scope; claim $scope"),
        ("writes one endless line", "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo x > $scope; claim $scope"),
        ("leaves a child", "sleep 600 & echo x > $scope; claim $scope"),
        (
            "leaves a child that hides",
            "setsid sh -c 'trap \"\" TERM HUP; sleep 600' > /dev/null 2>&1 & echo x > $scope; claim $scope",
        ),
        ("leaves a child that holds its output", "(trap '' TERM; sleep 600) & echo x > $scope; claim $scope"),
        (
            "changes our own folder",
            "mkdir -p .countersign; echo x > .countersign/config.toml; echo x > $scope; claim $scope",
        ),
        ("commits", "echo x > $scope; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine; claim $scope"),
        (
            "goes to another commit",
            "git checkout -q --orphan other; git rm -rqf --cached .; echo x > $scope; claim $scope",
        ),
        ("breaks its repository", "echo x > $scope; rm -f .git; claim $scope"),
        ("does not read its assignment", "echo x > src/T-1; claim src/T-1"),
        ("says much around it", "echo x > $scope; echo 'Here is my result:' >&2; claim $scope"),
    ];
    each(cases, |(what, script)| {
        let yard = Yard::new();
        let before = yard.read(".countersign/config.toml");
        let answer = one(&yard, script, json!({}));
        assert_eq!(answer.code, 0, "{what}: {}\n{}", answer.out, answer.err);
        assert!(answer.out.len() < 1_000_000, "{what}: {} bytes were said", answer.out.len());
        assert_eq!(yard.landed(), ["T-1"], "{what}");
        assert_eq!(yard.read("src/T-1").as_deref(), Some("x\n"), "{what}");
        assert_eq!(yard.git(&["show", "--name-only", "--format=", "HEAD"]), "src/T-1", "{what}");
        assert_eq!(yard.read(".countersign/config.toml"), before, "{what}");
        assert!(yard.ledger().len() < 8 << 20, "{what}: the ledger has {} bytes", yard.ledger().len());
        yard.is_tidy();
    });
}

#[test]
fn files_that_an_agent_removes_are_gone() {
    let yard = Yard::new();
    let gone = json!([{ "text": "it is gone", "check": { "file": { "path": "src/start", "exists": false } } }]);
    let patch = json!({ "lock_scope": ["src/start"], "acceptance": gone });
    one(&yard, "rm src/start; claim src/start | sed 's/\"modified\"/\"deleted\"/'", patch).ended(0);
    assert_eq!(yard.read("src/start"), None);
    yard.is_tidy();
}

#[test]
fn a_secret_that_an_agent_prints_is_kept_nowhere() {
    // Put together here, so that nobody takes this file for a leak.
    let token = format!("ghp_{}", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX");
    let own = "canary-of-the-environment-5a17";
    let scripts = [
        ("on standard error", "echo \"the key is $SECRET\" >&2; echo x > $scope; claim $scope"),
        ("in a result", "echo x > $scope; claim $scope | sed \"s/as asked/used $SECRET/\""),
        ("as garbage", "echo \"$SECRET\""),
        ("as garbage in a result", "echo \"{\\\"task_id\\\": \\\"$SECRET\\\", \\\"status\\\": \\\"$SECRET\\\"}\""),
        ("at its end", "echo \"$SECRET\" >&2; exit 3"),
    ];
    let cases: Vec<_> = scripts.iter().flat_map(|it| [(it.0, it.1, token.as_str()), (it.0, it.1, own)]).collect();
    each(&cases, |(what, script, secret)| {
        let yard = Yard::new();
        let mut agent = yard.agent(script);
        agent["environment"] = json!(["SECRET", "PATH"]);
        let plan = yard.plan(json!({ "coder": agent }), vec![task("T-1", json!({ "retries": 0 }))], json!({}));
        for format in ["text", "json"] {
            let answer = yard.run_with(&["run", &plan, "--format", format], &[("SECRET", secret)]);
            assert!(!answer.out.contains(secret) && !answer.err.contains(secret), "{what}: {answer:?}");
            let places = [yard.ledger(), yard.run(&["log"]).out.into_bytes(), yard.git(&["log", "-p"]).into_bytes()];
            for place in places {
                let found = place.windows(secret.len()).any(|it| it == secret.as_bytes());
                assert!(!found, "{what}: {secret} was kept\n{answer:?}");
            }
            yard.decide(&["run", "cancel", "--reason", "once more"]);
        }
    });
}

#[test]
fn an_agent_that_is_silent_for_too_long_is_ended_and_its_task_tried_again() {
    let yard = Yard::new();
    let script = "if [ ! -e $COUNTERSIGN_HOME/hung ]; then touch $COUNTERSIGN_HOME/hung; trap '' TERM; sleep 600; sleep 600; fi; \
        echo x > $scope; claim $scope";
    let patch = json!({ "timeout": "30s", "heartbeat": "5s", "retries": 1 });
    let answer = yard.one(json!({ "coder": yard.agent(script) }), patch, json!({}));
    answer.says("no sign of life for 30 s");
    answer.ended(0);
    assert_eq!((yard.landed().len(), yard.count("task.claimed", "T-1")), (1, 2));
    yard.is_tidy();
}

#[test]
fn an_interrupt_ends_whoever_works_and_fails_nobody() {
    let hang = "touch $COUNTERSIGN_HOME/hangs; trap '' TERM; sleep 600; sleep 600";
    let once = format!("if [ ! -e $COUNTERSIGN_HOME/hangs ]; then {hang}; fi; ");
    let pass = "printf '{\"task_id\":\"T-1\",\"verdict\":\"PASS\",\"criteria_results\":[{\"criterion_id\":\"AC-1\",\"status\":\"PASS\",\
        \"evidence\":\"the file is there\"}],\"reasoning\":\"looked\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"validator_id\":\"second\"}'";
    let judged = "echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    let cases = [("coder", "-INT"), ("second", "-INT"), ("judge", "-INT"), ("check", "-INT"), ("coder", "-TERM")];
    each(&cases, |(who, signal)| {
        let yard = Yard::new();
        let part = |name: &str| if name == *who { once.as_str() } else { "" };
        let agents = json!({
            "coder": yard.agent(&format!("{}echo x > $scope; claim $scope", part("coder"))),
            "second": { "command": yard.agent(&format!("{}{pass}", part("second")))["command"], "role": "validator" },
            "judge": { "command": yard.agent(&format!("{}{judged}", part("judge")))["command"], "role": "judge" },
        });
        let check = part("check").replace("$COUNTERSIGN_HOME", &yard.path("home").display().to_string());
        let check = json!({ "command": ["sh", "-c", format!("{check}test -f src/T-1")] });
        let patch = json!({ "retries": 0, "acceptance": [{ "text": "it is there", "check": check }] });
        let gates = json!({ "gates": { "validate": ["builtin", "second"], "judge": "judge" } });
        let plan = yard.plan(agents, vec![task("T-1", patch)], gates);
        let going = yard.start(&["run", &plan]);
        wait_for(who, || yard.path("home/hangs").exists());
        going.signal(signal);
        let answer = going.end();
        answer.says("it was stopped").says("--resume");
        assert_eq!(answer.code, 1, "{who}: {answer:?}");
        assert_eq!(yard.processes(), Vec::<String>::new(), "{who}");
        assert_eq!(yard.show("T-1")["task"]["status"], "todo", "{who}: {answer:?}");
        let answer = yard.resume();
        assert_eq!(answer.code, 0, "{who}: {answer:?}");
        let began =
            yard.events().iter().filter(|it| it["kind"] == "effect.started" && it["facts"]["kind"] == "agent").count();
        assert_eq!(began, if *who == "coder" { 2 } else { 1 }, "{who}: what was claimed is not done again");
        assert_eq!(yard.landed(), ["T-1"], "{who}");
        yard.is_tidy();
    });
}

#[test]
fn a_second_interrupt_leaves_nobody_at_work() {
    let hang =
        "trap 'touch $COUNTERSIGN_HOME/asked' TERM; touch $COUNTERSIGN_HOME/hangs; while :; do sleep 0.1; done; ";
    each(&["coder", "check"], |who| {
        let yard = Yard::new();
        let part = |name: &str| if name == *who { hang } else { "" };
        let agents = json!({ "coder": yard.agent(&format!("{}echo x > $scope; claim $scope", part("coder"))) });
        let check = part("check").replace("$COUNTERSIGN_HOME", &yard.path("home").display().to_string());
        let check = json!({ "command": ["sh", "-c", format!("{check}test -f src/T-1")] });
        let patch = json!({ "acceptance": [{ "text": "it is there", "check": check }] });
        let going = yard.start(&["run", &yard.plan(agents, vec![task("T-1", patch)], json!({}))]);
        wait_for(who, || yard.path("home/hangs").exists());
        going.signal("-INT");
        wait_for("it is asked to end", || yard.path("home/asked").exists());
        going.signal("-INT");
        assert_eq!(going.end().code, 130, "{who}");
        wait_for("nobody is left", || yard.processes().is_empty());
    });
}

#[test]
fn who_works_on_what_is_canceled_is_ended_and_so_is_the_run() {
    let hang = "touch $COUNTERSIGN_HOME/hangs; trap '' TERM; sleep 600; sleep 600; ";
    let (run, one) = (&["run", "cancel", "--reason", "no"][..], &["task", "cancel", "T-1", "--reason", "no"][..]);
    let cases = [
        ("coder", Yard::new(), run),
        ("coder", Yard::new(), one),
        ("coder", Yard::plain(), one),
        ("second", Yard::new(), one),
        ("check", Yard::new(), one),
    ];
    each(&cases, |(who, yard, cancel)| {
        let part = |name: &str| if name == *who { hang } else { "" };
        let agents = json!({
            "coder": yard.agent(&format!("{}echo x > $scope; claim $scope", part("coder"))),
            "second": { "command": yard.agent(part("second"))["command"], "role": "validator" },
        });
        let check = part("check").replace("$COUNTERSIGN_HOME", &yard.path("home").display().to_string());
        let check = json!({ "command": ["sh", "-c", format!("{check}test -f src/T-1")] });
        let patch = json!({ "acceptance": [{ "text": "it is there", "check": check }] });
        let gates = json!({ "gates": { "validate": ["builtin", "second"] } });
        let going = yard.start(&["run", &yard.plan(agents, vec![task("T-1", patch)], gates)]);
        wait_for(who, || yard.path("home/hangs").exists());
        yard.decide(cancel).ended_with(0);
        let answer = going.end();
        answer.says("nobody works on it any more").says("canceled it: no");
        assert_eq!(answer.code, 1, "{who}: {answer:?}");
        assert_eq!(yard.processes(), Vec::<String>::new(), "{who}");
        assert_eq!(yard.read("src/T-1"), None, "{who}");
    });
}

#[test]
fn who_loses_their_lease_while_they_work_is_ended_and_it_is_said_why() {
    for (retries, says) in [(1, "T-1: tried again: "), (0, "T-1: waits for a person: ")] {
        let yard = Yard::new();
        let hang = "if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi; ";
        let agents = json!({ "coder": yard.agent(&format!("{hang}echo x > $scope; claim $scope")) });
        let tasks = vec![task("T-1", json!({ "retries": retries, "timeout": "5m" }))];
        let mut going = yard.start(&["run", &yard.plan(agents, tasks, json!({})), "--no-wait"]);
        wait_for("the agent", || yard.path("home/hangs").exists());
        // For somebody whose clock is ahead the time is up.
        yard.engine_ahead(std::time::Duration::from_secs(360)).settle(8).unwrap();
        going.until(says);
        let said = going.out.lines().last().unwrap().to_owned();
        assert!(said.contains("coder gave no sign of life for 300 s"), "{said}");
        assert_eq!(going.end().code, i32::from(retries == 0));
        assert_eq!(yard.processes(), Vec::<String>::new());
    }
}

#[test]
fn files_with_odd_names_are_declared_as_they_are_told() {
    let make = "printf x > \"$(printf 'src/a\\tb')\"; printf x > \"$(printf 'src/c\\nd')\"; ";
    let cases = [
        ("claim src/a%09b src/c%0Ad", 0, "T-1: done (verified)"),
        ("claim src/a%09b", 1, "src/c%0Ad"),
        ("claim 'src/a\\tb' src/c%0Ad", 1, "it holds the invisible character \\u{9}, which is named as `%09`"),
    ];
    for (claim, code, says) in cases {
        let yard = Yard::new();
        let acceptance = json!([{ "text": "it is there", "check": { "command": ["sh", "-c", "ls src | grep -q a"] } }]);
        let patch = json!({ "lock_scope": ["src"], "acceptance": acceptance, "retries": 0 });
        let answer = yard.one(json!({ "coder": yard.agent(&format!("{make}{claim}")) }), patch, json!({}));
        assert_eq!(answer.code, code, "{claim}: {}", answer.out);
        answer.says(says);
        assert_eq!(yard.read("src/a\tb").is_some() && yard.read("src/c\nd").is_some(), code == 0);
    }
}

#[test]
fn no_agent_and_no_check_sees_what_another_left_and_no_tree_stays() {
    let yard = Yard::new();
    yard.write(".gitignore", "target/\n");
    yard.commit("what is ignored");
    let script = r#"left=$(git status --porcelain --ignored)
[ -z "$left" ] && [ "$(cat src/start)" = start ] && [ ! -e .countersign/left ] && [ "$(stat -c %a src/start)" = "$(stat -c %a tests/t.sh)" ] || exit 3
mkdir -p target .countersign; echo x > target/x; echo x > .countersign/left; chmod 600 src/start; echo x > $scope
git add -A; git -c user.name=a -c user.email=a@b commit -qm "$COUNTERSIGN_TASK"; git update-index --assume-unchanged src/start
claim $scope"#;
    let check = json!(["sh", "-c", "test ! -e target && mkdir target && test -z \"$(git status --porcelain)\""]);
    let tasks = (1..=4).map(|n| {
        let id = format!("T-{n}");
        let file = json!({ "text": "the file is there", "check": { "file": { "path": format!("src/{id}") } } });
        let alone = json!({ "text": "nobody was here", "check": { "command": check } });
        task(&id, json!({ "retries": 0, "acceptance": [file, alone] }))
    });
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks.collect(), json!({ "concurrency": 1 }));
    yard.run(&["run", &plan]).ended(0);
    assert_eq!(yard.landed(), ["T-4", "T-3", "T-2", "T-1"]);
    yard.is_tidy();
    assert_eq!(std::fs::read_dir(yard.path("state/countersign/trees")).unwrap().count(), 0, "a folder is left");
}
