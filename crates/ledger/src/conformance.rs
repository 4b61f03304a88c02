//! The promises of a store and of the ledger on it, as tests that any store can be put through.
//!
//! The test of a store is one line: `conformance::run(&|| Fresh { store, hand })`, where each call makes an empty store.

mod crowd;
mod ledger;
#[cfg(unix)]
pub mod postgres_server;
mod store;

use crate::event::{Command, Draft, Event, Once, Text};
use crate::fold::{Fold, State};
use crate::hash::Hash;
use crate::ledger::Ledger;
use crate::rows::{Entity, Key, Place};
use crate::store::Store;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

/// An empty store, and its clock if a test can move it.
pub struct Fresh {
    /// The store.
    pub store: Box<dyn Store>,
    /// The hand of its clock. Without it, what needs a moved clock waits for real time instead.
    pub hand: Option<Arc<AtomicI64>>,
}

/// Puts stores through everything that is promised. Each test has a store of its own.
pub fn run(fresh: &dyn Fn() -> Fresh) {
    store::run(fresh);
    ledger::run(fresh);
    crowd::run(fresh);
}

/// A fold for tests: an event's facts name a counter and what to add to it, and counters are found by their value. An
/// event that adds nothing takes its counter away.
pub struct Counters;

impl Fold for Counters {
    fn shape(&self) -> u32 {
        1
    }

    fn version(&self, _: &str) -> u32 {
        1
    }

    fn touched(&self, event: &Event<'_>) -> Vec<Key> {
        counter(event).map(|(name, _)| Key::new("counter", name)).into_iter().collect()
    }

    fn evolve(&self, _: &Key, before: Option<&Entity>, event: &Event<'_>) -> Option<State> {
        let (_, add) = counter(event)?;
        let value = before.map_or(0, value_of) + add;
        let facts = format!(r#"{{"value":{value}}}"#).into();
        (add != 0).then(|| State { matter: event.matter.into(), class: event.class.into(), facts })
    }

    fn places(&self, entity: &Entity) -> Vec<Place> {
        let value = value_of(entity).cast_unsigned();
        vec![Place { index: "by_value".into(), at: value.to_be_bytes().to_vec() }]
    }
}

/// The facts as they are known here. What else they have is passed over.
#[derive(serde::Deserialize)]
struct Added<'a> {
    add: i64,
    counter: &'a str,
}

fn counter<'a>(event: &Event<'a>) -> Option<(&'a str, i64)> {
    let facts: Added<'a> = serde_json::from_str(event.facts.get()).ok()?;
    Some((facts.counter, facts.add))
}

/// The facts of a counter.
#[derive(serde::Deserialize)]
struct Counted {
    value: i64,
}

/// What a counter stands at.
pub fn value_of(entity: &Entity) -> i64 {
    serde_json::from_str::<Counted>(&entity.facts).map_or(0, |facts| facts.value)
}

/// An event that adds to a counter.
pub fn add(counter: &str, add: i64) -> Draft {
    Draft {
        id: None,
        kind: "counter.added".to_owned(),
        v: 1,
        cause: None,
        run: None,
        matter: "main".to_owned(),
        class: "internal".to_owned(),
        taint: "none".to_owned(),
        facts: format!(r#"{{"add":{add},"counter":"{counter}"}}"#),
        read: None,
        texts: Vec::new(),
        lease: None,
        erase: Vec::new(),
    }
}

/// A text with a salt that is told from its body.
pub fn text(body: &[u8]) -> Text {
    let mut salt = [0; 16];
    salt.copy_from_slice(&Hash::of(body).0[..16]);
    Text { salt, body: body.to_vec() }
}

/// A command without an idempotency key.
pub fn command(actor: &str) -> Command {
    Command {
        actor: actor.to_owned(),
        authn: "declared".to_owned(),
        name: "counter.add".to_owned(),
        once: None,
        under: None,
    }
}

/// A command with an idempotency key.
pub fn once(actor: &str, key: &str, request: &str) -> Command {
    let once = Once { key: key.to_owned(), request: Hash::of(request.as_bytes()), code: "ADDED".to_owned() };
    Command { once: Some(once), ..command(actor) }
}

/// A ledger with counters in a fresh store.
pub fn open(fresh: Fresh) -> Ledger {
    created(Ledger::create(fresh.store, Arc::new(Counters), "test-project"))
}

/// Waits in this thread for what is waited for without one.
pub fn waited<T>(work: impl Future<Output = T>) -> T {
    let (waker, mut work) = (Arc::new(Awake(std::thread::current())).into(), pin!(work));
    loop {
        match work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

struct Awake(Thread);

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[expect(clippy::panic, reason = "the suite is a test")]
fn created(ledger: crate::Result<Ledger>) -> Ledger {
    ledger.unwrap_or_else(|error| panic!("a ledger can be made in an empty store: {error}"))
}
