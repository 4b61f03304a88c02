//! Delegation under a clock that the test moves: alerts that tell what was, also when it is over.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of what is timed")]

mod timed;

use serde_json::{Value, json};
use timed::Shop;

const MINUTE_MS: i64 = 60_000;

fn receive(shop: &Shop, number: u32) -> String {
    received(shop, number, json!({}))["instruction_id"].as_str().unwrap().to_owned()
}

/// Hands an instruction in, with a patch over the request.
fn received(shop: &Shop, number: u32, patch: Value) -> Value {
    let given = shop.time(0);
    let id = format!("DI-{}-{number:03}", &given[..10]);
    let mut text = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    text["INSTRUCTION_ID"] = json!(id);
    text["TIMESTAMP_UTC"] = json!(given);
    text["AUDIT_CONTEXT"]["REQUIREMENT_ID"] = json!(format!("REQ-{number}"));
    let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    let parameters = json!({ "BRANCH_NAME": format!("b-{number}"), "SOURCE_SHA": sha });
    text["ACTION"] = json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": parameters });
    let mut request = json!({ "file": "i.json", "instruction": text.to_string(), "executor": "git" });
    countersign_contract::prove::merge(&mut request, &patch);
    shop.ask("ana", "delegation.receive", request).unwrap().answer
}

fn start(shop: &Shop, id: &str) -> Value {
    let request = json!({ "instruction_id": id, "place": "4f0c1a77", "seconds": 600 });
    shop.ask("ana", "delegation.start", request).unwrap().answer
}

/// Says that it is done, as of now.
fn answer(shop: &Shop, id: &str, attempt: &Value) {
    shop.ask("ana", "delegation.answer", done(shop, id, attempt)).unwrap();
}

fn done(shop: &Shop, id: &str, attempt: &Value) -> Value {
    let (at, url) = (shop.time(0), "https://localhost/acme/shop/tree/b");
    let acted = json!({
        "status": "SUCCESS",
        "platform_request": {
            "ENDPOINT": "git:refs/heads/b", "METHOD": "POST", "PARAMETERS": {}, "TIMESTAMP_UTC": at,
        },
        "platform_response": {
            "STATUS_CODE": 201, "STATUS": "SUCCESS", "RESOURCE_URL": url, "RESOURCE_ID": "refs/heads/b",
            "RESOURCE_TYPE": "branch", "TIMESTAMP_UTC": at,
        },
        "platform_evidence": {
            "RESOURCE_TYPE": "branch", "RESOURCE_ID": "refs/heads/b", "RESOURCE_URL": url, "RESOURCE_STATE": "created",
            "API_RESPONSE_STATUS": 201, "CREATED_AT": at,
        },
        "resulting_state": "the branch is there",
    });
    json!({ "instruction_id": id, "attempt": attempt["attempt"], "agent_instance_id": "executor-1", "acted": acted })
}

fn alerts(shop: &Shop) -> Vec<String> {
    let shown = shop.look("delegation.alerts", json!({}));
    shown["alerts"].as_array().unwrap().iter().map(|it| it["alert"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_carried_out_in_time_alerts_nobody() {
    let shop = Shop::new();
    let id = receive(&shop, 1);
    let attempt = start(&shop, &id);
    assert_eq!((&attempt["again"], attempt["first"].as_i64()), (&json!(false), Some(1_800_000_000_000)));
    shop.wait(20_000);
    answer(&shop, &id, &attempt);
    assert_eq!(alerts(&shop), Vec::<String>::new());
}

#[test]
fn an_entry_that_came_late_after_a_kill_stays_late() {
    let shop = Shop::new();
    let id = receive(&shop, 1);
    start(&shop, &id);
    shop.wait(2 * MINUTE_MS);
    // Whoever began it is gone, and there is no entry.
    assert_eq!(alerts(&shop), ["audit_lag"]);
    let attempt = start(&shop, &id);
    assert_eq!((&attempt["again"], attempt["first"].as_i64()), (&json!(true), Some(1_800_000_000_000)));
    answer(&shop, &id, &attempt);
    // It is written now. That it was not in time is true all the same.
    assert_eq!(alerts(&shop), ["execution_time", "audit_lag"]);
    let shown = shop.look("delegation.alerts", json!({}));
    assert_eq!(shown["alerts"][1]["instructions"], json!([id]));
    shop.wait(61 * MINUTE_MS);
    assert_eq!(alerts(&shop), Vec::<String>::new());
}

#[test]
fn an_entry_of_what_nobody_began_in_time_is_late_and_one_of_what_took_long_is_not() {
    let shop = Shop::new();
    let id = receive(&shop, 1);
    shop.wait(2 * MINUTE_MS);
    let attempt = start(&shop, &id);
    answer(&shop, &id, &attempt);
    assert_eq!(alerts(&shop), ["execution_time", "audit_lag"]);
    // An executor that waits for its platform writes the entry as soon as it knows.
    let shop = Shop::new();
    let id = receive(&shop, 1);
    let attempt = start(&shop, &id);
    shop.wait(2 * MINUTE_MS);
    answer(&shop, &id, &attempt);
    assert_eq!(alerts(&shop), ["execution_time"]);
}

fn begin() -> Value {
    json!({ "begin": { "place": "4f0c1a77", "seconds": 600 } })
}

#[test]
fn what_is_new_is_received_and_begun_at_once_and_nothing_else_is() {
    let shop = Shop::new();
    let begun = received(&shop, 1, begin());
    let id = begun["instruction_id"].as_str().unwrap().to_owned();
    assert_eq!((&begun["again"], begun["first"].as_i64()), (&json!(false), Some(1_800_000_000_000)));
    let state = |id: &str| shop.look("delegation.show", json!({ "instruction_id": id }))["state"].clone();
    assert_eq!(state(&id), "started");
    // Handed in once more it is not begun again: whoever holds the lock says so by itself, and looks first.
    let again = received(&shop, 1, begin());
    assert_eq!((&again["attempt"], &again["seq"]), (&Value::Null, &Value::Null));
    assert_eq!(start(&shop, &id)["again"], true);
    // What cannot be carried out is not begun.
    let obstacle = json!({ "FIELD": "ACTION.TYPE", "ERROR": "it cannot", "EXPECTED": "another" });
    let mut invalid = begin();
    invalid["obstacles"] = json!([obstacle]);
    let refused = received(&shop, 2, invalid);
    assert_eq!(refused["attempt"], Value::Null);
    assert_eq!(state(refused["instruction_id"].as_str().unwrap()), "received");
    // What came before and waits is begun by whoever begins it.
    let waits = receive(&shop, 3);
    assert_eq!((received(&shop, 3, begin())["attempt"].clone(), state(&waits)), (Value::Null, json!("received")));
}

#[test]
fn what_was_seen_when_it_was_done_goes_with_the_answer() {
    let shop = Shop::new();
    let step = |id: &str| shop.look("delegation.next", json!({ "instruction_id": id }))["step"].clone();
    let seen = |holds: bool| json!({ "holds": holds, "says": "the branch is at the commit" });
    for (number, said, wanted) in [(1, None, "verify"), (2, Some(true), "proceed"), (3, Some(false), "escalate")] {
        let begun = received(&shop, number, begin());
        let id = begun["instruction_id"].as_str().unwrap();
        let mut request = done(&shop, id, &begun);
        if let Some(holds) = said {
            request["seen"] = seen(holds);
        }
        let answer = shop.ask("ana", "delegation.answer", request).unwrap().answer;
        assert_eq!((&answer["status"], step(id)), (&json!("SUCCESS"), json!(wanted)));
    }
    // What did not succeed was not seen to be there: all of it is refused, and nothing recorded.
    let begun = received(&shop, 4, begin());
    let id = begun["instruction_id"].as_str().unwrap();
    let mut request = done(&shop, id, &begun);
    request["acted"]["status"] = json!("FAILURE");
    request["acted"]["platform_response"] = Value::Null;
    request["acted"]["platform_evidence"] = Value::Null;
    request["acted"]["failure_details"] = json!({
        "ERROR_TYPE": "API_ERROR", "ERROR_CODE": "500", "ERROR_MESSAGE": "no", "REMEDIATION_GUIDANCE": "look",
        "RETRY_ALLOWED": "YES",
    });
    let acted = request["acted"].as_object_mut().unwrap();
    acted.retain(|_, value| !value.is_null());
    let mut with_seen = request.clone();
    with_seen["seen"] = seen(true);
    assert!(shop.ask("ana", "delegation.answer", with_seen).is_err());
    assert_eq!(step(id), "await");
    shop.ask("ana", "delegation.answer", request).unwrap();
    assert_eq!(step(id), "retry");
}
