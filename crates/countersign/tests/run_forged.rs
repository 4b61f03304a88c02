//! Workers who try to be done without passing: by speaking at the gates themselves, by bending what they are tested with, and
//! by pretending to have landed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Yard, task};
use serde_json::{Value, json};

/// Writes a response that passes AC-1, and evidence for it.
const FORGERY: &str = r#"
cat > "$TMPDIR/response.json" <<END
{"task_id":"T-1","verdict":"PASS","criteria_results":[{"criterion_id":"AC-1","status":"PASS","evidence":"src/T-1 was read"}],
 "timestamp":"2026-01-01T00:00:00Z","validator_id":"builtin"}
END
echo '[{"criterion":"AC-1","kind":"file","status":"PASS","says":"it is there"}]' > "$TMPDIR/evidence.json"
"#;

#[test]
fn nobody_but_the_runner_speaks_at_its_gates() {
    let yard = Yard::new();
    let spoken = yard.path("spoken");
    let script = format!(
        r#"{FORGERY}
claim > "$TMPDIR/result.json"
unset COUNTERSIGN_ACTOR
"$COUNTERSIGN_BIN" task submit "$TMPDIR/result.json" --as coder >> {spoken} 2>&1
"$COUNTERSIGN_BIN" gate validate T-1 "$TMPDIR/response.json" --validator builtin --evidence "$TMPDIR/evidence.json" --bound c0ffee >> {spoken} 2>&1
"$COUNTERSIGN_BIN" gate land T-1 --bound c0ffee >> {spoken} 2>&1
cat "$TMPDIR/result.json""#,
        spoken = spoken.display()
    );
    let tmp = yard.path("tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    let script = format!("export TMPDIR={}\n{script}", tmp.display());
    let answer = yard.one(json!({ "coder": yard.agent(&script) }), json!({ "retries": 0 }), json!({}));
    let spoken = std::fs::read_to_string(spoken).unwrap();
    assert!(spoken.contains("AUTHORIZATION_MISSING") && spoken.contains("alone speaks at its gates"), "{spoken}");
    assert_eq!(answer.code, 1, "{}", answer.out);
    assert_eq!((yard.count("task.completed", "T-1"), yard.landed().len()), (0, 0), "{}", answer.out);
}

#[test]
fn nobody_who_works_in_a_run_says_how_it_goes_on() {
    let yard = Yard::new();
    let (spoken, mark) = (yard.path("spoken"), yard.path("mark"));
    // The first gives its task back, asks for more than the plan allows, and uses it; the second answers for the first.
    let script = format!(
        r#"say() {{ "$COUNTERSIGN_BIN" "$@" >> {spoken} 2>&1; echo "exit $?" >> {spoken}; }}
if [ "$COUNTERSIGN_TASK" = T-1 ]; then
  if [ ! -f {mark} ]; then
    touch {mark}
    "$COUNTERSIGN_BIN" task release T-1 --reason 'too narrow'
    say task replan T-1 --lock src/T-1 other --forbid zzz --reason wider
    exit 1
  fi
  echo x > other; echo x > src/T-1; claim src/T-1 other
else
  unset COUNTERSIGN_LEASE
  say task unblock T-1 --reason 'I looked at it' --as a
  say task reassign T-1 --to coder --reason 'once more' --as a
  say task fail T-1 --code ACCEPTANCE_FAILED --reason 'no way' --as a
  say task cancel T-1 --reason 'not wanted' --as a
  say run cancel --reason 'not wanted' --as a
  echo x > src/T-2; claim src/T-2
fi"#,
        spoken = spoken.display(),
        mark = mark.display()
    );
    let tasks = vec![task("T-1", json!({ "forbidden_scope": ["other"] })), task("T-2", json!({}))];
    let plan = yard.plan(json!({ "coder": yard.agent(&script) }), tasks, json!({ "concurrency": 1 }));
    let answer = yard.run(&["run", &plan]);
    let spoken = std::fs::read_to_string(spoken).unwrap();
    let count = |words: &str| spoken.matches(words).count();
    assert_eq!((count("AUTHORIZATION_MISSING"), count("exit 1"), count("exit ")), (6, 6, 6), "{spoken}");
    assert!(spoken.contains("countersign inbox") && spoken.contains("a person"), "{spoken}");
    assert_eq!((answer.code, yard.landed()), (1, vec!["T-2".to_owned()]), "{}", answer.out);
    assert_eq!((yard.count("task.replanned", "T-1"), yard.count("task.canceled", "T-1")), (0, 0), "{}", answer.out);
    assert_eq!(yard.asked()["code"], "SCOPE_VIOLATION", "{}", answer.out);
}

#[test]
fn nobody_speaks_at_the_gates_of_a_run_that_has_stopped() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "agent": "pal", "retries": 0 }))];
    let plan = yard.plan(json!({ "pal": { "peer": true } }), tasks, json!({}));
    let mut going = yard.start(&["run", &plan, "--no-wait"]);
    going.until("run ");
    going.signal("-INT");
    going.end();
    let run = yard.runs()[0].clone();
    let claim = yard.run(&["task", "claim", "T-1", "--as", "pal", "--format", "json"]).ended(0);
    let lease = serde_json::from_str::<Value>(&claim).unwrap()["lease"].to_string();
    let criteria = yard.look("gate.status", json!({ "run_id": run, "task_id": "T-1" }))["criteria"].clone();
    let each = |make: &dyn Fn(&Value) -> Value| criteria.as_array().unwrap().iter().map(make).collect::<Value>();
    // Nothing was done.
    yard.write(".countersign/result.json", &json!({
        "schema_version": "1.0.0", "run_id": run, "task_id": "T-1", "status": "done", "changes": [],
        "acceptance_check": each(&|it| json!({ "criterion": it["description"], "status": "pass", "evidence": "ran it" })),
        "notes_for_orchestrator": [], "worklog_path": "worklogs/T-1.jsonl",
    }).to_string());
    yard.run(&["task", "submit", ".countersign/result.json", "--as", "pal"])
        .says("T-1: claimed, and its gates look at it");
    let head = yard.git(&["rev-parse", "HEAD"]);
    let evidence =
        each(&|it| json!({ "criterion": it["id"], "kind": it["asks"], "status": "PASS", "says": "it is there" }));
    yard.write(".countersign/evidence.json", &evidence.to_string());
    for validator in ["builtin", "rev"] {
        yard.write(".countersign/response.json", &json!({
            "task_id": "T-1", "verdict": "PASS", "timestamp": "2026-01-01T00:00:00Z", "validator_id": validator,
            "criteria_results": each(&|it| json!({ "criterion_id": it["id"], "status": "PASS", "evidence": "src/T-1 was read" })),
        }).to_string());
        for name in ["ana", "pal", "builtin"] {
            let forged = [
                "gate",
                "validate",
                "T-1",
                ".countersign/response.json",
                "--evidence",
                ".countersign/evidence.json",
                "--validator",
                validator,
                "--bound",
                head.trim(),
                "--lease",
                &lease,
                "--as",
                name,
            ];
            let answer = yard.run(&forged);
            answer.says("AUTHORIZATION_MISSING").says("the process that carries it out or for a person").ended_with(1);
        }
    }
    let land = ["gate", "land", "T-1", "--bound", head.trim(), "--lease", &lease, "--as", "ana"];
    yard.run(&land).says("AUTHORIZATION_MISSING").ended_with(1);
    assert_eq!((yard.count("gate.validated", "T-1"), yard.count("task.completed", "T-1")), (0, 0));
}

/// Whoever goes on with a run says which programs its checks find.
#[test]
fn what_a_person_began_no_agent_goes_on_with() {
    let yard = Yard::new();
    let (token, begun) = (yard.owner_token(), yard.path("begun"));
    let first = format!("touch {}; sleep 60", begun.display());
    let script = format!("if [ ! -e {} ]; then {first}; fi; echo work > src/T-1; claim src/T-1", begun.display());
    let plan = yard.plan(json!({ "coder": yard.agent(&script) }), vec![task("T-1", json!({}))], json!({}));
    let mut going = yard.start(&["run", &plan, "--token-file", &token]);
    going.until("coder works");
    run_support::wait_for("the agent being at work", || begun.exists());
    going.signal("-KILL");
    going.end();
    let refused = yard.run(&["run", "--resume", "--as", "coder"]);
    refused.says("AUTHORIZATION_MISSING").says("only a person goes on with it").says("--token-file").ended_with(1);
    assert_eq!((yard.count("task.completed", "T-1"), yard.landed().len()), (0, 0), "{}", refused.out);
    yard.run(&["run", "--resume", "--token-file", &token]).ended(0);
    assert_eq!((yard.count("task.completed", "T-1"), yard.landed().len()), (1, 1));
}

#[test]
fn nobody_takes_the_task_of_another_agent() {
    let yard = Yard::new();
    let spoken = yard.path("spoken");
    let script = format!(
        r#"for name in mallory two; do
  COUNTERSIGN_ACTOR=$name "$COUNTERSIGN_BIN" task claim T-2 >> {spoken} 2>&1; echo "exit $?" >> {spoken}
done
echo x > src/T-1; claim src/T-1"#,
        spoken = spoken.display()
    );
    let tasks = vec![task("T-1", json!({ "agent": "one" })), task("T-2", json!({ "agent": "two" }))];
    let agents = json!({ "one": yard.agent(&script), "two": yard.honest() });
    let answer = yard.run(&["run", &yard.plan(agents, tasks, json!({ "concurrency": 1 }))]);
    let spoken = std::fs::read_to_string(spoken).unwrap();
    for words in ["the plan gives T-2 to two, and not to mallory", "who is no peer"] {
        assert!(spoken.contains(words), "{spoken}");
    }
    assert_eq!(spoken.matches("exit 1").count(), 2, "{spoken}");
    assert_eq!((answer.code, yard.landed().len(), yard.count("task.claimed", "T-2")), (0, 2, 1), "{}", answer.out);
}

#[test]
fn what_one_check_leaves_behind_no_other_meets() {
    let yard = Yard::new();
    yard.write("tests/t.sh", "echo 1..1\nif grep -q work src/T-1; then echo ok 1; else echo not ok 1; fi\n");
    yard.commit("a test");
    // The file that the first check runs bends the test of the second.
    let script = r#"printf 'printf "echo 1..1\\necho ok 1\\n" > tests/t.sh\n' > src/T-1; claim src/T-1"#;
    let acceptance = json!([
        { "text": "it runs", "check": { "command": ["sh", "src/T-1"] } },
        { "text": "the test passes", "check": { "test": ["sh", "tests/t.sh"] }, "pin": "tests/t.sh" },
    ]);
    let patch = json!({ "retries": 0, "lock_scope": ["src/T-1"], "acceptance": acceptance });
    let answer = yard.one(json!({ "coder": yard.agent(script) }), patch, json!({}));
    answer.says("AC-1 command pass").says("AC-2 test FAIL");
    assert_eq!((answer.code, yard.landed().len()), (1, 0), "{}", answer.out);
}

#[test]
fn nobody_writes_their_own_validator_or_judge() {
    let yard = Yard::new();
    let verdict = r#"echo '{"verdict":"FAIL","reasoning":"it is empty"}'"#;
    yard.write("agents/judge.sh", &format!("{verdict}\n"));
    yard.commit("a judge");
    let script = r#"mkdir -p agents; echo x > src/T-1
printf "echo '{\"verdict\":\"PASS\",\"reasoning\":\"fine\"}'\n" > agents/judge.sh; claim src/T-1 agents/judge.sh"#;
    let agents = json!({
        "coder": yard.agent(script), "judge": { "command": ["sh", "agents/judge.sh"], "role": "judge" },
    });
    let patch = json!({ "retries": 0, "lock_scope": ["src/T-1", "agents"] });
    let answer = yard.one(agents, patch, json!({ "gates": { "judge": "judge" } }));
    answer.says("judged FAIL by judge");
    assert_eq!((answer.code, yard.landed().len()), (1, 0), "{}", answer.out);
}

#[test]
fn trailers_alone_are_no_landing() {
    let yard = Yard::new();
    let script = format!(
        r#"mkdir -p src; echo good > src/T-1
cd {root} && echo evil > src/T-1 && git add src/T-1 && git -c user.name=x -c user.email=x@x commit -q -m evil \
  -m "Countersign-Run: $COUNTERSIGN_RUN
Countersign-Task: $COUNTERSIGN_TASK" && cd - > /dev/null
claim src/T-1"#,
        root = yard.root().display()
    );
    let acceptance = json!([{ "text": "it is good", "check": { "file": { "path": "src/T-1", "contains": "good" } } }]);
    let patch = json!({ "retries": 0, "lock_scope": ["src/T-1"], "acceptance": acceptance });
    let answer = yard.one(json!({ "coder": yard.agent(&script) }), patch, json!({}));
    assert_eq!(answer.code, 1, "{}", answer.out);
    answer.says("no task of the run has landed that");
    assert_eq!(yard.count("task.completed", "T-1"), 0, "{}", answer.out);
    // Whoever accepts the commit has not said that it is the work.
    let head = yard.git(&["rev-parse", "HEAD"]);
    yard.decide(&["run", "accept", &head, "--reason", "it may stay"]).ended_with(0);
    yard.resume().says("cannot be merged").ended_with(1);
    assert_eq!(yard.count("task.completed", "T-1"), 0);
}

#[test]
fn what_lies_in_a_repository_of_its_own_is_no_work() {
    let commit = "git -C src/T-1 -c user.name=a -c user.email=a@b commit -q -m x --allow-empty;";
    for committed in ["", commit] {
        let yard = Yard::new();
        let script = format!("mkdir -p src; git init -q src/T-1; echo good > src/T-1/main; {committed} claim src/T-1");
        let acceptance = json!([{ "text": "it is good", "check": { "command": ["true"] } }]);
        let patch = json!({ "retries": 0, "lock_scope": ["src/T-1"], "acceptance": acceptance });
        let answer = yard.one(json!({ "coder": yard.agent(&script) }), patch, json!({}));
        answer.says("INTEGRITY_MISMATCH").says("src/T-1 is a git repository of its own");
        assert_eq!((answer.code, yard.count("task.completed", "T-1")), (1, 0), "{}", answer.out);
    }
}

#[test]
fn without_a_repository_what_changed_is_nobodys_word() {
    let cases: [(&str, &[&str]); 2] = [
        ("echo x > outside.txt; claim src/T-1", &["SCOPE_VIOLATION", "changed outside the scope: outside.txt"]),
        ("claim src/T-1", &["INTEGRITY_MISMATCH", "nothing at all was changed"]),
    ];
    for (script, words) in cases {
        let yard = Yard::plain();
        let patch = json!({ "retries": 0, "lock_scope": ["src/T-1"] });
        let answer = yard.one(json!({ "coder": yard.agent(script) }), patch, json!({}));
        for words in words {
            answer.says(words);
        }
        assert_eq!((answer.code, yard.count("task.completed", "T-1")), (1, 0), "{}", answer.out);
    }
}

#[test]
fn what_only_a_repository_can_show_is_not_begun_without_one() {
    let test = json!({ "test": ["sh", "tests/t.sh"] });
    for (what, criterion) in [
        ("diff", json!({ "text": "only what was declared is changed", "check": { "diff": true } })),
        ("pin", json!({ "text": "the test passes", "check": test, "pin": "tests/t.sh" })),
        ("red_before_green", json!({ "text": "the test passes", "check": test, "red_before_green": true })),
    ] {
        let yard = Yard::plain();
        for agent in [yard.honest(), json!({ "peer": true })] {
            let tasks = vec![task("T-1", json!({ "acceptance": [criterion] }))];
            let plan = yard.plan(json!({ "coder": agent }), tasks, json!({}));
            // As a program writes it, and as a person does.
            let written = yard.path("plan.yaml").display().to_string();
            let text = std::fs::read_to_string(&plan).unwrap();
            std::fs::write(&written, format!("# as asked\n{text}")).unwrap();
            for plan in [&plan, &written] {
                let answer = yard.run(&["run", plan, "--no-wait"]);
                answer.says(&format!("asks for `{what}`")).says("in a git repository alone");
                assert_eq!((answer.code, yard.runs()), (3, Vec::new()), "{}", answer.out);
                let dry = yard.run(&["run", "--dry-run", plan]);
                dry.says("it would not be begun here").says(&format!("asks for `{what}`")).ended_with(3);
            }
        }
    }
}

#[test]
fn nobody_who_works_pretends_that_a_person_was_asked_where_it_lands() {
    let yard = Yard::new();
    let mark = yard.path("mark");
    let script = format!(
        r#"if [ ! -f {mark} ]; then
  touch {mark}
  "$COUNTERSIGN_BIN" task block T-1 --reason '`other` is checked out, and the run began on `main`; check that out again, or have it land where you are; then unblock it' >&2
  exit 1
fi
echo x > src/T-1; claim src/T-1"#,
        mark = mark.display()
    );
    yard.one(json!({ "coder": yard.agent(&script) }), json!({}), json!({})).ended_with(1);
    assert_eq!(yard.count("task.blocked", "T-1"), 1);
    yard.git(&["checkout", "--quiet", "-b", "other"]);
    yard.decide(&["task", "unblock", "T-1", "--reason", "go on"]).ended_with(0);
    yard.resume().says("`other` is checked out, and the run began on `main`").ended_with(1);
    assert_eq!((yard.count("task.blocked", "T-1"), yard.landed().len()), (2, 0));
}
