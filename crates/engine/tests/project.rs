//! The first commands, from what is asked to what is stored.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::{Text, Untrusted};
use countersign_domain::deciding::{Refusal, Role};
use countersign_domain::project::{Keep, Payload, project_key, record_key};
use countersign_engine::{Bound, Call, Engine, Failure, Meaning, Nowhere, Reply, Stored, StoredText};
use countersign_ledger::{
    Clock, Entity, Error, EventRow, Fold, Hash, Memory, Refused, Sqlite, Time, Verifying, rebuild, verify,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

fn fresh() -> (Engine, Arc<AtomicI64>) {
    let (clock, hand) = Clock::manual(Time(1_800_000_000_000));
    let engine = Engine::create(Box::new(Memory::new(clock)), "0197-project").unwrap();
    (engine, hand)
}

fn call(actor: &str, key: Option<&str>) -> Call {
    Call { key: key.map(str::to_owned), ..Call::declared(actor) }
}

fn owner(actor: &str) -> Call {
    Call { roles: vec![Role::Owner], ..Call::declared(actor) }
}

fn init(engine: &Engine) -> Reply {
    engine.ask(&Nowhere, &call("ana", None), "project.init", &json!({ "name": "billing" }).to_string()).unwrap()
}

/// A payload that may pass, told from others by its title.
fn payload(title: &str) -> String {
    let mut assignment = (countersign_domain::contract("assignment").unwrap().example)();
    assignment["task"]["title"] = json!(title);
    assignment.to_string()
}

fn keep(body: &str) -> Keep {
    Keep {
        file: Text::parse("assignment.json").unwrap(),
        contract: None,
        body: Payload(Untrusted::new(body.to_owned())),
    }
}

fn erase(engine: &Engine, seq: u64, reason: &str) -> Result<Reply, Failure> {
    let request = json!({ "event": seq, "reason": reason }).to_string();
    engine.ask(&Nowhere, &owner("ana"), "text.erase", &request)
}

fn kinds(events: &[Stored]) -> Vec<&str> {
    events.iter().map(|event| event.text("kind")).collect()
}

fn refusal(failure: Failure) -> Refusal {
    match failure {
        Failure::Refused(refusal) => *refusal,
        failure => panic!("it was not refused, but {failure:?}"),
    }
}

#[test]
fn a_project_is_initialised_once() {
    let (engine, _) = fresh();
    let refused = engine.submit(&Nowhere, &call("ana", None), &keep(&payload("a"))).unwrap_err();
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
    let body = payload("a");
    let hash = Hash::of(body.as_bytes());
    let kept = engine.submit(&Nowhere, &call("ana", None), &keep(&body)).unwrap();
    assert_eq!((kinds(&kept.events), kept.events[0].seq), (vec!["record.kept"], 2));
    let said = |text: &str| StoredText::Said(Untrusted::new(text.to_owned()));
    assert_eq!(engine.texts(2).unwrap(), vec![said(&body), said(&hash.to_string())]);
    assert!(matches!(erase(&engine, 2, "  ").unwrap_err(), Failure::Malformed(_)), "a reason is asked for");
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
fn a_payload_that_may_not_pass_is_not_kept_and_its_refusal_is_recorded() {
    let (engine, _) = fresh();
    init(&engine);
    let refused = refusal(engine.submit(&Nowhere, &call("ana", None), &keep("{}")).unwrap_err());
    assert!(!refused.findings.is_empty(), "{refused:?}");
    assert_eq!(kinds(&engine.stored(2, 9).unwrap()), ["command.refused"]);
}

#[test]
fn only_an_owner_erases() {
    let (engine, _) = fresh();
    init(&engine);
    engine.submit(&Nowhere, &call("ana", None), &keep(&payload("a"))).unwrap();
    let request = json!({ "event": 2, "reason": "personal data" }).to_string();
    let refused = engine.ask(&Nowhere, &call("ana", None), "text.erase", &request).unwrap_err();
    assert_eq!(refusal(refused).code.as_str(), "AUTHORIZATION_MISSING");
    assert!(engine.texts(2).unwrap().iter().all(|text| *text != StoredText::Erased));
}

#[test]
fn somebody_bound_to_a_task_speaks_for_that_one_of_that_run_alone() {
    let (engine, _) = fresh();
    init(&engine);
    let runs = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    let lead = call("lead", None);
    for run in runs {
        let open = json!({ "objective": "round money", "run_id": run });
        engine.ask(&Nowhere, &lead, "run.open", &open.to_string()).unwrap();
        let task = |id: &str, scope: &str| json!({ "task_id": id, "title": "round", "lock_scope": [format!("{run}/{scope}")], "acceptance_criteria": ["done"] });
        let add = json!({ "run_id": run, "tasks": [task("T-1", "a"), task("T-2", "b")] });
        engine.ask(&Nowhere, &lead, "task.add", &add.to_string()).unwrap();
    }
    let bound = Some(Bound { run: runs[0].to_owned(), task: "T-1".to_owned() });
    let coder = Call { roles: vec![Role::Agent], bound, ..Call::declared("coder") };
    let claim = |request: Value| engine.ask(&Nowhere, &coder, "task.claim", &request.to_string());
    for request in [json!({ "task_id": "T-2" }), json!({}), json!({ "task_id": "T-1", "run_id": runs[1] })] {
        assert_eq!(refusal(claim(request).unwrap_err()).code.as_str(), "AUTHORIZATION_MISSING");
    }
    // Where it names no run, its own is meant, although two are open.
    assert_eq!(claim(json!({ "task_id": "T-1" })).unwrap().answer["run_id"], runs[0]);
}

#[test]
fn a_key_gives_the_same_answer_again_and_refuses_another_request() {
    let (engine, _) = fresh();
    init(&engine);
    let ask = |body: &str| engine.submit(&Nowhere, &call("ana", Some("k")), &keep(body));
    let first = ask(&payload("a")).unwrap();
    let second = ask(&payload("a")).unwrap();
    assert_eq!((second.repeated, second.events), (true, first.events));
    let reused = ask(&payload("b")).unwrap_err();
    assert!(matches!(reused, Failure::Ledger(Error::Refused(Refused::KeyReused { first: 2, .. }))));
    // Also where the request could not have passed anyway.
    let reused = ask("no payload at all").unwrap_err();
    assert!(matches!(reused, Failure::Ledger(Error::Refused(Refused::KeyReused { first: 2, .. }))));
    let recorded = engine.stored(3, engine.ledger().head().unwrap().seq).unwrap();
    let said: Vec<_> = recorded.iter().map(|event| (event.text("kind"), event.facts()["code"].as_str())).collect();
    assert_eq!(said, [("command.refused", Some("CONCURRENCY_CONFLICT")); 2], "like every other refusal");
    // Neither has taken the key.
    assert!(ask(&payload("a")).unwrap().repeated);
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
    engine.submit(&Nowhere, &call("bob", None), &keep("{}")).unwrap_err();
    assert_eq!(engine.ledger().head().unwrap().seq, 1 + 21);
    hand.fetch_add(60_000, Ordering::SeqCst);
    refuse();
    let last = engine.stored(23, 23).unwrap();
    assert_eq!(last[0].facts()["unrecorded"], 5);
    assert_eq!(last[0].summary(), "text.erase: INVALID_TRANSITION");
}

#[test]
fn everything_the_commands_leave_is_verified_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let engine = Engine::create(Box::new(store), "0197-project").unwrap();
    init(&engine);
    for number in 0..30 {
        let key = format!("number {number}");
        engine.submit(&Nowhere, &call("ana", Some(&key)), &keep(&payload(&key))).unwrap();
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
        fn version(&self, kind: &str) -> u32 {
            Meaning.version(kind)
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
    let refused = engine.submit(&Nowhere, &call("ana", None), &keep(&payload("a"))).unwrap_err();
    assert!(matches!(refused, Failure::Ledger(Error::Newer { what: "shape", .. })));
    assert_eq!(engine.ledger().head().unwrap(), later.head().unwrap());
}

/// What was ever written can be read: one stored event of each kind, from the day it was first written. Those of work are
/// from one run, in which each is folded over what the ones before it made; so are those of a promise, with few exceptions.
#[test]
fn events_of_every_kind_ever_written_are_read() {
    const BEGIN: [&str; 14] = [
        "command.refused",
        "delegation.planned",
        "delegation.received",
        "delta.applied",
        "effect.started",
        "handoff.sent",
        "plan.adopted",
        "project.initialised",
        "promise.made",
        "record.kept",
        "run.opened",
        "task.added",
        "token.made",
        "worklog.added",
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let mut bodies: Vec<(u64, String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let body = std::fs::read_to_string(&path).unwrap().trim_end().to_owned();
        let seq = countersign_ledger::Event::read(&body).unwrap().seq;
        bodies.push((seq, path.file_stem().unwrap().to_string_lossy().into_owned(), body));
    }
    bodies.sort();
    let mut made: BTreeMap<String, Entity> = BTreeMap::new();
    for (_, name, body) in &bodies {
        let event = countersign_ledger::Event::read(body).unwrap();
        assert_eq!(event.write(), *body);
        assert_eq!(format!("{}.{}", event.kind, event.v), *name);
        for key in Meaning.touched(&event) {
            let at = format!("{key:?}");
            let state = Meaning.evolve(&key, made.get(&at), &event);
            let begins = BEGIN.contains(&event.kind) && !(event.kind == "worklog.added" && key.kind == "task");
            assert!(state.is_some() || !(begins || made.contains_key(&at)), "{name}: {at}");
            if let Some(state) = state {
                let countersign_ledger::State { matter, class, facts } = state;
                let (seq, shape) = (event.seq, Meaning.shape());
                made.insert(at, Entity { key, seq, version: 1, birth: seq, shape, matter, class, facts });
            }
        }
        let row = EventRow {
            seq: event.seq,
            id: event.id.to_owned(),
            run: None,
            hash: Hash::of(body.as_bytes()),
            body: body.clone(),
        };
        assert!(!Stored::of(row).unwrap().summary().is_empty(), "{name}");
    }
    let mut names: Vec<&str> = bodies.iter().map(|(_, name, _)| name.as_str()).collect();
    names.sort_unstable();
    let work = countersign_domain::work::event::ALL.iter().chain(countersign_domain::delegation::event::ALL);
    let gates = countersign_domain::validation::event::ALL.iter().chain(countersign_domain::plan::event::ALL);
    let gates = gates.chain(countersign_domain::handoff::event::ALL);
    let kinds = work.chain(gates).map(|kind| format!("{kind}.1"));
    let first = ["command.refused.1", "project.initialised.1", "record.kept.1", "text.erased.1"].map(str::to_owned);
    let first = first.into_iter().chain(["token.made.1", "token.revoked.1"].map(str::to_owned));
    let mut wanted: Vec<String> = kinds.chain(first).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
}
