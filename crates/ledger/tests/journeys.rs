//! A log goes out, comes back and moves, and stays the same log.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use countersign_ledger::conformance::{Counters, add, command, once, text};
use countersign_ledger::{
    Checkpoint, Clock, Error, Exported, Intake, Ledger, Memory, PublicKey, Result, SecretKey, Sqlite, Store, Verified,
    Verifying, copy, export, migrate, prove, read_export, rebuild, tree, verify, verify_proof,
};
use std::path::Path;
use std::sync::Arc;

const PROJECT: &str = "test-project";

/// A ledger with a little of everything in it.
fn filled(store: Box<dyn Store>) -> Ledger {
    let ledger = Ledger::create(store, Arc::new(Counters), PROJECT).unwrap();
    for round in 0..40 {
        let mut drafts = vec![add(&format!("c{}", round % 5), round % 4), add("all", 1)];
        drafts[1].run = Some(format!("run-{}", round % 3));
        drafts[0].texts = vec![text(format!("said in {round}").as_bytes()), text(&[0xff, round.to_le_bytes()[0]])];
        if round == 7 {
            drafts[0].texts.push(text(&vec![b'l'; 100_000]));
        }
        let command = once("ana", &format!("key-{round}"), "request");
        ledger.write(move |transaction| transaction.append(&command, drafts)).unwrap();
    }
    let mut erasure = add("erased", 1);
    erasure.erase = vec![(3, 0), (15, 2)];
    ledger.write(move |transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
    ledger.store().unwrap().scrub().unwrap();
    ledger
}

fn sqlite(folder: &Path) -> Box<dyn Store> {
    Box::new(Sqlite::create(&folder.join("ledger.db"), Clock::System).unwrap())
}

fn exported(store: &mut dyn Store, from: u64, key: &SecretKey) -> String {
    let mut out = Vec::new();
    export(store, PROJECT, from, Some(key), &mut out, &mut |_, _| {}).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(text: &str, keys: &[PublicKey], known: &[Checkpoint]) -> Result<Exported> {
    read_export(&mut text.as_bytes(), keys, known, &mut |_, _, _, _| Ok(()))
}

fn verified(store: &mut dyn Store, checkpoints: Vec<Checkpoint>) -> Verified {
    verify(store, &Counters, &Verifying { from: 1, checkpoints }, &mut |_, _| {}).unwrap()
}

fn keys() -> (SecretKey, PublicKey) {
    let (secret, public) = SecretKey::generate(PROJECT);
    (SecretKey::parse(&secret).unwrap(), PublicKey::parse(&public).unwrap())
}

#[test]
fn a_log_is_exported_and_taken_in_again_with_the_same_head() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, public) = keys();
    let ledger = filled(sqlite(folder.path()));
    let mut store = ledger.store().unwrap();
    let whole = exported(&mut *store, 1, &secret);
    let mut target = Memory::new(Clock::System);
    let mut intake = Intake::open(&mut target, &Counters, PROJECT).unwrap();
    let mut pages = |_: &str, _: u64, events: Vec<_>, texts: Vec<_>| intake.take(events, texts);
    let found = read_export(&mut whole.as_bytes(), &[public], &[], &mut pages).unwrap();
    assert!(found.signed && found.erased == 2 && found.events == 81);
    intake.finish(found.head).unwrap();
    assert_eq!(target.head().unwrap(), store.head().unwrap());
    assert_eq!(exported(&mut target, 1, &secret), whole);
    assert_eq!(verified(&mut target, vec![]).findings, vec![]);
    // And it goes on.
    let ledger = Ledger::open(target.another().unwrap(), Arc::new(Counters)).unwrap();
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).unwrap();
}

#[test]
fn an_export_of_the_rest_is_verified_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, public) = keys();
    let ledger = filled(sqlite(folder.path()));
    let mut store = ledger.store().unwrap();
    for from in [1, 2, 3, 64, 80, 81, 82] {
        let rest = exported(&mut *store, from, &secret);
        let found = read(&rest, std::slice::from_ref(&public), &[]).unwrap();
        assert!(found.signed);
        assert_eq!((found.from, found.events, found.head), (from, 82 - from, store.head().unwrap()));
    }
}

#[test]
fn a_log_moves_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = filled(sqlite(folder.path()));
    let mut home = ledger.store().unwrap();
    let head = home.head().unwrap();
    let mut away = Memory::new(Clock::System);
    assert_eq!(migrate(&mut *home, &mut away, &Counters, "away", &mut |_, _| {}).unwrap(), head);
    // The old place is closed, and says where it went.
    let refused = ledger.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)]));
    assert_eq!(refused, Err(Error::Closed("this ledger has moved to away".to_owned())));
    let there = Ledger::open(away.another().unwrap(), Arc::new(Counters)).unwrap();
    let mut more = add("all", 1);
    more.erase = vec![(5, 0)];
    there.write(|transaction| transaction.append(&command("ana"), vec![more])).unwrap();
    let grown = away.head().unwrap();
    assert_eq!(migrate(&mut away, &mut *home, &Counters, "home", &mut |_, _| {}).unwrap(), grown);
    assert_eq!(home.texts(5, 6).unwrap()[0].text, None, "what was erased away is erased at home");
    assert_eq!(verified(&mut *home, vec![]).findings, vec![]);
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).unwrap();
}

#[test]
fn proofs_are_verified_with_the_public_key_alone() {
    let (secret, public) = keys();
    let ledger = filled(Box::new(Memory::new(Clock::System)));
    let mut store = ledger.store().unwrap();
    let head = store.head().unwrap();
    let root = tree::root_at(&mut *store, head.seq).unwrap();
    let checkpoint = Checkpoint { project: PROJECT.to_owned(), size: head.seq, root, head: head.hash };
    let note = checkpoint.sign(&secret).unwrap();
    let proof = prove(&mut *store, 17, &checkpoint, &note).unwrap();
    let proven = verify_proof(&proof, std::slice::from_ref(&public)).unwrap();
    assert_eq!((proven.seq, &proven.checkpoint), (17, &checkpoint));
    assert_eq!(verified(&mut *store, vec![checkpoint.clone()]).checkpoints, 1);
    for at in 0..proof.len() {
        let mut changed = proof.clone().into_bytes();
        changed[at] ^= 1;
        let Ok(changed) = String::from_utf8(changed) else { continue };
        assert!(verify_proof(&changed, std::slice::from_ref(&public)).is_err(), "byte {at}");
    }
    // A checkpoint of a log that went another way is met on the way, and one of a longer log at its end.
    let other = Checkpoint { root: head.hash, ..checkpoint.clone() };
    assert_eq!(verified(&mut *store, vec![other]).findings[0].seq, Some(head.seq));
    let longer = Checkpoint { size: head.seq + 1, ..checkpoint };
    assert!(verified(&mut *store, vec![longer.clone()]).findings[0].what.contains("cut or replaced"));
    // One of another project says nothing, however long that is.
    let stranger = Checkpoint { project: "another".to_owned(), ..longer };
    let found = verified(&mut *store, vec![stranger.clone()]).findings;
    assert!(found.len() == 1 && found[0].what.contains("of project another, and this is test-project"), "{found:?}");
    let text = exported(&mut *store, 1, &secret);
    let refused = read(&text, &[public], &[stranger]).unwrap_err().to_string();
    assert!(refused.contains("of project another, and this is an export of test-project"), "{refused}");
}

#[test]
fn an_erased_text_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = [b"correct horse battery staple".to_vec(), vec![b'S'; 70_000], vec![b'T'; 3_000]];
    let ledger = Ledger::create(sqlite(folder.path()), Arc::new(Counters), PROJECT).unwrap();
    let mut draft = add("a", 1);
    draft.texts = secrets.iter().map(|it| text(it)).collect();
    ledger.write(|transaction| transaction.append(&command("ana"), vec![draft])).unwrap();
    let found = |secret: &[u8]| {
        let files = walk(folder.path());
        files.into_iter().any(|file| std::fs::read(file).unwrap().windows(28).any(|it| it == &secret[..28]))
    };
    assert!(secrets.iter().all(|secret| found(secret)));
    let mut erasure = add("a", 1);
    erasure.erase = vec![(1, 0), (1, 1), (1, 2)];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
    let mut store = ledger.store().unwrap();
    store.scrub().unwrap();
    assert!(secrets.iter().all(|secret| !found(secret)));
    rebuild(&mut *store, &Counters, &mut |_| {}).unwrap();
    assert_eq!(verified(&mut *store, vec![]).findings, vec![]);
    let copy = folder.path().join("copy.db");
    store.backup(&copy).unwrap();
    let mut copied = Sqlite::open(&copy, Clock::System).unwrap();
    assert_eq!(copied.head().unwrap(), store.head().unwrap());
    assert!(secrets.iter().all(|secret| !found(secret)));
}

#[test]
fn a_log_is_copied_and_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = filled(Box::new(Memory::new(Clock::System)));
    let (mut from, mut to) = (ledger.store().unwrap(), sqlite(folder.path()));
    let head = copy(&mut *from, &mut *to, &Counters, &mut |_, _| {}).unwrap();
    assert_eq!((head, to.head().unwrap()), (from.head().unwrap(), head));
    assert_eq!(verified(&mut *to, vec![]).findings, vec![]);
    let copied = Ledger::open(to, Arc::new(Counters)).unwrap();
    for open in [ledger, copied] {
        open.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).unwrap();
        assert_eq!(open.head().unwrap().seq, head.seq + 1);
    }
}

#[test]
fn facts_of_a_newer_version_are_kept_and_carried_but_never_folded_as_if_they_were_known() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = filled(Box::new(Memory::new(Clock::System)));
    let newer = countersign_ledger::Draft { v: 2, ..add("all", 1) };
    ledger.write(|transaction| transaction.append(&command("ana"), vec![newer])).unwrap();
    let mut store = ledger.store().unwrap();
    let head = store.head().unwrap();
    let words = format!("event {} is a `counter.added` of version 2, and this binary knows version 1", head.seq);
    let refused = |what: &str, done: Result<()>| match done {
        Err(Error::Unreadable(why)) if why.starts_with(&words) => {}
        other => panic!("{what}: {other:?}"),
    };
    let rows = |store: &mut dyn Store| {
        let key = countersign_ledger::RowKey::Entity(countersign_ledger::Key::new("counter", "all"));
        store.get(&[key]).unwrap()
    };
    let before = rows(&mut *store);
    refused("rebuild", rebuild(&mut *store, &Counters, &mut |_| {}).map(drop));
    assert_eq!(rows(&mut *store), before, "what was there stays as it is");
    refused("verify", verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).map(drop));
    refused("copy", copy(&mut *store, &mut *sqlite(folder.path()), &Counters, &mut |_, _| {}).map(drop));
    // The log itself needs no meaning.
    let (secret, public) = keys();
    let text = exported(&mut *store, 1, &secret);
    assert_eq!(read(&text, &[public], &[]).unwrap().head, head);
    let from = Verifying { from: 2, checkpoints: vec![] };
    assert_eq!(verify(&mut *store, &Counters, &from, &mut |_, _| {}).unwrap().findings, vec![]);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
