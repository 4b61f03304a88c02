//! What the appender does.

use super::{Answer, MARK, PROJECT, database};
use countersign_ledger::conformance::{Counters, add, once, text};
use countersign_ledger::{Clock, Command, Draft, Error, Held, LeaseChange, Ledger, Result, Sqlite, Transaction};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A text of this length lies in a file of its own.
const LONG: usize = 70_000;

pub fn play(role: &str, folder: &Path, name: &str) {
    match role {
        "many" => many(folder, name),
        "some" => some(folder, name),
        "script" => script(folder, name),
        "hold" => hold(folder, name),
        "lease" => lease(folder, name),
        other => panic!("there is no role {other}"),
    }
}

/// Says a line. It is tried again, because the fault that is injected may hit the saying. When nobody listens any more,
/// that is the end.
fn say(line: &str) {
    let line = format!("{MARK}{line}\n");
    let mut out = std::io::stdout().lock();
    let said = (0..10).any(|_| out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_ok());
    assert!(said, "nobody listens");
}

/// Opens the store in a folder, or makes it.
pub fn begin(folder: &Path) -> Result<Sqlite> {
    let path = database(folder);
    match path.exists() {
        true => Sqlite::open(&path, Clock::System),
        false => {
            Sqlite::create(&path, Clock::System).or_else(|error| match error.to_string().contains("File exists") {
                // Another process was first.
                true => Sqlite::open(&path, Clock::System),
                false => Err(error),
            })
        }
    }
}

/// Opens the ledger in a folder, or makes it, which takes the writer's place.
pub fn open(folder: &Path) -> Result<Ledger> {
    match Ledger::open(Box::new(begin(folder)?), Arc::new(Counters)) {
        Err(Error::Closed(_)) => Ledger::create(Box::new(begin(folder)?), Arc::new(Counters), PROJECT),
        other => other,
    }
}

/// Both events of a command; their ids follow from its key, so that a second attempt would bring the same ones.
fn drafts(key: &str) -> Vec<Draft> {
    let mut drafts = vec![add("all", 1), add(key.split('-').next().unwrap_or(key), 1)];
    drafts[0].id = Some(format!("{key}.0"));
    drafts[1].id = Some(format!("{key}.1"));
    if key.ends_with('7') {
        drafts[1].texts = vec![text(&key.as_bytes().repeat(LONG / key.len() + 1)), text(key.as_bytes())];
    }
    drafts
}

fn do_once(transaction: &mut Transaction<'_>, key: &str, erase: Option<(u64, u32)>) -> Result<(u64, u64)> {
    let command = once("appender", key, key);
    if let Some(done) = transaction.remembered(&command)? {
        return Ok((done.first, done.last));
    }
    let mut drafts = drafts(key);
    drafts[0].erase.extend(erase);
    let recorded = transaction.append(&command, drafts)?;
    Ok((recorded.first, recorded.last))
}

/// Does something once, and gives its first and last event.
pub fn ask(ledger: &Ledger, key: &str) -> Result<(u64, u64)> {
    let key = key.to_owned();
    ledger.write(move |transaction| do_once(transaction, &key, None))
}

/// The same, said before and after.
fn ask_aloud(key: &str, ask: impl FnOnce() -> Result<(u64, u64)>) -> Answer {
    say(&format!("ask {key}"));
    let answer = match ask() {
        Ok((first, last)) => Answer::Ok(first, last),
        Err(Error::Unknown(why)) => Answer::Unknown(why),
        Err(error) => Answer::Not(error.to_string()),
    };
    match &answer {
        Answer::Ok(first, last) => say(&format!("ok {key} {first} {last}")),
        Answer::Not(why) => say(&format!("not {key} {why}")),
        Answer::Unknown(why) => say(&format!("unknown {key} {why}")),
    }
    answer
}

/// Four threads that append until they are ended.
fn many(folder: &Path, name: &str) {
    let ledger = open(folder).unwrap();
    say("open");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let ledger = &ledger;
            scope.spawn(move || {
                for number in 0.. {
                    let key = format!("{name}-{writer}-{number}");
                    ask_aloud(&key, || ask(ledger, &key));
                }
            });
        }
    });
}

/// `THREADS-EACH-NAME`: so many threads append so often each, and say how long each append took.
fn some(folder: &Path, name: &str) {
    let mut parts = name.splitn(3, '-');
    let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
    let (threads, each) = (number(), number());
    let name = parts.next().unwrap();
    let ledger = open(folder).unwrap().with_patience(Duration::from_secs(60));
    say("open");
    wait_for_word();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let ledger = &ledger;
            scope.spawn(move || {
                for number in 0..each {
                    // Without long texts, which end with a 7.
                    let key = format!("{name}-{thread}-{number}x");
                    let started = Instant::now();
                    ask_aloud(&key, || ask(ledger, &key));
                    say(&format!("took {}", started.elapsed().as_micros()));
                }
            });
        }
    });
    say("end");
}

fn wait_for_word() -> String {
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).unwrap();
    word
}

/// A short life with a little of everything, for faults at each of its steps. What was not written is done under another
/// key, so that the first one must stay away; what is unknown is repeated with its own.
fn script(folder: &Path, name: &str) {
    let tries = || (0..5).find_map(|_| open(folder).inspect_err(|error| say(&format!("unopened {error}"))).ok());
    let ledger = tries().expect("it opens once the fault is over");
    say("open");
    let mut long = None;
    for number in 1..=9 {
        let erase = if number == 8 { long } else { None };
        let mut key = format!("{name}-{number}");
        for attempt in 0.. {
            assert!(attempt < 5, "the fault is over and it does not go on");
            let work_key = key.clone();
            let work = move |transaction: &mut Transaction<'_>| do_once(transaction, &work_key, erase);
            match ask_aloud(&key, || ledger.write(work)) {
                Answer::Ok(_, last) => {
                    long = if number == 7 { Some((last, 0)) } else { long };
                    break;
                }
                // The key ends as it did, since a text hangs on that.
                Answer::Not(_) => key = format!("{name}-again{attempt}-{number}"),
                Answer::Unknown(_) => {}
            }
        }
        if number == 8 {
            let scrubbed = (0..5).any(|_| {
                let scrubbed = ledger.store().and_then(|mut store| store.scrub());
                scrubbed.inspect_err(|error| say(&format!("unscrubbed {error}"))).is_ok()
            });
            assert!(scrubbed, "the fault is over and it cannot be scrubbed");
            say("scrubbed");
        }
    }
    say("end");
}

/// Takes the writer's place, says so, and goes on when it is told to.
fn hold(folder: &Path, name: &str) {
    let ledger = open(folder).unwrap().with_patience(Duration::from_secs(120));
    say("open");
    let key = name.to_owned();
    let work = move |transaction: &mut Transaction<'_>| {
        say("inside");
        wait_for_word();
        do_once(transaction, &key, None)
    };
    ask_aloud(name, || ledger.write(work));
    say("end");
}

/// Takes a lease for a moment, and when it is told to, writes under it and renews it.
fn lease(folder: &Path, name: &str) {
    const MOMENT_MS: i64 = 300;
    let ledger = open(folder).unwrap();
    let mut draft = drafts(name).remove(0);
    draft.lease = Some(LeaseChange::Grant { holder: name.to_owned(), name: "door".to_owned(), ttl: MOMENT_MS });
    let granted = once("appender", name, name);
    let number = ledger.write(move |transaction| Ok(transaction.append(&granted, vec![draft])?.first)).unwrap();
    say(&format!("granted {number}"));
    wait_for_word();
    let held = Held { name: "door".to_owned(), number };
    let renewed = held.clone();
    let renewed = ledger.write(move |transaction| transaction.renew(&renewed));
    say(&format!("renewed {renewed:?}"));
    let key = format!("{name}-late");
    let command = Command { under: Some(held), ..once("appender", &key, &key) };
    let drafts = drafts(&key);
    ask_aloud(&key, || {
        let recorded = ledger.write(move |transaction| transaction.append(&command, drafts))?;
        Ok((recorded.first, recorded.last))
    });
    say("end");
}
