//! Handoffs under a clock that the test moves.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of what is timed")]

mod timed;

use countersign_domain::deciding::Refusal;
use countersign_engine::{Call, Failure, Reply};
use serde_json::json;
use timed::Shop;

const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";
const HOUR_MS: i64 = 3_600_000;

trait Handoffs {
    fn handoff(&self, expires: i64) -> String;
    fn send(&self, document: &str) -> Result<Reply, Failure>;
    fn receive(&self, document: Option<&str>) -> Result<Reply, Failure>;
}

impl Handoffs for Shop {
    fn handoff(&self, expires: i64) -> String {
        let mut document = (countersign_domain::contract("universal_handoff").unwrap().example)();
        document["handoff"]["trace_id"] = json!(TRACE);
        document["handoff"]["timestamp"] = json!(self.time(0));
        document["handoff"]["expires_at"] = json!(self.time(expires));
        document.to_string()
    }

    fn send(&self, document: &str) -> Result<Reply, Failure> {
        self.ask("skill-editor", "handoff.send", json!({ "trace_id": TRACE, "handoff": document }))
    }

    fn receive(&self, document: Option<&str>) -> Result<Reply, Failure> {
        let mut request = json!({ "trace_id": TRACE, "skill": "programming-pm" });
        if let Some(document) = document {
            request["handoff"] = json!(document);
        }
        self.ask("pm", "handoff.receive", request)
    }
}

fn refusal(answer: Result<Reply, Failure>) -> Refusal {
    match answer {
        Err(Failure::Refused(refusal)) => *refusal,
        other => panic!("it was not refused, but {other:?}"),
    }
}

#[test]
fn a_handoff_is_received_until_it_expires_and_is_stale_from_then_on() {
    for (waited, in_time) in [(0, true), (HOUR_MS - 1, true), (HOUR_MS, false), (5 * HOUR_MS, false)] {
        for by_file in [true, false] {
            let shop = Shop::new();
            let document = shop.handoff(HOUR_MS);
            shop.send(&document).unwrap();
            shop.wait(waited);
            let answer = shop.receive(by_file.then_some(document.as_str()));
            if in_time {
                assert_eq!(answer.unwrap().answer["state"], "loaded", "after {waited}");
                continue;
            }
            let refusal = refusal(answer);
            assert!(refusal.reason.starts_with("ignored_stale: "), "{refusal:?}");
            let chain = json!({ "trace_id": TRACE }).to_string();
            let shown = shop.engine.look(&shop.world, &Call::declared("ana"), "handoff.chain", &chain).unwrap();
            assert_eq!(shown["steps"][0]["status"], "expired");
        }
    }
}

#[test]
fn a_handoff_that_has_expired_is_not_sent_and_its_source_may_make_another() {
    let shop = Shop::new();
    let late = shop.handoff(HOUR_MS);
    shop.wait(HOUR_MS);
    assert_eq!(refusal(shop.send(&late)).code.as_str(), "SCHEMA_INVALID");
    let first = shop.handoff(HOUR_MS);
    shop.send(&first).unwrap();
    shop.wait(2 * HOUR_MS);
    // What went stale on the way holds nobody up.
    let second = shop.handoff(HOUR_MS);
    assert_eq!(shop.send(&second).unwrap().answer["step"], 2);
    let received = shop.receive(None).unwrap();
    assert_eq!((received.answer["state"].as_str(), received.answer["step"].as_u64()), (Some("loaded"), Some(2)));
    assert!(refusal(shop.receive(Some(&first))).reason.starts_with("ignored_stale: "));
}

#[test]
fn a_trace_has_room_for_so_many_handoffs_and_says_when_there_is_none() {
    let shop = Shop::new();
    let most = countersign_domain::handoff::row::STEPS_MAX;
    for _ in 0..most {
        shop.wait(1000);
        shop.send(&shop.handoff(HOUR_MS)).unwrap();
    }
    shop.wait(1000);
    assert_eq!(refusal(shop.send(&shop.handoff(HOUR_MS))).code.as_str(), "CIRCULAR_HANDOFF");
}
