//! Where a command is decided: what was seen lies on it, and what has happened is added to it, so that whatever is decided
//! next sees that too.

use super::{Found, Happened, Happening, Hit, Hold, Key, LeaseStep, Range, Seen};
use crate::places_if_any;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// When and by whom something is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The ledger's clock, as RFC 3339.
    pub now: String,
    /// The same in milliseconds since 1970.
    pub now_ms: i64,
    /// Who asks.
    pub actor: String,
    /// How that is known.
    pub authn: String,
    /// Whether they answer for what is accepted: a person, as far as the door can tell.
    pub person: bool,
    /// The only task that they may speak for, where they ask for what they may look at.
    pub bound: Option<String>,
    /// The id of the project.
    pub project: String,
    /// An id that nothing has yet: a UUID of version 4.
    pub new_id: String,
    /// The sequence number of the last event in the log.
    pub head: u64,
}

/// What was seen, and what has happened on top of it.
///
/// What has happened is folded into what was seen when somebody looks again. Most commands end with what they record, and the
/// ledger folds it anyway.
#[derive(Debug)]
pub struct Desk {
    /// What was seen, with the first `folded` happenings in it. Empty while it lies in `by_now`.
    before: RefCell<Seen>,
    folded: usize,
    /// What was seen, with all happenings in it.
    by_now: OnceCell<Seen>,
    moment: Moment,
    happenings: Vec<Happening>,
    under: Option<(String, u64)>,
    alive: Option<(String, u64)>,
    /// How many of the happenings, from the first on, are true whatever becomes of the command.
    settled: usize,
}

/// What is left on a desk when all is decided.
#[derive(Debug)]
pub struct Decided {
    /// Everything that has happened, in order.
    pub happenings: Vec<Happening>,
    /// The lease under which that is written: name and number.
    pub under: Option<(String, u64)>,
    /// The lease that was given a sign of life.
    pub alive: Option<(String, u64)>,
}

impl Desk {
    /// A desk with what was seen on it.
    pub fn new(seen: Seen, moment: Moment) -> Self {
        Self {
            before: RefCell::default(),
            folded: 0,
            by_now: OnceCell::from(seen),
            moment,
            happenings: Vec::new(),
            under: None,
            alive: None,
            settled: 0,
        }
    }

    /// When and by whom.
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// What was seen, as it is by now.
    pub fn seen(&self) -> &Seen {
        self.by_now.get_or_init(|| {
            let mut seen = self.before.take();
            let first = self.moment.head + self.folded as u64 + 1;
            for (seq, happening) in (first..).zip(self.happenings.iter().skip(self.folded)) {
                fold(&mut seen, seq, happening, &self.moment);
            }
            seen
        })
    }

    /// What an entity is by now.
    pub fn entity(&self, key: &Key) -> Option<&Found> {
        self.seen().entity(key)
    }

    /// What lies in a stretch of an index by now.
    pub fn range(&self, range: &Range) -> impl Iterator<Item = &Hit> {
        self.seen().range(range)
    }

    /// How a lease stands by now.
    pub fn lease(&self, name: &str) -> Option<&Hold> {
        self.seen().lease(name)
    }

    /// Adds what has happened, and gives the sequence number that it will have.
    pub fn record(&mut self, happening: Happening) -> u64 {
        if let Some(seen) = self.by_now.take() {
            self.before.replace(seen);
            self.folded = self.happenings.len();
        }
        self.happenings.push(happening);
        self.moment.head + self.happenings.len() as u64
    }

    /// What follows is written under a lease, and not at all if it is lost.
    pub fn write_under(&mut self, name: String, number: u64) {
        self.under = Some((name, number));
    }

    /// A lease is given a sign of life.
    pub fn keep_alive(&mut self, name: String, number: u64) {
        self.alive = Some((name, number));
    }

    /// What was added by `add` is true whatever becomes of the command, such as a lease that had lapsed before it came.
    pub fn settle(&mut self, add: impl FnOnce(&mut Self)) {
        let first = self.settled == self.happenings.len();
        add(self);
        if first {
            self.settled = self.happenings.len();
        }
    }

    /// What remains of it when the command is refused.
    pub fn refused(mut self) -> Vec<Happening> {
        self.happenings.truncate(self.settled);
        self.happenings
    }

    /// What was decided.
    pub fn decided(self) -> Decided {
        Decided { happenings: self.happenings, under: self.under, alive: self.alive }
    }
}

/// Brings what was seen behind something that has happened.
fn fold(seen: &mut Seen, seq: u64, happening: &Happening, moment: &Moment) {
    let (time, actor) = (moment.now.as_str(), moment.actor.as_str());
    let happened = Happened { seq, kind: happening.kind, v: happening.v, actor, time, facts: &happening.facts };
    for key in crate::touched(&happened) {
        let before = seen.so_far(&key).cloned();
        let facts = crate::evolve(&key, before.as_ref().map(|it| &*it.facts), &happened);
        let version = before.as_ref().map_or(0, |it| it.version) + 1;
        let after = facts.map(|facts| Found { version, seq, facts: Arc::new(facts) });
        let (old, new) = (before.map(|it| it.facts), after.as_ref().map(|it| Arc::clone(&it.facts)));
        let (old, new) = (places_if_any(&key, old.as_deref()), places_if_any(&key, new.as_deref()));
        seen.change(&key, after, old, new);
    }
    step(seen, seq, happening.lease.as_ref(), moment.now_ms);
}

fn step(seen: &mut Seen, seq: u64, step: Option<&LeaseStep>, now: i64) {
    match step {
        Some(LeaseStep::Grant { holder, name, ttl }) => {
            let hold = Hold { holder: holder.clone(), number: seq, beat: now, deadline: now + ttl };
            seen.change_lease(name, Some(hold));
        }
        Some(LeaseStep::Extend { name, ttl, .. }) => {
            let hold = seen.lease(name).cloned().map(|it| Hold { beat: now, deadline: now + ttl, ..it });
            seen.change_lease(name, hold);
        }
        Some(LeaseStep::Release { name, .. } | LeaseStep::Expire { name, .. }) => seen.change_lease(name, None),
        None => {}
    }
}
