//! Whatever is changed in an export is found, with nothing but the public key.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod dice;

use countersign_ledger::conformance::{Counters, add, command, once, text};
use countersign_ledger::{
    Checkpoint, Clock, Exported, Ledger, Memory, PublicKey, Result, SecretKey, Store, TEXTS_BYTES_MAX, export,
    read_export, tree,
};
use std::io::Read;
use std::sync::Arc;

const PROJECT: &str = "test-project";

fn keys() -> (SecretKey, PublicKey) {
    let (secret, public) = SecretKey::generate(PROJECT);
    (SecretKey::parse(&secret).unwrap(), PublicKey::parse(&public).unwrap())
}

/// A small log with a little of everything: keys, runs, texts of both kinds, one of them erased.
fn small(ledger: &Ledger, salt: &str) {
    let mut drafts = vec![add("a", 1), add("b", 2)];
    drafts[0].run = Some("run-1".to_owned());
    drafts[0].texts = vec![text(b"said"), text(&[0xff, 0xfe]), text("with \"quotes\" and ü".as_bytes())];
    ledger.write(|transaction| transaction.append(&once("ana", "key-1", "r"), drafts)).unwrap();
    let mut erasure = add("a", 3);
    erasure.id = Some(format!("erasure{salt}"));
    erasure.erase = vec![(1, 1)];
    ledger.write(|transaction| transaction.append(&command("bob"), vec![erasure])).unwrap();
    ledger.write(|transaction| transaction.append(&command("bob"), vec![add("c", 4)])).unwrap();
}

fn ledger() -> Ledger {
    let store = Box::new(Memory::new(Clock::System));
    Ledger::create(store, Arc::new(Counters), PROJECT).unwrap()
}

fn exported(ledger: &Ledger, key: Option<&SecretKey>) -> String {
    let mut out = Vec::new();
    export(&mut *ledger.store().unwrap(), PROJECT, 1, key, &mut out, &mut |_, _| {}).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(text: &[u8], key: &PublicKey, known: &[Checkpoint]) -> Result<Exported> {
    read_export(&mut &*text, std::slice::from_ref(key), known, &mut |_, _, _, _| Ok(()))
}

/// That something was changed is found: it is refused, or nobody has signed it.
fn is_found(text: &[u8], key: &PublicKey, what: &str) {
    let read = read(text, key, &[]);
    assert!(!matches!(&read, Ok(read) if read.signed), "{what} is not found:\n{}", String::from_utf8_lossy(text));
}

fn checkpoint(ledger: &Ledger) -> Checkpoint {
    let mut store = ledger.store().unwrap();
    let head = store.head().unwrap();
    let root = tree::root_at(&mut *store, head.seq).unwrap();
    Checkpoint { project: PROJECT.to_owned(), size: head.seq, root, head: head.hash }
}

#[test]
fn no_byte_of_an_export_can_be_changed() {
    let (secret, public) = keys();
    let ledger = ledger();
    small(&ledger, "");
    let whole = exported(&ledger, Some(&secret)).into_bytes();
    assert!(read(&whole, &public, &[]).unwrap().signed);
    let mut changes = 0;
    for at in 0..whole.len() {
        let old = whole[at];
        let few = [old ^ 1, old ^ 0x20, [b'0', b'"', b' ', b'\n', b'\\', b'n', b'=', 0x80][at % 8]];
        let others = if dice::soak().is_some() { (0..=255).collect() } else { few.to_vec() };
        for new in others.into_iter().filter(|new| *new != old) {
            let mut changed = whole.clone();
            changed[at] = new;
            is_found(&changed, &public, &format!("byte {at} from {old:#x} to {new:#x}"));
            changes += 1;
        }
        let mut without = whole.clone();
        without.remove(at);
        is_found(&without, &public, &format!("byte {at} taken away"));
        let mut twice = whole.clone();
        twice.insert(at, old);
        is_found(&twice, &public, &format!("byte {at} doubled"));
        is_found(&whole[..at], &public, &format!("cut at byte {at}"));
        changes += 3;
    }
    dice::count("changes of a byte of an export found", changes);
}

#[test]
fn no_line_of_an_export_can_be_dropped_doubled_or_moved() {
    let (secret, public) = keys();
    let ledger = ledger();
    small(&ledger, "");
    let whole = exported(&ledger, Some(&secret));
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: Vec<&str>| lines.join("\n").into_bytes().into_iter().chain([b'\n']).collect::<Vec<u8>>();
    assert_eq!(joined(lines.clone()), whole.as_bytes());
    for at in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(at);
        is_found(&joined(without), &public, &format!("line {at} taken away"));
        for to in 0..=lines.len() {
            let mut twice = lines.clone();
            twice.insert(to, lines[at]);
            is_found(&joined(twice), &public, &format!("line {at} doubled to {to}"));
        }
        for other in at + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            is_found(&joined(swapped), &public, &format!("lines {at} and {other} swapped"));
        }
    }
    is_found(format!("{whole}\n").as_bytes(), &public, "an empty line at the end");
    is_found(format!("{whole}{whole}").as_bytes(), &public, "the whole twice");
}

#[test]
fn a_log_that_another_key_signed_is_not_ours() {
    let (secret, public) = keys();
    let (strange, strange_public) = keys();
    let (ours, theirs) = (ledger(), ledger());
    small(&ours, "");
    small(&theirs, "-other");
    let fork = exported(&theirs, Some(&strange));
    assert!(read(fork.as_bytes(), &strange_public, &[]).unwrap().signed);
    is_found(fork.as_bytes(), &public, "a log that another key signed");
    is_found(exported(&theirs, None).as_bytes(), &public, "a log that nobody signed");
    // Our last line, which is signed, under their events; and our signature alone in their last line.
    let whole = exported(&ours, Some(&secret));
    let (own, other): (Vec<&str>, Vec<&str>) = (whole.lines().collect(), fork.lines().collect());
    let mut grafted = other.clone();
    *grafted.last_mut().unwrap() = own.last().unwrap();
    is_found((grafted.join("\n") + "\n").as_bytes(), &public, "our end on their events");
    let note = |lines: &[&str]| {
        let end: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
        serde_json::to_string(&end["checkpoint"]).unwrap()
    };
    let signed = fork.replace(&note(&other), &note(&own));
    assert_ne!(signed, fork);
    is_found(signed.as_bytes(), &public, "our signature on their end");
}

#[test]
fn a_log_that_went_another_way_since_a_kept_checkpoint_is_found() {
    let (secret, public) = keys();
    let ledger = ledger();
    small(&ledger, "");
    // A copy of the beginning, which goes on differently with the same key.
    let mut copy = Memory::new(Clock::System);
    let mut intake = countersign_ledger::Intake::open(&mut copy, &Counters, PROJECT).unwrap();
    let before = exported(&ledger, Some(&secret));
    let mut pages = |_: &str, _: u64, events: Vec<_>, texts: Vec<_>| intake.take(events, texts);
    let found = read_export(&mut before.as_bytes(), std::slice::from_ref(&public), &[], &mut pages).unwrap();
    intake.finish(found.head).unwrap();
    let old = checkpoint(&ledger);
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("way", 1)])).unwrap();
    let kept = checkpoint(&ledger);
    let fork = Ledger::open(copy.another().unwrap(), Arc::new(Counters)).unwrap();
    for _ in 0..3 {
        fork.write(|transaction| transaction.append(&command("eve"), vec![add("other way", 1)])).unwrap();
    }
    let forked = exported(&fork, Some(&secret));
    // The key alone cannot tell, nor can a checkpoint from before; the one that was kept can.
    assert!(read(forked.as_bytes(), &public, std::slice::from_ref(&old)).unwrap().signed);
    assert!(read(forked.as_bytes(), &public, &[old.clone(), kept.clone()]).is_err());
    // Neither is a log that ends before the checkpoint the one that it knows.
    assert!(read(before.as_bytes(), &public, std::slice::from_ref(&kept)).is_err());
    let ours = exported(&ledger, Some(&secret));
    assert_eq!(read(ours.as_bytes(), &public, &[old, kept]).unwrap().checkpoints, 2);
}

#[test]
fn a_text_that_was_erased_cannot_come_back_in_an_export() {
    let (secret, public) = keys();
    let ledger = ledger();
    small(&ledger, "");
    let whole = exported(&ledger, Some(&secret));
    let salt: String = text(&[0xff, 0xfe]).salt.iter().map(|byte| format!("{byte:02x}")).collect();
    let restored = whole.replace(",null,", &format!(r#",{{"hex":"fffe","salt":"{salt}"}},"#));
    assert_ne!(restored, whole);
    is_found(restored.as_bytes(), &public, "an erased text put back");
    let more = whole.replace(r#"[{"body":"said""#, r#"[null,{"body":"said""#);
    assert_ne!(more, whole);
    is_found(more.as_bytes(), &public, "a text more");
    let said: String = text(b"said").salt.iter().map(|byte| format!("{byte:02x}")).collect();
    let less = whole.replace(&format!(r#"{{"body":"said","salt":"{said}"}}"#), "null");
    assert_ne!(less, whole);
    is_found(less.as_bytes(), &public, "a text that no event erased");
}

#[test]
fn an_export_is_whole_though_a_text_was_erased_while_it_ran() {
    let (secret, public) = keys();
    let ledger = ledger();
    for _ in 0..4 {
        let drafts = (0..500).map(|_| countersign_ledger::Draft { texts: vec![text(b"said")], ..add("a", 1) });
        let drafts = drafts.collect();
        ledger.write(|transaction| transaction.append(&command("ana"), drafts)).unwrap();
    }
    let mut erased = false;
    let mut out = Vec::new();
    // After the first page a text of the second one is erased, by an event that was not there when the export began.
    let mut progress = |_, _| {
        if !std::mem::replace(&mut erased, true) {
            let mut erasure = add("a", 1);
            erasure.erase = vec![(1_500, 0)];
            ledger.write(|transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
        }
    };
    export(&mut *ledger.store().unwrap(), PROJECT, 1, Some(&secret), &mut out, &mut progress).unwrap();
    assert!(read(&out, &public, &[]).unwrap().signed);
}

#[test]
fn the_longest_texts_that_can_be_recorded_come_back_from_an_export() {
    let ledger = ledger();
    let ask = |bodies: Vec<Vec<u8>>| {
        let draft = countersign_ledger::Draft { texts: bodies.iter().map(|it| text(it)).collect(), ..add("a", 1) };
        ledger.write(|transaction| transaction.append(&command("ana"), vec![draft]))
    };
    // Control characters are the longest in JSON.
    let half = TEXTS_BYTES_MAX / 2;
    ask(vec![vec![1; half], vec![2; half]]).unwrap();
    let refused = ask(vec![vec![1; half], vec![2; half + 1]]).unwrap_err().to_string();
    assert!(refused.contains(&format!("{} bytes", TEXTS_BYTES_MAX + 1)), "{refused}");
    let whole = exported(&ledger, None);
    assert!(whole.len() > 6 * TEXTS_BYTES_MAX);
    let mut texts = Vec::new();
    let read = read_export(&mut whole.as_bytes(), &[], &[], &mut |_, _, _, page| {
        texts.extend(page);
        Ok(())
    });
    assert_eq!(read.unwrap().events, 1);
    assert!(texts == ledger.texts(1).unwrap());
    // What is longer is said to be, and not to have been cut.
    let endless = whole.split_once('\n').unwrap().0.to_owned() + "\n";
    let mut endless = std::io::BufReader::new(endless.as_bytes().chain(std::io::repeat(b'x')));
    let refused = read_export(&mut endless, &[], &[], &mut |_, _, _, _| Ok(())).unwrap_err().to_string();
    assert!(refused.contains("line 2: the line is longer than"), "{refused}");
}
