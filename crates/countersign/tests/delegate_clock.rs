//! Delegation under a clock that the test moves: alerts that tell what was, also when it is over.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of what is timed")]

mod timed;

use serde_json::{Value, json};
use timed::Shop;

const MINUTE_MS: i64 = 60_000;

fn receive(shop: &Shop, number: u32) -> String {
    let given = shop.time(0);
    let id = format!("DI-{}-{number:03}", &given[..10]);
    let mut text = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    text["INSTRUCTION_ID"] = json!(id);
    text["TIMESTAMP_UTC"] = json!(given);
    text["AUDIT_CONTEXT"]["REQUIREMENT_ID"] = json!(format!("REQ-{number}"));
    let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    let parameters = json!({ "BRANCH_NAME": format!("b-{number}"), "SOURCE_SHA": sha });
    text["ACTION"] = json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": parameters });
    let request = json!({ "file": "i.json", "instruction": text.to_string(), "executor": "git" });
    shop.ask("ana", "delegation.receive", request).unwrap();
    id
}

fn start(shop: &Shop, id: &str) -> Value {
    let request = json!({ "instruction_id": id, "place": "4f0c1a77", "seconds": 600 });
    shop.ask("ana", "delegation.start", request).unwrap().answer
}

/// Says that it is done, as of now.
fn answer(shop: &Shop, id: &str, attempt: &Value) {
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
    let request = json!({
        "instruction_id": id, "attempt": attempt["attempt"], "agent_instance_id": "executor-1", "acted": acted,
    });
    shop.ask("ana", "delegation.answer", request).unwrap();
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
