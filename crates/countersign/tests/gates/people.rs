//! What a person accepts, validates and judges, and what they are shown before.

use super::*;

#[test]
fn what_does_not_hold_is_accepted_by_a_person_who_was_shown_it() {
    let house = project();
    promised(&house, &[]);
    let early = mark(&house);
    response(&house, ["PASS", "FAIL"]);
    assert_eq!(json_of(&house, &validate("reviewer-1", "reviewer-1"))["verdict"], "PARTIAL");
    let (code, why) = check(&house, &[ID]);
    assert!(code == 2 && why.contains("a person must answer"), "{why}");
    let shown = done(house.run(&["gate", "status", ID])).out;
    for wanted in [
        "2 validated  open: validated as PARTIAL",
        "AC-2  FAIL",
        "to mend it: say in the body",
        "waits for    a person",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let (token, current) = (house.owner_token(), mark(&house));
    let accept = |failures: &str, more: &[&str]| {
        let accept = ["gate", "accept", ID, "--failures", failures, "--reason", "mended next week", "--format", "json"];
        house.run(&[&accept, more].concat())
    };
    let code = |answer: Answer| {
        assert_eq!(answer.code, 1, "{answer:?}");
        serde_json::from_str::<Value>(&answer.out).unwrap()["code"].as_str().unwrap().to_owned()
    };
    // An agent, with the mark or without, whatever it calls itself.
    for name in ["coder-1", "coder-2", "owner", "person"] {
        assert_eq!(code(accept("AC-2", &["--as", name])), "AUTHORIZATION_MISSING", "{name}");
        assert_eq!(code(accept("AC-2", &["--shown", &current, "--as", name])), "AUTHORIZATION_MISSING", "{name}");
    }
    // What was shown before is not what is accepted now; nor is anything else than what does not hold.
    for stale in [early.as_str(), "0123456789abcdef.29000000", &current.replace('.', ".1")] {
        assert_eq!(code(accept("AC-2", &["--shown", stale, "--token-file", &token])), "INTEGRITY_MISMATCH", "{stale}");
    }
    let as_owner = ["--shown", &current, "--token-file", &token];
    for failures in ["AC-1", "AC-1,AC-2"] {
        assert_eq!(code(accept(failures, &as_owner)), "ACCEPTANCE_FAILED", "{failures}");
    }
    // Where nobody can be asked, the mark must be given, and it is said how to get it.
    let without = accept("AC-2", &["--token-file", &token]);
    assert_eq!(without.code, 2, "{without:?}");
    assert!(without.err.contains(&format!("countersign gate status {ID}")), "{without:?}");
    assert_eq!(check(&house, &[ID]).0, 2);

    done(accept("AC-2", &as_owner));
    assert_eq!(check(&house, &[ID]).0, 0);
    let shown = json_of(&house, &["gate", "status", ID]);
    assert_eq!(shown["accepted"], json!(["AC-2"]));
    assert!(shown["accepted_by"].as_str().unwrap().starts_with("user"), "{shown}");
    // Once.
    assert_eq!(code(accept("AC-2", &as_owner)), "INVALID_TRANSITION");
    assert!(done(house.run(&["log"])).out.contains("accepted"));
}

#[test]
fn a_person_validates_and_judges_and_no_agent_does_so_for_them() {
    let house = project();
    promised(&house, &["--validator", "person", "--judge", "person"]);
    let token = house.owner_token();
    let answer = |verb: &str, more: &[&str], mark: &str| {
        let arguments = [&["gate", verb, ID], more, &["--shown", mark, "--token-file", &token]].concat();
        done(house.run(&arguments))
    };
    response(&house, ["PASS", "PASS"]);
    assert_eq!(refused(&house, &validate("reviewer-1", "person")), "AUTHORIZATION_MISSING");
    let testify = ["gate", "testify", ID, "--pass", "AC-1,AC-2", "--evidence", "I tried both", "--as", "coder-2"];
    assert_eq!(refused(&house, &testify), "AUTHORIZATION_MISSING");
    for wrong in [&["--evidence", "x"][..], &["--pass", "AC-1", "--fail", "AC-1", "--evidence", "x"]] {
        assert_eq!(house.run(&[&["gate", "testify", ID], wrong].concat()).code, 2, "{wrong:?}");
    }
    answer("testify", &["--pass", "AC-1,AC-2", "--evidence", "I paid with an empty cart"], &mark(&house));
    let shown = done(house.run(&["gate", "status", ID])).out;
    assert!(shown.contains("person: PASS, I paid with an empty cart"), "{shown}");
    assert!(shown.contains("3 judged     open: the judge has not spoken yet"), "{shown}");
    let judge = ["gate", "judge", ID, "PASS", "--judge", "judge-1", "--reason", "fine", "--as", "lead"];
    assert_eq!(refused(&house, &judge), "AUTHORIZATION_MISSING");
    let rule = ["gate", "rule", ID, "PASS", "--reason", "fine", "--as", "coder-2"];
    assert_eq!(refused(&house, &rule), "AUTHORIZATION_MISSING");
    assert_eq!(house.run(&["gate", "rule", ID, "UNREACHED", "--reason", "x"]).code, 2);
    answer("rule", &["warn", "--reason", "slow, but right"], &mark(&house));
    assert_eq!(check(&house, &[ID]).0, 0);
    let shown = done(house.run(&["gate", "status", ID])).out;
    assert!(shown.contains("judgement    WARN: slow, but right"), "{shown}");
}

fn validated(shop: &Shop, lease: &str, results: [&str; 2]) {
    response(&shop.house, results);
    let response = shop.house.read("response.json").replace(ID, "T-1");
    shop.house.write(".home/response.json", response);
    let validate =
        ["gate", "validate", "T-1", ".home/response.json", "--validator", "reviewer-1", "--bound", "c0ffee", "--lease"];
    // Nobody carries the run out: then a person speaks there, and no name that somebody gives themselves.
    let answer = shop.house.run(&[&validate[..], &[lease, "--as", "lead"]].concat());
    assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    done(shop.house.run(&[&validate[..], &[lease, "--token-file", &shop.house.owner_token()]].concat()));
}

#[test]
fn what_waits_for_a_person_is_answered_with_the_commands_that_the_inbox_prints() {
    let shop = Shop::idle();
    let house = &shop.house;
    assert_eq!(done(house.run(&["inbox"])).out, "nothing waits for a person\n");
    let run = planned(&shop);
    let lease = worked(&shop, &run, CLAUDE);
    assert_eq!(check(house, &["T-1"]).0, 2);
    validated(&shop, &lease, ["PASS", "FAIL"]);

    let inbox = json_of(house, &["inbox"]);
    let item = &inbox["items"][0];
    assert_eq!(
        (&item["asks"], &item["task_id"], &item["failures"]),
        (&json!("acceptance"), &json!("T-1"), &json!(["AC-2"]))
    );
    assert_eq!(json_of(house, &["inbox", "--run", "11111111-2222-4333-8444-555555555555"])["items"], json!([]));
    // Another run is open, and what the inbox prints still means this one.
    done(house.run(&["run", "open", "--objective", "another", "--as", "lead"]));
    let text = done(house.run(&["inbox"])).out;
    let command = text.lines().find_map(|line| line.trim().strip_prefix("answer       countersign ")).unwrap();
    assert!(command.starts_with("gate accept T-1 --failures AC-2 "), "{text}");
    assert!(text.contains("ago") || text.contains("since event"), "{text}");
    let token = house.owner_token();
    let arguments: Vec<&str> = command.split(' ').chain(["--token-file", &token]).collect();
    done(house.run(&arguments));
    assert_eq!(done(house.run(&["inbox"])).out, "nothing waits for a person\n");

    // It goes on where it was: somebody takes it up, and what was validated becomes part of the tree.
    let of_run = ["--run", &run];
    let claim = json_of(house, &[&["task", "claim", "T-1", "--as", "claude-code:2"], &of_run[..]].concat());
    let lease = claim["lease"].to_string();
    let land = |by: &[&str]| {
        let land = ["gate", "land", "T-1", "--bound", "c0ffee", "--lease", &lease];
        house.run(&[&land[..], by, &of_run[..]].concat())
    };
    // Nobody who worked on it says that it is done, nor whoever says that they lead.
    for worker in [CLAUDE, "claude-code:2", "lead"] {
        let answer = land(&["--as", worker]);
        assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    }
    let answer = done(land(&["--token-file", &token]));
    assert!(answer.out.contains("done"), "{answer:?}");
    assert_eq!(check(house, &[&["T-1"], &of_run[..]].concat()).0, 0);
}

/// What a person is told at a terminal, who types this.
#[cfg(unix)]
fn at_a_terminal(house: &House, arguments: &[&str], typed: &str) -> (i32, String) {
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    walkthrough::shell(house, &format!("countersign {}", quoted.join(" ")), &[], Some(typed))
}

#[cfg(unix)]
#[test]
fn somebody_at_a_terminal_is_shown_what_they_accept_and_asked() {
    let house = project();
    promised(&house, &[]);
    response(&house, ["PASS", "FAIL"]);
    done(house.run(&validate("reviewer-1", "reviewer-1")));
    let accept = ["gate", "accept", ID, "--failures", "AC-2", "--reason", "mended next week"];
    let (code, said) = at_a_terminal(&house, &accept, "n\n");
    assert_eq!(code, 1, "{said}");
    for wanted in ["AC-2  FAIL", "Accept these failures: AC-2? [y/N]", "nothing was done"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(check(&house, &[ID]).0, 2);
    // Whoever did the work does not accept it, at a terminal either.
    let (code, said) = at_a_terminal(&house, &[&accept[..], &["--as", "coder-1"]].concat(), "y\n");
    assert!(code == 1 && said.contains("AUTHORIZATION_MISSING"), "{said}");
    let (code, said) = at_a_terminal(&house, &accept, "y\n");
    assert_eq!(code, 0, "{said}");
    assert_eq!(check(&house, &[ID]).0, 0);
}
