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
fn warnings_about_an_instruction_are_shown_before_it_is_too_late() {
    let yard = Yard::new();
    let mut odd = branch(&yard, 1, "release/1");
    odd["AUTHORIZATION"]["GOVERNANCE_EVIDENCE"] = json!(".governance/never-written.md");
    yard.write("instructions/branch.json", &odd.to_string());
    for written in [odd, json!("instructions/branch.json")] {
        let plan = plan(&yard, vec![action("T-1", written, json!({}))]);
        for arguments in [&["run", "--dry-run"][..], &["run", "--dry-run", "--format", "json"], &["run", "--no-wait"]] {
            let answer = yard.run(&[arguments, &[plan.as_str()]].concat());
            let said = "warning: /tasks/0/instruction/AUTHORIZATION/GOVERNANCE_EVIDENCE: `.governance/never-written.md` is not there";
            assert_eq!(answer.err.matches(said).count(), 1, "{arguments:?}: {answer:?}");
        }
    }
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

#[test]
fn github_is_asked_where_the_settings_say_once_the_user_has_said_so() {
    let yard = Yard::new();
    let comment = |number: u32| {
        instruction(&yard, number, "COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 42, "COMMENT_BODY": "ready" }))
    };
    let (forge, bad) = (Forge::new(), Forge::new());
    bad.answer("POST", 404, json!({ "message": format!("so {}it is", "very ".repeat(60)) }));
    let (good, bad) = (forge.url.clone(), bad.url.clone());
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
    let lacking = |number: u32| {
        let mut it = branch(&yard, number, "wanted");
        it["AUTHORIZATION"]["HUMAN_APPROVAL"] = json!("NO");
        it
    };
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
    let id = delegate(4, lacking(4));
    let item = yard.asked();
    assert_eq!(
        (&item["instruction_id"], &item["asks"], next(&id)),
        (&json!(id), &json!("delegation"), json!("escalate"))
    );
    let text = yard.run(&["inbox"]).ended(0);
    assert!(text.contains(&format!("countersign delegate --resolve {id} --decision retry")), "{text}");
    assert!(text.contains("lacks authority"), "{text}");
    assert!(text.contains("its requester meant then to: escalate to the owner"), "{text}");
    // Until then nothing is tried for the same end, under whatever id and by whatever authority is claimed.
    let again = |number: u32| {
        delegate(number, branch(&yard, number, "wanted"));
        yard.run(&["delegate", &format!("{number}.json")]).says("AUTHORIZATION_MISSING");
    };
    again(8);
    assert_eq!(events(&yard, "delegation.received"), 4);
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
    // The next try is wrong as well, and is given up.
    let id = delegate(5, lacking(5));
    let item = yard.asked();
    resolve(&id, &item["shown"], "abandon").unwrap();
    assert_eq!(next(&id), "abandon");
    again(9);
    assert_eq!(events(&yard, "delegation.received"), 5);
    yard.run(&["verify"]).ended(0);
}

#[test]
fn what_is_forbidden_is_not_tried_before_it_was_seen_to_have_cleared() {
    let yard = Yard::new();
    let delete = |number: u32| instruction(&yard, number, "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }));
    let delegate = |number: u32| {
        yard.write("next.json", &delete(number).to_string());
        yard.run(&["delegate", "next.json"])
    };
    assert!(delegate(1).out.contains("BLOCKED"));
    let id = delete(1)["INSTRUCTION_ID"].clone();
    let next = || yard.look("delegation.next", json!({ "instruction_id": id }));
    assert_eq!(
        (&next()["step"], &next()["failure_handling"]),
        (&json!("wait"), &json!("escalate to the owner of the repository"))
    );
    delegate(2).says("DEPENDENCY_NOT_MET");
    let observe = |about: &str, holds: bool| {
        let says = json!({ "instruction_id": id, "about": about, "holds": holds, "says": "looked" });
        yard.owner("delegation.observe", says)
    };
    assert!(observe("outcome", true).unwrap_err().starts_with("INVALID_TRANSITION"));
    observe("constraint", true).unwrap();
    assert_eq!((&next()["step"], &next()["seen"]), (&json!("wait"), &json!("looked")));
    delegate(3).says("DEPENDENCY_NOT_MET");
    assert_eq!(events(&yard, "delegation.received"), 1, "nothing was tried");
    yard.git(&["checkout", "-q", "-b", "elsewhere"]);
    observe("constraint", false).unwrap();
    assert_eq!(next()["step"], "retry");
    delegate(4).ended(0);
    assert!(!has(&yard, "refs/heads/main"));
}

#[test]
fn what_is_wrong_again_and_again_is_for_a_person() {
    let yard = Yard::new();
    let hand_in = |number: u32, name: &str| {
        let it = branch(&yard, number, name);
        yard.write("next.json", &it.to_string());
        (it["INSTRUCTION_ID"].clone(), yard.run(&["delegate", "next.json"]))
    };
    let delegate = |number: u32, name: &str| {
        let (id, _) = hand_in(number, name);
        yard.look("delegation.next", json!({ "instruction_id": id }))["step"].clone()
    };
    // Each corrects the name, and none of them is one.
    for (number, name) in [(1, "a..b"), (2, "a b"), (3, "a~b")] {
        assert_eq!(delegate(number, name), "correct", "{name}");
    }
    assert_eq!(delegate(4, "a^b"), "escalate");
    let item = yard.asked();
    assert_eq!(item["asks"], "delegation");
    // Who has it right by now goes on when a person has said so.
    hand_in(5, "right").1.says("AUTHORIZATION_MISSING").says("wrong 4 times in a row");
    assert!(!has(&yard, "refs/heads/right"));
    let decided = json!({
        "instruction_id": item["instruction_id"], "shown": item["shown"], "decision": "retry", "reason": "r",
    });
    yard.owner("delegation.resolve", decided).unwrap();
    assert_eq!(delegate(6, "right"), "proceed");
    assert_eq!(delegate(7, "a..c"), "correct");
}

#[test]
fn a_success_that_is_gone_when_it_is_looked_at_is_for_a_person() {
    let yard = Yard::new();
    let forge = Forge::new();
    let env = [("GITHUB_TOKEN", "token-of-a-test")];
    let comment = instruction(&yard, 1, "COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 42, "COMMENT_BODY": "ready" }));
    yard.write("one.json", &comment.to_string());
    let delegate =
        || yard.run_with(&["delegate", "one.json", "--executor", "github", "--github-url", &forge.url], &env);
    // It cannot be looked at: that is said, and the requester may not go on yet.
    forge.answer("GET /repos/acme/shop/issues/42/comments", 403, json!({ "message": "no" }));
    let step = || yard.look("delegation.next", json!({ "instruction_id": comment["INSTRUCTION_ID"] }))["step"].clone();
    let answer = delegate();
    assert_eq!((answer.code, step()), (0, json!("verify")), "{answer:?}");
    assert!(answer.err.contains("could not be looked at"), "{answer:?}");
    // It is not there.
    forge.answer_as_usual();
    forge.answer("GET /repos/acme/shop/issues/42/comments", 200, json!([]));
    let answer = delegate();
    assert_eq!((answer.code, step()), (1, json!("escalate")), "{answer:?}");
    assert_eq!(yard.asked()["instruction_id"], comment["INSTRUCTION_ID"]);
    // Looked at again, it is there.
    forge.answer_as_usual();
    let answer = delegate();
    assert_eq!((answer.code, step()), (0, json!("proceed")), "{answer:?}");
    assert_eq!((yard.look("inbox.list", json!({}))["items"].clone(), forge.changes().len()), (json!([]), 1));
}

#[test]
fn what_cannot_be_asked_stops_and_is_in_the_inbox() {
    let yard = Yard::new();
    yard.run(&["run", &plan(&yard, vec![action("T-1", tag(&yard, 1, "v1"), json!({}))])]);
    answered(&yard, "delegation.approve", &yard.asked()).unwrap();
    // The instruction is erased before it is carried out.
    let log = yard.run(&["log", "--format", "json"]);
    let planned = log.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let planned = planned.map(|it| it["event"].clone()).find(|it| it["kind"] == "delegation.planned").unwrap();
    yard.decide(&["erase", &planned["seq"].to_string(), "--reason", "asked to"]).ended(0);
    let answer = yard.run(&["run", "--resume"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let item = yard.asked();
    assert!(item["reason"].as_str().unwrap().contains("was erased"), "{item:#}");
    assert!(!has(&yard, "refs/tags/v1"));
}

#[test]
fn what_lacked_authority_is_asked_about_whatever_came_since() {
    // What a plan did since for the same requirement: something else of the kind, or the very same.
    for planned in ["two", "one"] {
        let yard = Yard::new();
        let hand_in = |number: u32, name: &str, patch: Value| {
            let mut it = branch(&yard, number, name);
            countersign_contract::prove::merge(&mut it, &patch);
            yard.write("next.json", &it.to_string());
            (it["INSTRUCTION_ID"].clone(), yard.run(&["delegate", "next.json"]))
        };
        let alone = json!({ "AUTHORIZATION": { "HUMAN_APPROVAL": "NO", "GOVERNANCE_STATUS": "OVERRIDE" } });
        let (lacking, answer) = hand_in(1, "one", alone);
        answer.says("INVALID_REQUEST");
        // The same end, and wrong for another reason.
        let (wrong, answer) = hand_in(2, "one", json!({ "TIMESTAMP_UTC": "2999-01-01T00:00:00Z" }));
        answer.says("INVALID_REQUEST");
        yard.run(&["run", &plan(&yard, vec![action("T-1", branch(&yard, 3, planned), json!({}))])]).ended(0);
        assert!(has(&yard, &format!("refs/heads/{planned}")));
        // It still stands in the way of what is asked for next, and is what a person is shown.
        let (_, answer) = hand_in(4, "four", json!({}));
        answer.says("AUTHORIZATION_MISSING").says(lacking.as_str().unwrap());
        let item = yard.asked();
        assert_eq!(item["instruction_id"], lacking, "{planned}: {item:#}");
        let step = |id: &Value| yard.look("delegation.next", json!({ "instruction_id": id }))["step"].clone();
        assert_eq!(step(&lacking), "escalate");
        assert_ne!(step(&wrong), "escalate");
        let decided = |id: &Value| json!({ "instruction_id": id, "shown": item["shown"], "decision": "retry", "reason": "looked at it" });
        assert!(yard.owner("delegation.resolve", decided(&wrong)).unwrap_err().starts_with("INVALID_TRANSITION"));
        yard.owner("delegation.resolve", decided(&lacking)).unwrap();
        assert_eq!(yard.look("inbox.list", json!({}))["items"], json!([]), "{planned}");
        hand_in(5, "four", json!({})).1.ended(0);
        assert!(has(&yard, "refs/heads/four"));
        yard.run(&["verify"]).ended(0);
    }
}

#[test]
fn an_action_that_waits_for_the_platform_is_called_off_with_its_task() {
    let yard = Yard::new();
    let forge = Forge::new();
    forge.answer("POST", 429, json!({ "message": "You have exceeded a secondary rate limit" }));
    let comment = instruction(&yard, 1, "COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 42, "COMMENT_BODY": "ready" }));
    let plan = plan(&yard, vec![action("T-1", comment, json!({ "executor": "github", "approval": "policy" }))]);
    let going = yard.start_with(&["run", &plan, "--github-url", &forge.url], &[("GITHUB_TOKEN", "token-of-a-test")]);
    wait_for("the first try", || !forge.changes().is_empty());
    yard.decide(&["run", "cancel", "--reason", "no"]).ended_with(0);
    let began = std::time::Instant::now();
    going.end().says("canceled it: no").ended_with(1);
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(forge.changes().len(), 1);
}
