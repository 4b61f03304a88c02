//! Handoffs in a plan: what a task hands over is made within its budget, sent once, received as it was sent, and told to the
//! agent of the next task; or that task waits for a person, and nothing else does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod crashes;
#[path = "../run_support/mod.rs"]
mod run_support;

use run_support::{Answer, Yard, task, wait_for};
use serde_json::{Value, json};
use std::path::PathBuf;

/// An agent that does its work, keeps the assignment that it was given, and says something of its own.
fn talker(yard: &Yard, own: &str) -> Value {
    let path = yard.path("own-words.json");
    std::fs::write(&path, own).unwrap();
    let script = format!(
        "printf %s \"$assignment\" > \"$COUNTERSIGN_HOME/$COUNTERSIGN_TASK.json\"\n\
         mkdir -p src; echo \"$COUNTERSIGN_TASK\" > \"$scope\"\n\
         printf '%s,\"x_handoff\":%s}}\\n' \"$(claim \"$scope\" | sed 's/}}$//')\" \"$(cat {})\"",
        path.display()
    );
    yard.agent(&script)
}

/// Something that is too long, in a text of so many words.
fn long(words: usize) -> String {
    let text: String = (0..words).map(|n| format!("word {n} of the story. ")).collect();
    json!({ "working": { "story": text.trim_end(), "choice": "half to even" } }).to_string()
}

fn edge(from: &str, to: &str, patch: Value) -> Value {
    let mut edge = json!({ "from": from, "to": to });
    for (name, value) in patch.as_object().unwrap() {
        edge[name] = value.clone();
    }
    edge
}

/// What an agent was given to do.
fn assignment(yard: &Yard, task: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(yard.path("home").join(format!("{task}.json"))).unwrap()).unwrap()
}

/// The events of a kind, with their facts.
fn events(yard: &Yard, kind: &str) -> Vec<Value> {
    yard.events().into_iter().filter(|event| event["kind"] == kind).collect()
}

fn handoffs(yard: &Yard) -> PathBuf {
    let sessions = std::fs::read_dir(yard.root().join(".countersign/sessions")).unwrap();
    sessions.flatten().next().unwrap().path().join("handoffs")
}

/// The files of handoffs whose names begin so.
fn files(yard: &Yard, beginning: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(handoffs(yard)).unwrap().flatten().map(|it| it.path()).collect();
    all.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with(beginning));
    all.sort();
    all
}

fn unblock(yard: &Yard, task: &str) {
    yard.decide(&["task", "unblock", task, "--reason", "looked at it"]).ended(0);
}

#[test]
fn what_a_task_hands_over_is_told_to_the_next_one_and_received_before_it_begins() {
    let yard = Yard::new();
    let own =
        json!({ "summary": "Rounded", "working": { "choice": "half to even" }, "known_gaps": ["negative amounts"] });
    let agents = json!({ "coder": talker(&yard, &own.to_string()) });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({}))];
    let plan = yard.plan(
        agents,
        tasks,
        json!({ "handoffs": [edge("T-1", "T-2", json!({ "problem_type": "verification" }))] }),
    );
    let out = yard.run(&["run", &plan]).ended(0);
    for words in
        ["T-1: handoff to T-2 made, ", "T-1: handed over to T-2, as handoff 1", "T-2: received handoff 1 from T-1"]
    {
        assert!(out.contains(words), "`{words}` in {out}");
    }
    let given = assignment(&yard, "T-2");
    assert_eq!(assignment(&yard, "T-1").get("x_handoffs"), None);
    let [handed] = &given["x_handoffs"].as_array().unwrap()[..] else { panic!("{given}") };
    let handoff = &handed["handoff"];
    assert_eq!((&handed["from"], &handed["step"]), (&json!("T-1"), &json!(1)));
    assert_eq!(handoff["context"]["summary"], "Rounded");
    assert_eq!(handoff["context"]["problem_type"], "verification");
    assert_eq!(handoff["context"]["known_gaps"], json!(["negative amounts"]));
    let working = &handoff["payload"]["working"];
    assert_eq!((&working["task"], &working["assurance"]), (&json!("T-1"), &json!("verified")));
    assert_eq!(working["from_agent"], json!({ "choice": "half to even" }));
    let criteria = working["criteria"].as_str().unwrap();
    assert!(criteria.starts_with("AC-1 PASS: the file is there [builtin: "), "{criteria}");
    let [artifact] = &handoff["payload"]["session"]["artifacts"].as_array().unwrap()[..] else { panic!("{handoff}") };
    let hash = countersign_contract::sha256_hex(yard.read("src/T-1").unwrap().as_bytes());
    assert_eq!((&artifact["path"], &artifact["checksum"]), (&json!("src/T-1"), &json!(format!("sha256:{hash}"))));
    // Sent by who leads, received by who works, and before they begin.
    let [sent] = &events(&yard, "handoff.sent")[..] else { panic!("it is sent once") };
    let [received] = &events(&yard, "handoff.received")[..] else { panic!("it is received once") };
    assert_eq!((&sent["facts"]["source"], &sent["facts"]["target"]), (&json!("T-1"), &json!("T-2")));
    assert_eq!(received["actor"], "coder");
    // When the next task is done, what was handed to it is processed.
    let [noted] = &events(&yard, "handoff.noted")[..] else { panic!("it is noted once") };
    assert_eq!((&noted["actor"], &noted["facts"]["event"]), (&json!("coder"), &json!("processed")));
    let run = &events(&yard, "run.opened")[0]["run"];
    for side in [sent, received] {
        assert_eq!((&side["run"], &side["facts"]["run"]), (run, run), "{side}");
    }
    let claimed = events(&yard, "task.claimed");
    let began = claimed.iter().find(|it| it["facts"]["task"] == "T-2").unwrap();
    assert!(received["seq"].as_u64() < began["seq"].as_u64());
    let checked = yard.run(&["handoff", "check", files(&yard, "T-1-to-T-2-")[0].to_str().unwrap()]).ended(0);
    assert!(checked.contains("recorded as handoff 1, processed: `T-1 → T-2`"), "{checked}");
    let path = yard.path("home").join("T-2.json").display().to_string();
    yard.run(&["check", &path]).ended(0);
    yard.is_tidy();
}

#[test]
fn what_is_too_long_is_kept_beside_and_nothing_is_lost() {
    let yard = Yard::new();
    let summarizer = json!(["sh", "-c", "head -c 200 | tr a-z A-Z"]);
    for (n, (more, limit)) in
        [(json!({}), 2000), (json!({ "max_tokens": 900 }), 900), (json!({ "summarizer": summarizer }), 2000)]
            .into_iter()
            .enumerate()
    {
        let (from, to) = (format!("T-{}", 2 * n + 1), format!("T-{}", 2 * n + 2));
        let own = long(3000);
        let agents = json!({ "coder": talker(&yard, &own) });
        let tasks = vec![task(&from, json!({})), task(&to, json!({}))];
        let plan = yard.plan(agents, tasks, json!({ "handoffs": [edge(&from, &to, more)] }));
        let out = yard.run(&["run", &plan]).ended(0);
        assert!(out.contains(&format!(" of {limit} tokens; it had ")), "{out}");
        let given = assignment(&yard, &to);
        let handoff = &given["x_handoffs"][0]["handoff"];
        let tokens = handoff["meta"]["token_count"].as_u64().unwrap();
        assert!(tokens <= limit, "{tokens} of {limit}");
        let context = given["context_package"].as_array().unwrap();
        let [file] = &context.iter().filter(|it| it["kind"] == "file").collect::<Vec<_>>()[..] else {
            panic!("{given}")
        };
        let kept: Value =
            serde_json::from_str(&std::fs::read_to_string(file["value"].as_str().unwrap()).unwrap()).unwrap();
        let whole: Value = serde_json::from_str(&own).unwrap();
        let at = "/handoff/payload/working/from_agent/story";
        assert_eq!(kept["values"][at], whole["working"]["story"], "the whole of it is kept");
        let story = handoff["payload"]["working"]["from_agent"]["story"].as_str().unwrap();
        assert!(story.len() < whole["working"]["story"].as_str().unwrap().len());
        assert_eq!(story.starts_with("WORD 0"), n == 2, "the program was asked: {story}");
        assert_eq!(handoff["payload"]["working"]["from_agent"]["choice"], "half to even");
    }
}

/// A preset reads a prompt, in which what was handed over stands between marks, as data.
#[test]
fn who_reads_a_prompt_is_shown_it_between_marks() {
    use std::os::unix::fs::PermissionsExt;
    let yard = Yard::new();
    let script = format!(
        "#!/bin/sh\nprompt=$(cat)\nprintf %s \"$prompt\" > \"$COUNTERSIGN_HOME/prompt\"\nexec </dev/null; . {}\nscope=src/T-2\n\
         mkdir -p src; echo x > $scope\n\
         checks() {{ echo '{{\"criterion\":\"the file is there\",\"status\":\"pass\",\"evidence\":\"it is\"}}'; }}\n\
         printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"structured_output\":%s}}\\n' \"$(claim $scope)\"\n",
        yard.path("lib.sh").display()
    );
    let program = yard.path("bin/claude");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agents = json!({ "coder": talker(&yard, &long(3000)), "claude": { "preset": "claude" } });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "agent": "claude" }))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": [edge("T-1", "T-2", json!({}))] }));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    yard.run_with(&["run", &plan], &[("PATH", &path)]).ended(0);
    let prompt = std::fs::read_to_string(yard.path("home/prompt")).unwrap();
    let (_, fenced) = prompt.split_once("<<<data handoff from T-1 ").unwrap();
    let (mark, rest) = fenced.split_once('\n').unwrap();
    let (document, rest) = rest.split_once(&format!("\n>>>data {mark}")).unwrap();
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["handoff"]["payload"]["working"]["from_agent"]["choice"], "half to even");
    let kept = files(&yard, "session-context")[0].display().to_string();
    assert!(rest.contains(&kept), "where the rest is: {rest:.400}");
}

/// What happens to a handoff between the moment it is sent and the moment it is received, and what comes of it.
struct Case {
    name: &'static str,
    edge: Value,
    happens: fn(&Yard),
    /// Why the target waits; nothing, if it does not.
    because: Option<(&'static str, &'static str)>,
    /// What is said while it goes on.
    says: &'static str,
    /// How often it is sent until all is done.
    sent: usize,
}

/// `T-1` hands over to `T-2`, which also waits for `T-3`; that one fails once, so that there is time for something to happen.
fn between(case: &Case) {
    let yard = Yard::new();
    let fails_once = "if [ ! -e \"$COUNTERSIGN_HOME/once\" ]; then touch \"$COUNTERSIGN_HOME/once\"; exit 1; fi\n\
        mkdir -p src; echo x > \"$scope\"; claim \"$scope\"";
    let agents = json!({ "coder": talker(&yard, &long(3000)), "slow": yard.agent(fails_once) });
    let tasks = vec![
        task("T-1", json!({})),
        task("T-2", json!({ "depends_on": "T-3" })),
        task("T-3", json!({ "agent": "slow", "depends_on": "T-1", "retries": 0 })),
    ];
    let more = json!({ "handoffs": [edge("T-1", "T-2", case.edge.clone())], "concurrency": 1 });
    let plan = yard.plan(agents, tasks, more);
    yard.run(&["run", &plan]).ended(1);
    assert_eq!(events(&yard, "handoff.sent").len(), 1, "{}", case.name);
    (case.happens)(&yard);
    unblock(&yard, "T-3");
    let resumed = yard.resume();
    assert!(resumed.out.contains(case.says), "{}: `{}` in {}", case.name, case.says, resumed.out);
    if let Some((code, reason)) = case.because {
        assert_eq!(resumed.code, 1, "{}: {resumed:?}", case.name);
        let asked = yard.asked();
        assert_eq!(asked["task_id"], "T-2", "{}", case.name);
        let blocker = &yard.show("T-2")["task"]["blocker"];
        let blocker = blocker.as_str().unwrap();
        assert!(blocker.starts_with(code) && blocker.contains(reason), "{}: {blocker}", case.name);
        assert!(blocker.ends_with("to have it made anew"), "{}: {blocker}", case.name);
        assert_eq!(yard.count("task.claimed", "T-2"), 0, "{}: its agent has not begun", case.name);
        assert_eq!(yard.show("T-3")["task"]["status"], "done", "{}: nothing else waits", case.name);
        // A person lets it go on, and it is made anew.
        unblock(&yard, "T-2");
        yard.resume().ended(0);
    } else {
        assert_eq!(resumed.code, 0, "{}: {resumed:?}", case.name);
    }
    assert_eq!(events(&yard, "handoff.sent").len(), case.sent, "{}", case.name);
    assert_eq!(events(&yard, "handoff.received").len(), 1, "{}", case.name);
    let story = &assignment(&yard, "T-2")["x_handoffs"][0]["handoff"]["payload"]["working"]["from_agent"]["story"];
    assert!(story.as_str().unwrap().starts_with("word 0"), "{}: {story}", case.name);
    yard.is_tidy();
}

fn rewrite(yard: &Yard, change: impl Fn(String) -> String) {
    let path = &files(yard, "T-1-to-T-2-")[0];
    std::fs::write(path, change(std::fs::read_to_string(path).unwrap())).unwrap();
}

#[test]
fn whatever_happens_between_sending_and_receiving_is_noticed_and_a_person_can_let_it_go_on() {
    let (changed, gone) = ("INTEGRITY_MISMATCH", "DEPENDENCY_NOT_MET");
    let cases = [
        Case {
            name: "nothing",
            edge: json!({}),
            happens: |_| {},
            because: None,
            says: "its hash was verified",
            sent: 1,
        },
        Case {
            name: "the payload is changed",
            edge: json!({}),
            happens: |yard| rewrite(yard, |text| text.replace("half to even", "half away from zero")),
            because: Some((changed, "hash_mismatch")),
            says: "waits for a person: the handoff from T-1 was refused",
            sent: 2,
        },
        Case {
            name: "what it is about is changed",
            edge: json!({}),
            happens: |yard| rewrite(yard, |text| text.replace("is done (verified)", "is done (accepted)")),
            because: Some((changed, "/handoff/context/summary was changed after it was sent")),
            says: "waits for a person",
            sent: 2,
        },
        Case {
            name: "its file is gone",
            edge: json!({}),
            happens: |yard| std::fs::remove_file(&files(yard, "T-1-to-T-2-")[0]).unwrap(),
            because: None,
            says: "the file of the handoff is gone; it is taken from the ledger, as it was sent",
            sent: 1,
        },
        Case {
            name: "what was taken out is gone",
            edge: json!({}),
            happens: |yard| std::fs::remove_file(&files(yard, "session-context")[0]).unwrap(),
            because: Some((gone, "session-context.json is gone")),
            says: "waits for a person",
            sent: 2,
        },
        Case {
            name: "what was taken out is changed",
            edge: json!({}),
            happens: |yard| {
                let path = &files(yard, "session-context")[0];
                let text = std::fs::read_to_string(path).unwrap();
                std::fs::write(path, text.replace("word 0", "another word")).unwrap();
            },
            because: Some((changed, "session-context.json is not what was taken out of it")),
            says: "waits for a person",
            sent: 2,
        },
        Case {
            name: "it expires",
            edge: json!({ "expires": "1s" }),
            happens: |yard| {
                let made: jiff::Timestamp =
                    events(yard, "handoff.sent")[0]["facts"]["made"].as_str().unwrap().parse().unwrap();
                let expires = made + jiff::SignedDuration::from_secs(1);
                wait_for("its end", || jiff::Timestamp::now() > expires);
            },
            because: Some(("SCHEMA_INVALID", "ignored_stale")),
            says: "waits for a person",
            sent: 2,
        },
        Case {
            name: "it is erased",
            edge: json!({}),
            happens: |yard| {
                let seq = events(yard, "handoff.sent")[0]["seq"].to_string();
                yard.run(&["erase", &seq, "--reason", "asked for", "--token-file", &yard.owner_token()]).ended(0);
            },
            because: Some((gone, "was erased after it was sent")),
            says: "waits for a person",
            sent: 2,
        },
    ];
    std::thread::scope(|scope| {
        let threads: Vec<_> = cases.iter().map(|case| scope.spawn(|| between(case))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn what_cannot_be_made_to_fit_is_reported_and_somebody_can_send_one_instead() {
    let yard = Yard::new();
    // Four hundred short words in the context, out of which nothing of its kind is taken.
    let own = json!({ "focus_areas": (0..400).map(|n| format!("area {n}")).collect::<Vec<_>>() });
    let agents = json!({ "coder": talker(&yard, &own.to_string()) });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({})), task("T-3", json!({ "depends_on": "T-1" }))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": [edge("T-1", "T-2", json!({ "max_tokens": 700 }))] }));
    let answer: Answer = yard.run(&["run", &plan]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_eq!(yard.show("T-3")["task"]["status"], "done", "nothing else stops");
    assert_eq!(yard.asked()["task_id"], "T-2");
    let blocker = yard.show("T-2")["task"]["blocker"].clone();
    assert!(
        blocker.as_str().unwrap().starts_with("TOKEN_LIMIT_EXCEEDED: the handoff from T-1 cannot be made"),
        "{blocker}"
    );
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(&files(&yard, "T-1-to-T-2-report")[0]).unwrap()).unwrap();
    assert_eq!((&report["from"], &report["code"]), (&json!("T-1"), &json!("TOKEN_LIMIT_EXCEEDED")));
    assert!(report["findings"].as_array().unwrap().iter().any(|it| it["rule"] == "handoff-token-limit-exceeded"));
    assert_eq!(events(&yard, "handoff.sent"), Vec::<Value>::new());
    // It is not tried again by itself, and fails again if nothing has changed.
    unblock(&yard, "T-2");
    assert_eq!(yard.resume().code, 1);
    // Somebody writes one.
    let trace = report["trace_id"].as_str().unwrap();
    std::fs::write(yard.path("words.json"), r#"{"choice": "half to even"}"#).unwrap();
    let (payload, out) = (yard.path("words.json").display().to_string(), yard.path("own.json").display().to_string());
    let make = ["handoff", "make", "--trace", trace, "--source", "T-1", "--target", "T-2", "--summary", "Rounded"];
    let more = ["--problem-type", "implementation", "--payload", &payload, "--out", &out];
    yard.run(&[&make[..], &more].concat()).ended(0);
    let run = events(&yard, "run.opened")[0]["run"].as_str().unwrap().to_owned();
    assert!(blocker.as_str().unwrap().contains(&format!("handoff send FILE --run {run}")), "{blocker}");
    // Nobody but a person may.
    let send = ["handoff", "send", &out, "--run", &run];
    yard.run(&[&send[..], &["--as", "ann"]].concat()).says("AUTHORIZATION_MISSING");
    assert_eq!(events(&yard, "handoff.sent"), Vec::<Value>::new());
    yard.run(&[&send[..], &["--token-file", &yard.owner_token()]].concat()).ended(0);
    unblock(&yard, "T-2");
    yard.resume().ended(0);
    assert_eq!(events(&yard, "handoff.sent").len(), 1);
    let given = assignment(&yard, "T-2");
    assert_eq!(given["x_handoffs"][0]["handoff"]["payload"]["working"]["choice"], "half to even");
    yard.is_tidy();
}

/// Shell functions for an agent that knows the trace of its run, since that can be computed, and what becomes of them.
fn forging(yard: &Yard) -> String {
    std::fs::write(yard.path("forged.json"), r#"{"choice": "forged"}"#).unwrap();
    let (home, root, forged) = (yard.path("home"), yard.root(), yard.path("forged.json"));
    format!(
        "digest=$(printf %s \"$COUNTERSIGN_RUN/T-1\" | sha256sum)\n\
         part() {{ printf %s \"$digest\" | cut -c \"$1\"; }}\n\
         trace=\"$(part 1-8)-$(part 9-12)-4$(part 14-16)-a$(part 18-20)-$(part 21-32)\"\n\
         speak() {{ (cd {root} && env -u COUNTERSIGN_TOKEN {program} \"$@\" --as thief) >>{home}/said 2>&1; \
         echo \"$COUNTERSIGN_TASK $2 $?\" >>{home}/codes; }}\n\
         forge() {{ speak handoff make --trace $trace --source $1 --target $2 --summary forged \
         --problem-type implementation --payload {forged} --out {home}/$COUNTERSIGN_TASK-$1-$2.json; }}\n",
        root = root.display(),
        program = env!("CARGO_BIN_EXE_countersign"),
        home = home.display(),
        forged = forged.display(),
    )
}

/// Before the run has sent anything, and while what it sent is under way, an agent sends and receives in its trace.
#[test]
fn what_agents_send_and_receive_in_the_trace_of_their_run_counts_for_nothing() {
    let yard = Yard::new();
    let home = yard.path("home").display().to_string();
    let ends = "mkdir -p src; echo x > \"$scope\"; claim \"$scope\"";
    let early = format!(
        "{}forge T-1 T-2; forge T-1 T-3\n\
         for to in T-2 T-3; do speak handoff send {home}/T-1-T-1-$to.json --run $COUNTERSIGN_RUN\n\
         speak handoff send {home}/T-1-T-1-$to.json; speak handoff receive $trace --skill $to; done\n{ends}",
        forging(&yard)
    );
    let late = format!(
        "{}forge T-1 T-3; speak handoff send {home}/T-2-T-1-T-3.json\n\
         speak handoff send {home}/T-2-T-1-T-3.json --run $COUNTERSIGN_RUN\n\
         speak handoff receive {home}/T-1-T-1-T-3.json --skill T-3; speak handoff receive $trace --skill T-3\n{ends}",
        forging(&yard)
    );
    let agents = json!({ "early": yard.agent(&early), "late": yard.agent(&late), "coder": talker(&yard, "{}") });
    let tasks = vec![
        task("T-1", json!({ "agent": "early" })),
        task("T-2", json!({ "agent": "late" })),
        task("T-3", json!({ "depends_on": "T-2" })),
    ];
    let edges = [edge("T-1", "T-2", json!({})), edge("T-1", "T-3", json!({}))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": edges }));
    let answer = yard.run(&["run", &plan]);
    let said = std::fs::read_to_string(yard.path("home/said")).unwrap();
    assert_eq!(answer.code, 0, "{answer:?}\n{said}");
    let codes = std::fs::read_to_string(yard.path("home/codes")).unwrap();
    let codes: Vec<&str> = codes.lines().collect();
    // While the trace is nobody's, anybody may use it; in the name of the run nobody may.
    let early = [
        "T-1 make 0",
        "T-1 make 0",
        "T-1 send 1",
        "T-1 send 0",
        "T-1 receive 0",
        "T-1 send 1",
        "T-1 send 0",
        "T-1 receive 0",
    ];
    let late = ["T-2 make 0", "T-2 send 1", "T-2 send 1", "T-2 receive 0", "T-2 receive 1"];
    assert_eq!(codes, [&early[..], &late].concat(), "{said}");
    assert_eq!(said.matches("AUTHORIZATION_MISSING").count(), 5, "{said}");
    let run = events(&yard, "run.opened")[0]["run"].clone();
    let own = |kind: &str| events(&yard, kind).into_iter().filter(|it| it["run"] == run).collect::<Vec<_>>();
    assert_eq!((own("handoff.sent").len(), own("handoff.received").len()), (2, 2));
    assert!(own("handoff.received").iter().all(|it| it["actor"] != "thief"));
    let handed = &assignment(&yard, "T-3")["x_handoffs"][0]["handoff"]["payload"]["working"];
    assert_eq!((&handed["task"], &handed["choice"]), (&json!("T-1"), &Value::Null));
    yard.is_tidy();
}

/// What `check` lets pass is enough for a task about which there is little to say.
#[test]
fn the_smallest_budget_that_a_plan_may_name_suffices() {
    let yard = Yard::new();
    let tasks = || vec![task("T-1", json!({})), task("T-2", json!({}))];
    let plan = |most: u64| {
        let agents = json!({ "coder": yard.honest() });
        yard.plan(agents, tasks(), json!({ "handoffs": [edge("T-1", "T-2", json!({ "max_tokens": most }))] }))
    };
    yard.run(&["check", &plan(419)]).says("plan-handoff-budget-unusable");
    let out = yard.run(&["run", &plan(420)]).ended(0);
    assert!(out.contains(" of 420 tokens"), "{out}");
}

#[test]
fn what_comes_from_several_tasks_at_once_arrives_from_each_and_goes_on_in_one_chain() {
    let yard = Yard::new();
    let agents = json!({ "coder": talker(&yard, "\"no object\"") });
    let tasks = (1..=5).map(|n| task(&format!("T-{n}"), json!({}))).collect();
    let edges = [("T-1", "T-2"), ("T-1", "T-3"), ("T-2", "T-4"), ("T-3", "T-4"), ("T-4", "T-5")];
    let edges: Vec<Value> = edges.iter().map(|(from, to)| edge(from, to, json!({}))).collect();
    let plan = yard.plan(agents, tasks, json!({ "handoffs": edges, "concurrency": 4 }));
    let out = yard.run(&["run", &plan]).ended(0);
    assert!(out.contains("under `x_handoff` is no object, and is left out"), "{out}");
    let from = |task: &str| {
        let given = assignment(&yard, task);
        let handed = given["x_handoffs"].as_array().unwrap();
        handed.iter().map(|it| it["from"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((from("T-4"), from("T-5")), (vec!["T-2".to_owned(), "T-3".to_owned()], vec!["T-4".to_owned()]));
    let sent = events(&yard, "handoff.sent");
    assert_eq!((sent.len(), events(&yard, "handoff.received").len()), (5, 5));
    let traces: std::collections::BTreeSet<&str> =
        sent.iter().map(|it| it["facts"]["trace"].as_str().unwrap()).collect();
    assert_eq!(traces.len(), 1);
    let last = sent.iter().find(|it| it["facts"]["target"] == "T-5").unwrap();
    let chain = last["facts"]["chain"].as_array().unwrap();
    assert_eq!((chain.len(), &chain[0], &chain[2]), (3, &json!("T-1"), &json!("T-4")));
    yard.is_tidy();
}

#[test]
fn an_action_hands_over_how_it_was_answered_and_takes_nothing() {
    let yard = Yard::new();
    let given = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() - 2).unwrap().to_string();
    let id = format!("DI-{}-001", &given[..10]);
    let info = countersign_domain::contract("delegation_instruction").unwrap();
    let mut instruction = (info.example)();
    (instruction["INSTRUCTION_ID"], instruction["TIMESTAMP_UTC"]) = (json!(id), json!(given));
    let commit = yard.git(&["rev-parse", "HEAD"]);
    let parameters = json!({ "BRANCH_NAME": "release", "SOURCE_SHA": commit.trim() });
    instruction["ACTION"] = json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": parameters });
    instruction["REQUESTER"]["AUTHORIZATION_LEVEL"] = json!("AUTONOMOUS");
    for field in ["GOVERNANCE_EVIDENCE", "QA_EVIDENCE"] {
        instruction["AUTHORIZATION"][field] = json!("src/start");
    }
    let action = json!({ "id": "T-1", "title": "Make the branch", "kind": "delegate", "instruction": instruction });
    let plan = |tasks: Vec<Value>, edges: Value| {
        yard.plan(json!({ "coder": talker(&yard, "{}") }), tasks, json!({ "handoffs": edges }))
    };
    let path = plan(vec![action.clone(), task("T-2", json!({}))], json!([edge("T-1", "T-2", json!({}))]));
    let out = yard.run(&["run", &path]).ended(0);
    assert!(out.contains("T-2: received handoff 1 from T-1"), "{out}");
    let working = assignment(&yard, "T-2")["x_handoffs"][0]["handoff"]["payload"]["working"].clone();
    assert_eq!((&working["status"], &working["action"]), (&json!("SUCCESS"), &json!("CREATE_BRANCH")), "{working:#}");
    assert_eq!(working["instruction_id"], json!(id));
    assert_eq!(working["platform_evidence"]["RESOURCE_TYPE"], "branch");
    assert!(yard.read(working["audit_entry"].as_str().unwrap()).is_some());
    let back = plan(vec![task("T-2", json!({})), action], json!([edge("T-2", "T-1", json!({}))]));
    yard.run(&["check", &back]).says("carried out as it stands and reads no handoff");
}

#[test]
fn a_dry_run_shows_the_handoffs_and_what_cannot_be_is_refused_before_anything_starts() {
    let yard = Yard::new();
    let plan = |edges: Value, tasks: Vec<Value>| {
        let agents = json!({ "coder": yard.honest(), "other": { "peer": true } });
        yard.plan(agents, tasks, json!({ "handoffs": edges }))
    };
    let two = || vec![task("T-1", json!({})), task("T-2", json!({}))];
    let path =
        plan(json!([edge("T-1", "T-2", json!({ "max_tokens": 900, "expires": "2h", "summarizer": "short" }))]), two());
    let said = yard.run(&["run", &path, "--dry-run"]).ended(0);
    assert!(said.contains("handoff T-1 → T-2, at most 900 tokens, shortened by short, expires after 2h"), "{said}");
    assert!(said.contains("stage 2"), "it is waited for: {said}");
    let shown: Value =
        serde_json::from_str(&yard.run(&["run", &path, "--dry-run", "--format", "json"]).ended(0)).unwrap();
    assert_eq!((&shown["handoffs"][0]["to"], &shown["stages"]), (&json!("T-2"), &json!([["T-1"], ["T-2"]])));
    let back = vec![task("T-1", json!({ "depends_on": "T-2" })), task("T-2", json!({}))];
    let peer = vec![task("T-1", json!({})), task("T-2", json!({ "agent": "other" }))];
    for (edges, tasks, rule) in [
        (json!([edge("T-1", "T-9", json!({}))]), two(), "plan-handoff-task-unknown"),
        (json!([edge("T-1", "T-1", json!({}))]), two(), "plan-handoff-task-unknown"),
        (json!([edge("T-1", "T-2", json!({})), edge("T-1", "T-2", json!({}))]), two(), "plan-handoff-repeated"),
        (json!([edge("T-1", "T-2", json!({ "max_tokens": 5000 }))]), two(), "plan-handoff-budget-unusable"),
        (json!([edge("T-1", "T-2", json!({ "expires": "0s" }))]), two(), "plan-handoff-expires-at-once"),
        (json!([edge("T-1", "T-2", json!({}))]), back, "plan-dependencies-circular"),
        (json!([edge("T-1", "T-2", json!({}))]), peer, "plan-handoff-to-peer"),
    ] {
        let path = plan(edges, tasks);
        let answer = yard.run(&["run", &path]);
        assert_eq!(answer.code, 1, "{rule}: {answer:?}");
        yard.run(&["check", &path]).says(rule);
    }
    assert_eq!(events(&yard, "run.opened"), Vec::<Value>::new());
}
