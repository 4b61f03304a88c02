//! The same from elsewhere: through hooks, and through a server.

use super::*;

#[test]
fn a_session_that_wants_to_end_is_told_of_promises_that_it_did_not_keep() {
    let shop = Shop::open();
    let house = &shop.house;
    done(house.run(&["promise", "create", "--title", "t", "--id", ID, "--criterion", "it holds", "--as", CLAUDE]));
    // What is not begun keeps nobody.
    assert_eq!(shop.answer("claude-code", "stop", ""), json!({}));
    done(house.run(&["promise", "start", ID, "--as", CLAUDE]));
    let kept = shop.answer("claude-code", "stop", "");
    assert_eq!(kept["decision"], "block", "{kept}");
    let why = kept["reason"].as_str().unwrap();
    assert!(
        why.contains(ID) && why.contains("gate 1: not said to be met: AC-1") && why.contains("round 1 of 5"),
        "{why}"
    );
    done(house.run(&["promise", "meet", ID, "AC-1", "--evidence", "seen in docs/c.md:1", "--as", CLAUDE]));
    for round in 2..=5 {
        let why = shop.answer("claude-code", "stop", "");
        assert!(why["reason"].as_str().unwrap().contains("gate 2"), "{round}: {why}");
    }
    // In the end it is let go, and the ledger still says that it is not kept.
    let gone = shop.answer("claude-code", "stop", "");
    assert!(gone.get("decision").is_none() && gone.to_string().contains("not kept yet"), "{gone}");
    assert_eq!(check(house, &[ID]).0, 2);
}

#[test]
fn a_worker_whose_result_is_at_the_gates_may_end() {
    let shop = Shop::idle();
    let run = planned(&shop);
    let claim = shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
    shop.ask(CLAUDE, "task.release", json!({ "task_id": "T-1", "lease": claim["lease"], "reason": "begin anew" }));
    worked(&shop, &run, CLAUDE);
    assert_eq!(shop.answer("claude-code", "stop", ""), json!({}));
    assert_eq!(shop.look("lead", "task.show", json!({ "task_id": "T-1" }))["task"]["status"], "in_progress");
}

#[test]
fn a_server_is_asked_the_same_and_knows_by_the_token_who_answers() {
    let house = server::project();
    let server = server::Server::start(&house, &[]);
    let url = format!("http://{}", server.address);
    let tokens = [("coder-1", "orchestrator"), ("reviewer-1", "orchestrator"), ("ann", "reviewer")];
    let tokens = tokens.map(|(actor, role)| server::token(&house, actor, role, None));
    let ask = |token: &str, arguments: &[&str]| {
        house.run_with(arguments, "", &[("COUNTERSIGN_URL", url.as_str()), ("COUNTERSIGN_TOKEN", token)])
    };
    let [coder, reviewer, ann] = &tokens;
    let create = ["promise", "create", "--title", "t", "--id", ID, "--criterion", "it is quick", "it is right"];
    done(ask(coder, &create));
    for criterion in ["AC-1", "AC-2"] {
        done(ask(coder, &["promise", "meet", ID, criterion, "--evidence", "seen in the log of the last night"]));
    }
    response(&house, ["PASS", "FAIL"]);
    let validate = ["gate", "validate", ID, "response.json", "--validator", "reviewer-1"];
    assert!(ask(coder, &validate).err.contains("AUTHORIZATION_MISSING"));
    done(ask(reviewer, &validate));
    assert_eq!(ask(coder, &["gate", "check", ID]).code, 2);
    // Whose promises are meant, only the server could tell.
    let unnamed = ask(coder, &["gate", "check"]);
    assert!(unnamed.code == 2 && unnamed.err.contains("name a task, or a promise"), "{unnamed:?}");
    let shown: Value = serde_json::from_str(&done(ask(ann, &["gate", "status", ID, "--format", "json"])).out).unwrap();
    let accept =
        ["gate", "accept", ID, "--failures", "AC-2", "--reason", "r", "--shown", shown["shown"].as_str().unwrap()];
    for token in [coder, reviewer] {
        let answer = ask(token, &accept);
        assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    }
    done(ask(ann, &accept));
    assert_eq!(ask(coder, &["gate", "check", ID]).code, 0);
    assert_eq!(done(ask(ann, &["inbox"])).out, "nothing waits for a person\n");
}

#[test]
fn nobody_carries_a_run_out_from_afar() {
    let house = server::project();
    let server = server::Server::start(&house, &[]);
    let mut lead = server.client(&server::token(&house, "lead", "orchestrator", None));
    let run = lead.ask("run.open", &json!({ "objective": "o" })).answer()["run_id"].clone();
    let said = lead.ask("run.lead", &json!({ "run_id": run, "leads": true }));
    assert_eq!((said.status, &said.json()["code"]), (403, &json!("AUTHORIZATION_MISSING")));
    assert_eq!(lead.ask("run.lead", &json!({ "run_id": run, "leads": false })).status, 200);
}
