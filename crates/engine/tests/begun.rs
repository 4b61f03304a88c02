//! A command that is taken up without a thread that waits for it goes the same road, and comes out the same.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_engine::{Call, Engine, Failure, Nowhere, Reply};
use countersign_ledger::conformance::waited;
use countersign_ledger::{Clock, Error, Sqlite, Store};
use desk::Desk;
use serde_json::{Value, json};
use std::future::{pending, ready};

fn begin(engine: &Engine, key: Option<&str>, id: &str, request: Value) -> Result<Reply, Failure> {
    let call = Call { key: key.map(str::to_owned), ..Call::declared("ana") };
    waited(engine.begin(&Nowhere, &call, id, &request.to_string())?.ended(pending::<()>)).reply(engine)
}

fn head(engine: &Engine) -> u64 {
    engine.ledger().head().unwrap().seq
}

#[test]
fn what_is_begun_comes_out_as_if_it_had_been_asked_for() {
    let desk = Desk::new();
    let engine = &desk.engine;
    let open = json!({ "objective": "see" });
    let first = begin(engine, Some("one"), "run.open", open.clone()).unwrap();
    assert!(!first.repeated && first.events.len() == 1, "{first:?}");
    assert_eq!(first.events, engine.stored(first.events[0].seq, first.events[0].seq).unwrap());
    let again = begin(engine, Some("one"), "run.open", open).unwrap();
    assert!(again.repeated);
    assert_eq!((again.answer, again.events), (first.answer.clone(), first.events));
    let reused = begin(engine, Some("one"), "run.open", json!({ "objective": "another" })).unwrap_err();
    assert!(matches!(reused, Failure::Ledger(Error::Refused(_))), "{reused:?}");
    assert!(matches!(begin(engine, None, "no.such", json!({})), Err(Failure::Unknown(_))));
}

#[test]
fn what_is_refused_is_recorded_once_however_far_it_came() {
    let desk = Desk::new();
    let run = desk.run();
    // Not of its shape, not for the caller, and refused when it is decided.
    let cases = [
        ("task.claim", json!({ "run_id": run, "task_id": 7 })),
        ("text.erase", json!({ "event": 1, "reason": "r" })),
        ("task.claim", json!({ "run_id": run, "task_id": "T-9" })),
    ];
    for (id, request) in cases {
        let before = head(&desk.engine);
        let failure = begin(&desk.engine, Some("key"), id, request.clone()).unwrap_err();
        assert!(matches!(failure, Failure::Malformed(_) | Failure::Refused(_)), "{id}: {failure:?}");
        let events = desk.engine.stored(before + 1, before + 9).unwrap();
        let kinds: Vec<&str> = events.iter().map(|event| event.text("kind")).collect();
        assert_eq!(kinds, ["command.refused"], "{id} {request}");
    }
}

#[test]
fn what_was_begun_is_done_though_nobody_waits_for_it() {
    let desk = Desk::new();
    let before = head(&desk.engine);
    drop(desk.engine.begin(&Nowhere, &Call::declared("ana"), "run.open", r#"{"objective":"o"}"#).unwrap());
    // Whoever stands in line behind it is answered after it.
    begin(&desk.engine, None, "run.open", json!({ "objective": "p" })).unwrap();
    assert_eq!(head(&desk.engine), before + 2);
}

#[test]
fn what_gets_no_place_in_time_is_given_up_and_never_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let engine = Engine::create(Box::new(Sqlite::create(&path, Clock::System).unwrap()), "project").unwrap();
    let mut other = Sqlite::open(&path, Clock::System).unwrap();
    other.begin().unwrap();
    let begun = engine.begin(&Nowhere, &Call::declared("ana"), "run.open", r#"{"objective":"o"}"#).unwrap();
    let failure = waited(begun.ended(|| ready(()))).reply(&engine).unwrap_err();
    assert!(matches!(failure, Failure::Ledger(Error::Busy { .. })), "{failure:?}");
    other.rollback();
    begin(&engine, None, "project.init", json!({ "name": "n" })).unwrap();
    let events = engine.stored(1, 9).unwrap();
    assert_eq!(events.iter().map(|event| event.text("kind")).collect::<Vec<_>>(), ["project.initialised"]);
}
