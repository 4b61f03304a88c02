//! What comes from outside of the plan: instructions in files, secrets, platforms, and what a requester may not go on with.

use super::*;

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
            yard.decide(&["run", "cancel", "--reason", "seen enough"]).ended(0);
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
