//! The first commands, from what is asked to what is stored.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::Untrusted;
use countersign_domain::deciding::Refusal;
use countersign_domain::project::{Erase, Init, Keep, project_key, record_key};
use countersign_engine::{Answer, Call, Engine, Failure, Meaning, Stored, StoredText};
use countersign_ledger::{
    Clock, Error, EventRow, Fold, Hash, Memory, Refused, Sqlite, Time, Verifying, rebuild, verify,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

fn fresh() -> (Engine, Arc<AtomicI64>) {
    let (clock, hand) = Clock::manual(Time(1_800_000_000_000));
    let engine = Engine::create(Box::new(Memory::new(clock)), "0197-project").unwrap();
    (engine, hand)
}

fn call(actor: &str, key: Option<&str>) -> Call {
    Call { actor: actor.to_owned(), authn: "declared".to_owned(), key: key.map(str::to_owned) }
}

fn init(engine: &Engine) -> Answer {
    engine.submit(&call("ana", None), Hash::of(b"init"), Init { name: "billing".to_owned() }).unwrap()
}

fn keep(body: &str) -> Keep {
    Keep {
        file: "result.json".to_owned(),
        contract: "subagent_result".to_owned(),
        version: Some("1.0.0".to_owned()),
        form: "json",
        warnings: 0,
        body: Untrusted::new(body.to_owned()),
    }
}

fn erase(engine: &Engine, seq: u64, reason: &str) -> Result<Answer, Failure> {
    let stored = engine.stored(seq, seq).unwrap();
    let texts =
        (0..).zip(engine.texts(seq).unwrap()).filter(|(_, it)| *it != StoredText::Erased).map(|(n, _)| n).collect();
    let erase = Erase {
        seq,
        kind: stored[0].text("kind").to_owned(),
        record: stored[0].facts()["record"].as_str().map(str::to_owned),
        texts,
        reason: Untrusted::new(reason.to_owned()),
    };
    engine.submit(&call("ana", None), Hash::of(reason.as_bytes()), erase)
}

fn kinds(events: &[Stored]) -> Vec<&str> {
    events.iter().map(|event| event.text("kind")).collect()
}

fn refusal(failure: Failure) -> Refusal {
    match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Ledger(error) => panic!("the ledger failed: {error}"),
    }
}

#[test]
fn a_project_is_initialised_once() {
    let (engine, _) = fresh();
    let refused = engine.submit(&call("ana", None), Hash::of(b"x"), keep("{}")).unwrap_err();
    assert_eq!(refusal(refused).code.as_str(), "DEPENDENCY_NOT_MET");
    assert_eq!(kinds(&init(&engine).events), ["project.initialised"]);
    assert_eq!(init(&engine).events, vec![]);
    let project = engine.entity(&project_key()).unwrap().unwrap();
    assert_eq!((project.version, project.facts["name"].as_str()), (1, Some("billing")));
}

#[test]
fn a_record_is_kept_and_erased_with_every_trace_of_what_it_said() {
    let (engine, _) = fresh();
    init(&engine);
    let hash = Hash::of(b"{}");
    let kept = engine.submit(&call("ana", None), hash, keep("{}")).unwrap();
    assert_eq!((kinds(&kept.events), kept.events[0].seq), (vec!["record.kept"], 2));
    let said = |text: &str| StoredText::Said(Untrusted::new(text.to_owned()));
    assert_eq!(engine.texts(2).unwrap(), vec![said("{}"), said(&hash.to_string())]);
    assert_eq!(refusal(erase(&engine, 2, "  ").unwrap_err()).code.as_str(), "MISSING_REQUIRED_INPUT");
    assert_eq!(kinds(&erase(&engine, 2, "personal data").unwrap().events), ["text.erased"]);
    assert_eq!(engine.texts(2).unwrap(), vec![StoredText::Erased, StoredText::Erased]);
    assert_eq!(refusal(erase(&engine, 2, "again").unwrap_err()).code.as_str(), "INVALID_TRANSITION");
    let key = record_key(kept.events[0].facts()["record"].as_str().unwrap());
    assert_eq!(engine.entity(&key).unwrap().unwrap().facts["erased"], true);
    // Nothing that is left lets a guess at the text be confirmed.
    let left: String = engine.stored(1, 9).unwrap().into_iter().map(|event| event.body).collect();
    assert!(!left.contains(&hash.to_string()), "{left}");
}

#[test]
fn a_key_gives_the_same_answer_again_and_refuses_another_request() {
    let (engine, _) = fresh();
    init(&engine);
    let ask = |body: &str| engine.submit(&call("ana", Some("k")), Hash::of(body.as_bytes()), keep(body));
    let first = ask("{}").unwrap();
    let second = ask("{}").unwrap();
    assert_eq!((second.repeated, second.events), (true, first.events));
    let reused = ask("[]").unwrap_err();
    assert!(matches!(reused, Failure::Ledger(Error::Refused(Refused::KeyReused { first: 2, .. }))));
}

#[test]
fn refusals_are_recorded_and_past_twenty_a_minute_counted() {
    let (engine, hand) = fresh();
    init(&engine);
    let refuse = || {
        let refused = erase(&engine, 1, "no text there").unwrap_err();
        assert_eq!(refusal(refused).code.as_str(), "INVALID_TRANSITION");
    };
    (0..25).for_each(|_| refuse());
    assert_eq!(engine.ledger().head().unwrap().seq, 1 + 20);
    // Somebody else has a count of their own.
    let other = Refusal::new(refusal(erase(&engine, 1, "no text there").unwrap_err()).code, "no", "none");
    engine.refuse(&call("bob", None), "record.keep", &other).unwrap();
    assert_eq!(engine.ledger().head().unwrap().seq, 1 + 21);
    hand.fetch_add(60_000, Ordering::SeqCst);
    refuse();
    let last = engine.stored(23, 23).unwrap();
    assert_eq!(last[0].facts()["unrecorded"], 6);
    assert_eq!(last[0].summary(), "text.erase: INVALID_TRANSITION");
}

#[test]
fn everything_the_commands_leave_is_verified_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let engine = Engine::create(Box::new(store), "0197-project").unwrap();
    init(&engine);
    for number in 0..30 {
        let body = format!("{{\"number\":{number}}}");
        engine.submit(&call("ana", Some(&body.replace('"', ""))), Hash::of(body.as_bytes()), keep(&body)).unwrap();
    }
    erase(&engine, 5, "test").unwrap();
    let mut store = engine.ledger().store().unwrap();
    store.scrub().unwrap();
    let check = |store: &mut dyn countersign_ledger::Store| {
        let verified = verify(store, &Meaning, &Verifying::default(), &mut |_, _| {}).unwrap();
        assert_eq!(verified.findings, vec![]);
        verified.rows
    };
    let rows = check(&mut *store);
    rebuild(&mut *store, &Meaning, &mut |_| {}).unwrap();
    assert_eq!(check(&mut *store), rows);
}

#[test]
fn a_ledger_of_a_newer_shape_is_only_read_and_one_of_an_older_shape_is_rebuilt() {
    struct Later(u32);
    impl Fold for Later {
        fn shape(&self) -> u32 {
            Meaning.shape() + self.0
        }
        fn touched(&self, event: &countersign_ledger::Event<'_>) -> Vec<countersign_ledger::Key> {
            Meaning.touched(event)
        }
        fn evolve(
            &self,
            key: &countersign_ledger::Key,
            before: Option<&countersign_ledger::Entity>,
            event: &countersign_ledger::Event<'_>,
        ) -> Option<countersign_ledger::State> {
            Meaning.evolve(key, before, event)
        }
        fn places(&self, entity: &countersign_ledger::Entity) -> Vec<countersign_ledger::Place> {
            Meaning.places(entity)
        }
    }
    let (engine, _) = fresh();
    init(&engine);
    let later = countersign_ledger::Ledger::open(engine.ledger().store().unwrap(), Arc::new(Later(1))).unwrap();
    // It was rebuilt by the newer one, and the older one stops writing.
    let refused = engine.submit(&call("ana", None), Hash::of(b"{}"), keep("{}")).unwrap_err();
    assert!(matches!(refused, Failure::Ledger(Error::Newer { what: "shape", .. })));
    assert_eq!(engine.ledger().head().unwrap(), later.head().unwrap());
}

/// What was ever written can be read: one stored event of each kind, from the day it was first written.
#[test]
fn events_of_every_kind_ever_written_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let body = std::fs::read_to_string(&path).unwrap().trim_end().to_owned();
        let event = countersign_ledger::Event::read(&body).unwrap();
        assert_eq!(event.write(), body);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(format!("{}.{}", event.kind, event.v), name);
        for key in Meaning.touched(&event) {
            assert!(event.kind == "text.erased" || Meaning.evolve(&key, None, &event).is_some(), "{name}");
        }
        let row = EventRow {
            seq: event.seq,
            id: event.id.to_owned(),
            run: None,
            hash: Hash::of(body.as_bytes()),
            body: body.clone(),
        };
        assert!(!Stored::of(row).unwrap().summary().is_empty(), "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["command.refused.1", "project.initialised.1", "record.kept.1", "text.erased.1"]);
}
