//! How much a run may spend, how much it can carry, and who else may work in it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(clippy::print_stderr, reason = "a figure for whoever runs the test")]

mod run_support;

use run_support::{Yard, task, wait_for};
use serde_json::{Value, json};
use std::time::Instant;

#[test]
fn two_hundred_tasks_by_eight_agents_at_once_are_all_done_once() {
    let yard = Yard::new();
    let tasks: Vec<_> = (1..=200).map(|n| task(&format!("T-{n}"), json!({}))).collect();
    let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
    let began = Instant::now();
    let answer = yard.run(&["run", &plan, "--concurrency", "8"]);
    let took = began.elapsed();
    answer.says("200 of 200 tasks are done");
    answer.ended(0);
    eprintln!("200 tasks took {:.1} s, {} ms each", took.as_secs_f64(), took.as_millis() / 200);
    let mut landed = yard.landed();
    landed.sort();
    landed.dedup();
    assert_eq!(landed.len(), 200);
    let done = yard.events().iter().filter(|it| it["kind"] == "task.completed").count();
    assert_eq!(done, 200);
    yard.is_tidy();
}

#[test]
fn a_peer_claims_and_submits_by_itself_and_its_result_goes_through_the_gates() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "agent": "pal" })), task("T-2", json!({ "depends_on": ["T-1"] }))];
    let plan = yard.plan(json!({ "pal": { "peer": true }, "coder": yard.honest() }), tasks, json!({}));
    let mut going = yard.start(&["run", &plan, "--no-wait"]);
    going.until("run ");
    wait_for("the run", || yard.root().join(".countersign/ledger.db").exists() && yard.runs().len() == 1);
    let lease =
        |out: &str| serde_json::from_str::<serde_json::Value>(out).unwrap()["lease"].as_u64().unwrap().to_string();
    let run = yard.runs()[0].clone();
    let bring = |changes: serde_json::Value| {
        let claimed = yard.run(&["task", "claim", "T-1", "--as", "pal", "--format", "json"]).ended(0);
        let result = json!({
            "schema_version": "1.0.0", "run_id": run, "task_id": "T-1", "status": "done",
            "changes": changes,
            "acceptance_check": [{ "criterion": "the file is there", "status": "pass", "evidence": "it was written and read" }],
            "notes_for_orchestrator": [], "worklog_path": "worklogs/T-1.jsonl",
        });
        let path = yard.path("result.json");
        std::fs::write(&path, result.to_string()).unwrap();
        let path = path.display().to_string();
        yard.run(&["task", "submit", &path, "--as", "pal", "--lease", &lease(&claimed)])
    };
    // What is claimed and is not there is found out, and the peer may try again.
    bring(json!([])).ended(0);
    going.until("AC-1 file FAIL");
    wait_for("the second chance", || yard.show("T-1")["task"]["status"] == "todo");
    yard.write("src/T-1", "by the peer\n");
    bring(json!([{ "resource": "src/T-1", "action": "created", "summary": "as asked" }])).ended(0);
    going.until("T-1: PASS by builtin").until("T-1: done (verified)").until("T-2: done (verified)");
    going.end().ended(0);
    assert_eq!(yard.read("src/T-1").as_deref(), Some("by the peer\n"));
    yard.run(&["verify"]).ended(0);
}

#[test]
fn no_more_tasks_are_begun_than_the_plan_allows_and_what_was_begun_is_finished() {
    let yard = Yard::new();
    let script = "if [ \"$COUNTERSIGN_TASK\" = T-1 ]; then exit 1; fi; sleep 0.5; echo x > $scope; claim $scope";
    let tasks = vec![task("T-1", json!({ "retries": 5 })), task("T-2", json!({}))];
    let budgets = json!({ "budgets": { "attempts": 2 }, "concurrency": 2 });
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, budgets);
    let answer = yard.run(&["run", &plan]);
    answer.says("tasks were begun 2 times, and 2 are allowed").says(" --budget attempts=4`");
    assert_eq!(answer.code, 1);
    assert_eq!((yard.landed(), yard.count("task.claimed", "T-1")), (vec!["T-2".to_owned()], 1));
    // It stays so, until somebody allows more.
    yard.resume().says("tasks were begun 2 times");
    assert_eq!(yard.count("task.claimed", "T-1"), 1);
    yard.run(&["run", "--resume", "--budget", "attempts=4"]).says("tasks were begun 4 times, and 4 are allowed");
    assert_eq!(yard.count("task.claimed", "T-1"), 3);
    for (wrong, help) in [
        ("attempts", "such as attempts=20"),
        ("attempts=0", "`0` is no whole number from 1 on; write attempts=20"),
        ("attempts=many", "write attempts=20"),
        ("tokens=9007199254740992", "write tokens=20"),
        ("money=-1", "`-1` is no amount of US dollars; write money=2.50"),
        ("money=nan", "write money=2.50"),
        ("wall_time=soon", "write wall_time=90s, 20m or 1h30m"),
        ("wall_time=20", "`20` is no length of time with a unit; write wall_time=90s, 20m or 1h30m"),
        ("wall_time=0s", "write wall_time=90s"),
        ("patience=3", "there are attempts, tokens, money and wall_time"),
    ] {
        for begin in [&["run", "--resume"][..], &["run", &plan, "--dry-run"]] {
            let answer = yard.run(&[begin, &["--budget", wrong]].concat());
            assert_eq!(answer.code, 2, "{wrong}: {answer:?}");
            answer.says(help);
        }
    }
}

#[test]
fn a_budget_of_the_command_line_is_held_to_what_one_of_a_plan_is() {
    let yard = Yard::new();
    let tasks = || vec![task("T-1", json!({ "timeout": "40s" })), task("T-2", json!({ "timeout": "40s" }))];
    let plan = yard.plan(json!({ "coder": yard.agent("exit 1") }), tasks(), json!({ "budgets": { "attempts": 2 } }));
    yard.run(&["run", &plan, "--no-wait"]).ended(1);
    let begun = yard.runs().len();
    for (name, value, says) in [
        ("wall_time", json!("39s"), "the run would be stopped after 39s, and its task T-1 alone may be silent for 40s"),
        ("attempts", json!(1), "1 attempts are not enough for 2 tasks"),
    ] {
        let budget = format!("{name}={}", value.as_str().map_or(value.to_string(), str::to_owned));
        for begin in [&["run", &plan, "--dry-run"][..], &["run", &plan], &["run", "--resume"]] {
            let answer = yard.run(&[begin, &["--budget", &budget]].concat());
            answer.says("refused [SCHEMA_INVALID]").says(&format!("/budgets/{name}: {says}")).ended_with(1);
            assert_eq!(answer.out, "", "{begin:?}");
        }
        // As a plan that says so itself is.
        let path = yard.path("other.json");
        let mut other: Value = serde_json::from_str(&std::fs::read_to_string(&plan).unwrap()).unwrap();
        other["budgets"] = json!({ name: value });
        std::fs::write(&path, other.to_string()).unwrap();
        yard.run(&["run", &path.display().to_string()]).says("SCHEMA_INVALID").says(says).ended_with(1);
    }
    assert_eq!(yard.runs().len(), begun);
}

#[test]
fn tasks_that_are_over_need_no_time_of_a_run_that_goes_on() {
    let yard = Yard::new();
    let long = task("T-1", json!({ "timeout": "2h" }));
    let short = task("T-2", json!({ "timeout": "40s", "depends_on": ["T-1"] }));
    let script = "if [ $COUNTERSIGN_TASK = T-2 ]; then exit 1; fi; echo x > $scope; claim $scope";
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), vec![long, short], json!({}));
    yard.run(&["run", &plan, "--budget", "wall_time=1h"]).says("T-1 alone may be silent for 2h").ended_with(1);
    yard.run(&["run", &plan, "--no-wait"]).says("T-1: done (verified)").ended_with(1);
    let resumed = |budget: &str| yard.run(&["run", "--resume", "--no-wait", "--budget", budget]);
    resumed("wall_time=39s").says("its task T-2 alone may be silent for 40s").ended_with(1);
    resumed("wall_time=40s").says("1 of 2 tasks are done").ended_with(1);
}

#[test]
fn an_attempt_counts_when_somebody_worked_in_it() {
    let yard = Yard::new();
    yard.write("tests/t.sh", "echo 1..1\nif grep -q work src/T-1; then echo ok 1; else echo not ok 1; fi\n");
    yard.commit("a test");
    // The first attempt fails and bends the test: the second is refused before anybody works, until a person has looked.
    let script = r#"if grep -q loose "$COUNTERSIGN_PROJECT/tests/t.sh"; then echo work > src/T-1; else
  echo idle > src/T-1; cd "$COUNTERSIGN_PROJECT"; echo '# loose' >> tests/t.sh; git add tests/t.sh
  git -c user.name=x -c user.email=x@x commit -qm tidy; cd - > /dev/null
fi
claim src/T-1"#;
    let acceptance =
        json!([{ "text": "the test passes", "check": { "test": ["sh", "tests/t.sh"] }, "pin": "tests/t.sh" }]);
    let tasks = vec![task("T-1", json!({ "acceptance": acceptance }))];
    let agents = json!({ "coder": yard.agent(script) });
    let plan = yard.plan(agents, tasks, json!({ "budgets": { "attempts": 2 } }));
    let answer = yard.run(&["run", &plan, "--format", "json"]);
    assert_eq!((yard.asked()["code"].as_str(), yard.count("task.claimed", "T-1")), (Some("SCOPE_VIOLATION"), 2));
    let attempts = |answer: &run_support::Answer| {
        let end: Value = serde_json::from_str(answer.out.lines().last().unwrap()).unwrap();
        end["tasks"][0]["attempts"].clone()
    };
    assert_eq!(attempts(&answer), 1, "{}", answer.out);
    yard.accept(yard.asked()["content"].as_str().unwrap());
    let answer = yard.run(&["run", "--resume", "--format", "json"]);
    assert_eq!((answer.code, attempts(&answer)), (0, json!(2)), "{}", answer.out);
}

#[test]
fn tokens_and_money_that_known_agents_use_are_counted_and_end_the_run() {
    let result = r#"{\"schema_version\":\"1.0.0\",\"run_id\":\"$COUNTERSIGN_RUN\",\"task_id\":\"$COUNTERSIGN_TASK\",\"status\":\"done\",\"changes\":[{\"resource\":\"src/$COUNTERSIGN_TASK\",\"action\":\"created\",\"summary\":\"as asked\"}],\"acceptance_check\":[{\"criterion\":\"the file is there\",\"status\":\"pass\",\"evidence\":\"it was written\"}],\"notes_for_orchestrator\":[],\"worklog_path\":\"worklogs/$COUNTERSIGN_TASK.jsonl\"}"#;
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\nmkdir -p src\necho x > src/$COUNTERSIGN_TASK\n\
         echo \"{{\\\"type\\\":\\\"result\\\",\\\"subtype\\\":\\\"success\\\",\\\"is_error\\\":false,\\\"num_turns\\\":3,\\\"result\\\":\\\"done\\\",\
         \\\"structured_output\\\":{result},\\\"total_cost_usd\\\":0.5,\\\"usage\\\":{{\\\"input_tokens\\\":600,\\\"output_tokens\\\":100}}}}\"\n"
    );
    for (budget, says, more) in [
        (json!({ "tokens": 500 }), "700 tokens were used, and 500 are allowed", "tokens=5000"),
        (json!({ "money": 0.25 }), "0.50 dollars were spent, and 0.25 are allowed", "money=10"),
    ] {
        let yard = Yard::new();
        let claude = yard.path("bin/claude");
        std::fs::create_dir_all(claude.parent().unwrap()).unwrap();
        std::fs::write(&claude, &script).unwrap();
        std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", claude.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let tasks = vec![task("T-1", json!({})), task("T-2", json!({}))];
        let plan = yard.plan(
            json!({ "coder": { "preset": "claude" } }),
            tasks,
            json!({ "budgets": budget, "concurrency": 1 }),
        );
        let answer = yard.run_with(&["run", &plan], &[("PATH", &path)]);
        answer.says(says);
        assert_eq!(answer.code, 1);
        assert_eq!(yard.show("T-2")["task"]["status"], "todo", "{}", answer.out);
        assert_eq!(yard.count("task.claimed", "T-2"), 0);
        yard.run_with(&["run", "--resume"], &[("PATH", &path)]).says(says);
        yard.run_with(&["run", "--resume", "--budget", more], &[("PATH", &path)]).ended(0);
        assert_eq!(yard.landed().len(), 2);
        yard.is_tidy();
    }
}

#[test]
fn what_those_who_look_on_use_is_counted_with_the_rest() {
    let yard = Yard::new();
    let pass = r#"{\"task_id\":\"T-1\",\"verdict\":\"PASS\",\"criteria_results\":[{\"criterion_id\":\"AC-1\",\"status\":\"PASS\",\"evidence\":\"it was read\"}],\"reasoning\":\"looked\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"validator_id\":\"$COUNTERSIGN_ACTOR\"}"#;
    let judged = r#"{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}"#;
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\nanswer=\"{pass}\"\nif [ $COUNTERSIGN_ACTOR = arbiter ]; then answer=\"{judged}\"; fi\n\
         printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"\",\"structured_output\":%s,\
         \"total_cost_usd\":0.25,\"usage\":{{\"input_tokens\":600,\"output_tokens\":100}}}}' \"$answer\"\n"
    );
    let claude = yard.path("bin/claude");
    std::fs::create_dir_all(claude.parent().unwrap()).unwrap();
    std::fs::write(&claude, &script).unwrap();
    std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", claude.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let look = |role: &str| json!({ "preset": "claude", "role": role });
    let agents =
        json!({ "coder": yard.honest(), "one": look("validator"), "two": look("validator"), "arbiter": look("judge") });
    let gates = json!({ "gates": { "validate": ["one", "two"], "judge": "arbiter" }, "budgets": { "tokens": 5000 } });
    let plan = yard.plan(agents, vec![task("T-1", json!({}))], gates);
    yard.run_with(&["run", &plan], &[("PATH", &path)]).ended(0);
    let run = yard.runs().remove(0);
    let shown = yard.look("run.show", json!({ "run_id": run }));
    assert_eq!((shown["spent_tokens"].as_u64(), shown["spent_usd"].as_f64()), (Some(2100), Some(0.75)), "{shown}");
    let events = yard.events();
    let of = |kind: &str| {
        events.iter().filter(|event| event["kind"] == kind).map(|event| &event["facts"]).collect::<Vec<_>>()
    };
    let ended = of("effect.finished").iter().filter(|facts| facts["usage"].is_object()).count();
    assert_eq!(ended, 3, "{events:?}");
    assert_eq!(of("run.led")[0]["budgets"]["tokens"], 5000);
    assert_eq!(yard.look("effect.list", json!({ "run_id": run }))["effects"], json!([]));
}

#[test]
fn a_run_ends_with_its_wall_time_and_can_go_on() {
    let yard = Yard::new();
    let script =
        "while [ ! -e $COUNTERSIGN_HOME/go ]; do echo still here >&2; sleep 1; done; echo x > $scope; claim $scope";
    let tasks = vec![task("T-1", json!({ "timeout": "30s", "heartbeat": "5s", "retries": 0 }))];
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, json!({ "budgets": { "wall_time": "30s" } }));
    let answer = yard.run(&["run", &plan]);
    answer.says("the wall time of 30 s is over");
    assert_eq!(answer.code, 1);
    assert_eq!(yard.show("T-1")["task"]["status"], "todo");
    assert_eq!(yard.processes(), Vec::<String>::new());
    std::fs::write(yard.path("home/go"), "").unwrap();
    yard.resume().ended(0);
    yard.is_tidy();
}

#[test]
fn a_check_may_take_longer_than_a_worker_may_be_silent() {
    let yard = Yard::new();
    let check = json!([{ "text": "it is there", "check": { "command": ["sh", "-c", "sleep 35; test -f src/T-1"] } }]);
    let patch = json!({ "timeout": "30s", "heartbeat": "5s", "retries": 0, "acceptance": check });
    yard.one(json!({ "coder": yard.honest() }), patch, json!({})).ended(0);
    assert_eq!(yard.count("task.claimed", "T-1"), 1);
    yard.is_tidy();
}

#[test]
fn a_peer_that_is_gone_holds_a_run_up_only_until_its_lease_has_lapsed() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "agent": "pal", "timeout": "30s", "heartbeat": "5s", "retries": 0 }))];
    let plan = yard.plan(json!({ "pal": { "peer": true } }), tasks, json!({}));
    let mut going = yard.start(&["run", &plan]);
    going.until("run ");
    wait_for("the run", || yard.runs().len() == 1);
    yard.run(&["task", "claim", "T-1", "--as", "pal"]).ended(0);
    let answer = going.end();
    answer.says("pal gave no sign of life for 30 s");
    assert_eq!(answer.code, 1);
    assert_eq!(yard.asked()["task_id"], "T-1");
}

#[test]
fn two_runs_in_one_repository_are_in_nobodys_way() {
    let yard = Yard::new();
    let plan = |from: usize| {
        let tasks: Vec<_> = (from..from + 5).map(|n| task(&format!("T-{n}"), json!({}))).collect();
        let copy = yard.path(&format!("plan-{from}.json"));
        std::fs::copy(yard.plan(json!({ "coder": yard.honest() }), tasks, json!({ "concurrency": 2 })), &copy).unwrap();
        copy.display().to_string()
    };
    let (one, other) = (plan(1), plan(11));
    // Ids that begin alike.
    let id = |n: usize| format!("00000000-0000-4000-8000-00000000000{n}");
    // Each takes what the other one lands for good, because a person began it.
    let token = yard.owner_token();
    let start = |plan: &str, n: usize| yard.start(&["run", plan, "--id", &id(n), "--token-file", &token]);
    let (first, second) = (start(&one, 1), start(&other, 2));
    first.end().ended(0);
    second.end().ended(0);
    assert_eq!(yard.landed().len(), 10);
    yard.is_tidy();
}

#[test]
fn a_run_that_waits_for_a_lock_of_somebody_else_says_for_whom() {
    let yard = Yard::new();
    yard.run(&["run", "open", "--objective", "o"]).ended(0);
    let other = yard.runs()[0].clone();
    yard.run(&["task", "add", "T-77", "--run", &other, "--title", "t", "--lock", "src", "--accept", "a"]).ended(0);
    let claimed = yard.run(&["task", "claim", "T-77", "--run", &other, "--as", "bob", "--format", "json"]).ended(0);
    let lease = serde_json::from_str::<serde_json::Value>(&claimed).unwrap()["lease"].to_string();
    let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
    let mut going = yard.start(&["run", &plan]);
    going.until("T-1: note: cannot be begun now");
    assert!(going.out.contains("T-77") || going.out.contains("bob"), "{}", going.out);
    yard.run(&[
        "task",
        "release",
        "T-77",
        "--run",
        &other,
        "--as",
        "bob",
        "--lease",
        &lease,
        "--reason",
        "done with it",
    ])
    .ended(0);
    let answer = going.end();
    assert_eq!(answer.out.matches("cannot be begun now").count(), 1, "{}", answer.out);
    answer.ended(0);
}
