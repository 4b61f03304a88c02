//! Verifying, exporting and copying a ledger while others write to it finds nothing that is not so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod dice;

use countersign_ledger::conformance::{Counters, add, command, once, text};
use countersign_ledger::{
    Batch, Clock, EventRow, Hash, LeaseChange, Ledger, PublicKey, SecretKey, Sqlite, TextRow, Verifying, export,
    read_export, verify,
};
use dice::{Dice, Rounds};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PROJECT: &str = "test-project";

fn made(folder: &Path) -> Ledger {
    let store = Sqlite::create(&folder.join("ledger.db"), Clock::System).unwrap();
    Ledger::create(Box::new(store), Arc::new(Counters), PROJECT).unwrap()
}

/// Writes, says long and short things, erases them and takes leases.
fn write(ledger: &Ledger, writer: u64, mut dice: Dice) {
    let mut said: Vec<u64> = Vec::new();
    for number in 0..200 {
        let mut draft = add(&format!("c{}", dice.below(9)), 1 + dice.below(3).cast_signed());
        let mut says = false;
        match dice.below(4) {
            0 => {
                let length = *dice.pick(&[10, 70_000]);
                draft.texts = vec![text(&format!("{writer}-{number}-").into_bytes().repeat(length / 4))];
                // The file of a long one stays until it is swept, which is a finding.
                says = length == 10;
            }
            1 if !said.is_empty() => {
                let at = dice.below(said.len() as u64) as usize;
                draft.erase = vec![(said.swap_remove(at), 0)];
            }
            2 => {
                let name = format!("lease-{}", dice.below(4));
                draft.lease = Some(LeaseChange::Grant { holder: format!("w{writer}"), name, ttl: 1 });
            }
            _ => {}
        }
        let command = once("ana", &format!("{writer}-{number}"), "request");
        let recorded = ledger.write(move |transaction| transaction.append(&command, vec![draft]));
        // A lease that another one holds refuses.
        if let (Ok(recorded), true) = (recorded, says) {
            said.push(recorded.first);
        }
    }
}

/// Verifies and exports for as long as others write. Says how often.
fn look_on(dice: &mut Dice, secret: &SecretKey, public: &PublicKey) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let ledger = made(folder.path());
    let writers: Vec<_> = (0..3).map(|writer| (writer, Dice::of(dice.next()))).collect();
    let mut looked = 0;
    std::thread::scope(|scope| {
        let ledger = &ledger;
        let spawn = |(writer, dice)| scope.spawn(move || write(ledger, writer, dice));
        let running: Vec<_> = writers.into_iter().map(spawn).collect();
        while running.iter().any(|writer| !writer.is_finished()) {
            let mut store = ledger.store().unwrap();
            let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
            let due = |it: &countersign_ledger::Finding| it.what.contains("an erasure was not finished");
            assert!(verified.findings.iter().all(due), "{:#?}", verified.findings);
            let mut out = Vec::new();
            // It may be asked to be repeated, and is never wrong.
            if export(&mut *store, PROJECT, 1, Some(secret), &mut out, &mut |_, _| {}).is_ok() {
                let read = read_export(&mut &*out, std::slice::from_ref(public), &[], &mut |_, _, _, _| Ok(()));
                assert!(read.unwrap().signed);
            }
            store.scrub().unwrap();
            looked += 1;
        }
    });
    looked
}

#[test]
fn nothing_is_found_while_others_write() {
    let (secret, public) = SecretKey::generate(PROJECT);
    let (secret, public) = (SecretKey::parse(&secret).unwrap(), PublicKey::parse(&public).unwrap());
    let mut dice = Dice::thrown();
    let looked: u64 = Rounds::of(2).map(|_| look_on(&mut dice, &secret, &public)).sum();
    dice::count("times verified and exported beside three writers", looked);
}

#[test]
fn a_long_text_whose_commit_is_on_its_way_is_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = made(folder.path());
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("a", 1)])).unwrap();
    let (mut writer, mut examiner) = (ledger.store().unwrap(), ledger.store().unwrap());
    writer.begin().unwrap();
    let long = text(&vec![b'l'; 100_000]);
    let event = EventRow { seq: 2, id: "long".to_owned(), run: None, hash: Hash::of(b""), body: String::new() };
    let texts = vec![TextRow { seq: 2, n: 0, text: Some(long) }];
    writer.apply(&Batch { events: vec![event], texts, ..Batch::default() }).unwrap();
    let examining = std::thread::spawn(move || examiner.examine().unwrap());
    // It must wait for this commit, so that there is nothing to wait for here but that it comes to that.
    let patience = std::time::Instant::now() + Duration::from_millis(300);
    while !examining.is_finished() && std::time::Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
    writer.commit().unwrap();
    assert_eq!(examining.join().unwrap(), Vec::<String>::new());
}
