//! One command's part of a commit: what it sees, and what it asks to be recorded.

use crate::error::{Error, Refused, Result};
use crate::event::{Binding, Command, Draft, EVENT_BYTES_MAX, Event, Held, TextPlace};
use crate::facts::Facts;
use crate::fold::{Fold, Moves};
use crate::hash::Hash;
use crate::lease::{self, Standing};
use crate::overlay::Overlay;
use crate::rows::{Entity, EventRow, Key, Liveness, Name, Place, Remembered, Row, RowKey, RowValue, TextRow};
use crate::store::{Head, Store};
use crate::time::Time;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::OnceLock;

/// A stretch of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The index.
    pub index: String,
    /// The first place, inclusive.
    pub from: Vec<u8>,
    /// The last place, exclusive; to the end of the index without it.
    pub to: Option<Vec<u8>>,
    /// How many at most.
    pub limit: usize,
}

impl Scan {
    /// All places that begin with some bytes.
    pub fn prefix(index: impl Into<String>, prefix: &[u8], limit: usize) -> Self {
        let mut end = prefix.to_vec();
        // The next prefix of the same length: the last byte that can grow does, what follows it falls away.
        while end.last() == Some(&0xff) {
            end.pop();
        }
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        Self { index: index.into(), from: prefix.to_vec(), to: (!end.is_empty()).then_some(end), limit }
    }
}

/// An entity's place in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The place.
    pub at: Vec<u8>,
    /// The entity.
    pub key: Key,
}

/// A count, and since when it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// When counting began.
    pub since: Time,
    /// How many there were.
    pub count: u64,
}

/// Names of leases have no control characters, so a tally is never taken for one.
fn tally_key(name: &str) -> RowKey {
    RowKey::Liveness(compact_str::format_compact!("\u{1}{name}"))
}

/// How long the key of a row may be. PostgreSQL has room for some 2,700 bytes in an index, and less for what is hard to
/// compress; what fits into one store must fit into every other.
const KEY_BYTES_MAX: usize = 2_560;

/// Refuses a row whose key would be too long.
fn fits(bytes: usize, key: &Key, event: &Event<'_>) -> Result<()> {
    if bytes <= KEY_BYTES_MAX {
        return Ok(());
    }
    let name: String = key.id.chars().take(60).collect();
    Err(Error::Malformed(format!(
        "`{}` cannot be recorded: what {} `{name}` is found by has {bytes} bytes, and the limit is {KEY_BYTES_MAX}; use shorter \
         names and paths",
        event.kind, key.kind
    )))
}

/// When a row says that something is due.
pub(crate) fn due_time((key, _): Row) -> Option<Time> {
    match key {
        RowKey::Due(time, _) => Some(time),
        _ => None,
    }
}

/// The events that a command recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// An event that was recorded, as it will lie in the store if the commit succeeds.
#[derive(Debug, Clone)]
pub struct Written {
    /// The event.
    pub row: EventRow,
    /// What happened.
    pub kind: String,
    /// The version of the kind's facts.
    pub v: u32,
    /// The facts, as its body has them; nothing, if they were not read.
    pub facts: Option<Value>,
    /// Whether it empties texts.
    pub erases: bool,
}

/// What an event says that was recorded.
struct Said {
    kind: String,
    v: u32,
    facts: Option<Value>,
    erases: bool,
}

/// What a command sees and does inside of the write transaction. It sees every command before it, also those that
/// share its commit, and nothing after.
pub struct Transaction<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) fold: &'a dyn Fold,
    pub(crate) project: &'a str,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) head: &'a mut Head,
    pub(crate) now: Time,
    /// Whether leases that are granted are alive from here on: not when the past is gone through again.
    pub(crate) live: bool,
    /// Leases whose last sign of life lay in the future and was set to now.
    pub(crate) healed: Vec<String>,
}

impl Transaction<'_> {
    /// The store's clock.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The project's id.
    pub fn project(&self) -> &str {
        self.project
    }

    /// When the next lease lapses, unless it is given a sign of life before.
    pub fn next_due(&mut self) -> Result<Option<Time>> {
        let from = RowKey::Due(Time(i64::MIN), Name::default());
        let rows = self.overlay.range(self.store, &from, None, 1)?;
        Ok(rows.into_iter().find_map(due_time))
    }

    /// The end of the log, with what this command has appended.
    pub fn head(&self) -> Head {
        *self.head
    }

    /// The entities of some keys, each or nothing, in the order asked.
    pub fn get(&mut self, keys: &[Key]) -> Result<Vec<Option<Entity>>> {
        let keys: Vec<_> = keys.iter().cloned().map(RowKey::Entity).collect();
        let rows = self.overlay.get(self.store, &keys)?;
        Ok(rows.into_iter().map(entity).collect())
    }

    /// What lies in some stretches of indexes.
    pub fn scan(&mut self, scans: &[Scan]) -> Result<Vec<Vec<Hit>>> {
        scans
            .iter()
            .map(|scan| scan_one(scan, |from, to, limit| self.overlay.range(self.store, from, to, limit)))
            .collect()
    }

    /// What an idempotency key was used for by this actor with this command. The same key for another request is refused.
    pub fn remembered(&mut self, command: &Command) -> Result<Option<Remembered>> {
        let Some(once) = &command.once else { return Ok(None) };
        let key = [&command.actor, &command.name, &once.key].map(Name::from);
        match self.overlay.one(self.store, &RowKey::Remembered(key))? {
            Some(RowValue::Remembered(it)) if it.request == once.request => Ok(Some(it)),
            Some(RowValue::Remembered(it)) => Err(Refused::KeyReused { key: once.key.clone(), first: it.first }.into()),
            _ => Ok(None),
        }
    }

    /// Reads some leases at once, and how fresh they are, so that none of them is a journey of its own.
    pub fn look_at_leases(&mut self, names: &[String]) -> Result<()> {
        let keys = |row: fn(Name) -> RowKey| names.iter().map(Name::from).map(row);
        let keys: Vec<_> = keys(RowKey::Lease).chain(keys(RowKey::Liveness)).collect();
        self.overlay.read_ahead(self.store, &keys)
    }

    /// A lease and how fresh it is.
    pub fn lease(&mut self, name: &str) -> Result<Option<Standing>> {
        let keys = [RowKey::Lease(name.into()), RowKey::Liveness(name.into())];
        let mut rows = self.overlay.get(self.store, &keys)?.into_iter();
        let Some(Some(RowValue::Lease(held))) = rows.next() else { return Ok(None) };
        let row = match rows.next().flatten() {
            Some(RowValue::Liveness(row)) => Some(row),
            _ => None,
        };
        let (fresh, heal) = lease::freshness(&held, row.as_ref(), self.now);
        if heal && held.ended.is_none() {
            self.healed.push(name.to_owned());
            self.set_liveness(name, Some(fresh.clone()))?;
        }
        Ok(Some(Standing { lease: held, deadline: fresh.deadline }))
    }

    /// A sign of life: the lease lasts its whole length from now on. No event.
    pub fn renew(&mut self, held: &Held) -> Result<Time> {
        let standing = self.lease(&held.name)?;
        lease::still_held(held, standing.as_ref(), self.now)?;
        let ttl = standing.map_or(0, |it| it.lease.ttl);
        let deadline = self.now.plus(ttl);
        self.set_liveness(&held.name, Some(Liveness { number: held.number, beat: self.now, deadline }))?;
        Ok(deadline)
    }

    /// At most `limit` leases that have lapsed and not ended, the longest first.
    pub fn lapsed(&mut self, limit: usize) -> Result<Vec<Held>> {
        let from = RowKey::Due(Time(i64::MIN), Name::default());
        let to = RowKey::Due(self.now.plus(1), Name::default());
        let rows = self.overlay.range(self.store, &from, Some(&to), limit)?;
        let mut lapsed = Vec::new();
        for (key, _) in rows {
            let RowKey::Due(_, name) = key else { continue };
            if let Some(standing) = self.lease(&name)?.filter(|it| it.lease.ended.is_none() && !it.is_held(self.now)) {
                lapsed.push(Held { name: name.into(), number: standing.lease.number });
            }
        }
        Ok(lapsed)
    }

    /// Records events in the name of a command: in order, all of them or none. Chain, tree, entities, indexes,
    /// leases and the idempotency key follow in the same commit. A command with an idempotency key appends once.
    pub fn append(&mut self, command: &Command, drafts: Vec<Draft>) -> Result<Recorded> {
        let first = self.head.seq + 1;
        self.append_all(command, drafts)?;
        Ok(Recorded { first, last: self.head.seq })
    }

    /// The same for somebody who answers with what was recorded: it need not be read for that.
    pub fn append_telling(&mut self, command: &Command, drafts: Vec<Draft>) -> Result<Vec<Written>> {
        let said = self.append_all(command, drafts)?;
        let rows = &self.overlay.events[self.overlay.events.len() - said.len()..];
        let written = |(row, said): (&EventRow, Said)| {
            let Said { kind, v, facts, erases } = said;
            Written { row: row.clone(), kind, v, facts, erases }
        };
        Ok(rows.iter().zip(said).map(written).collect())
    }

    fn append_all(&mut self, command: &Command, drafts: Vec<Draft>) -> Result<Vec<Said>> {
        let fault = command.fault().or_else(|| drafts.iter().find_map(Draft::fault));
        if let Some(fault) = fault.or_else(|| drafts.is_empty().then(|| "there are no events".to_owned())) {
            return Err(Error::Malformed(fault));
        }
        self.has_new_ids(&drafts)?;
        for place in drafts.iter().flat_map(|draft| &draft.erase) {
            self.has_text(*place)?;
        }
        if self.remembered(command)?.is_some() {
            return Err(Error::Malformed("this idempotency key has been answered already".to_owned()));
        }
        if let Some(held) = &command.under {
            let standing = self.lease(&held.name)?;
            lease::still_held(held, standing.as_ref(), self.now)?;
        }
        let first = self.head.seq + 1;
        let count = drafts.len() as u64;
        let mut said = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let binding = command.once.as_ref().filter(|_| self.head.seq + 1 == first);
            let binding =
                binding.map(|once| Binding { code: &once.code, events: count, key: &once.key, request: once.request });
            said.push(self.append_one(command, draft, binding)?);
        }
        Ok(said)
    }

    /// Refuses an id that was used before, here or in this commit: the store would refuse it with all that share the commit.
    /// Ids that the ledger makes are not looked up, which spares those who choose none a journey.
    fn has_new_ids(&mut self, drafts: &[Draft]) -> Result<()> {
        let chosen: Vec<&str> = drafts.iter().filter_map(|draft| draft.id.as_deref()).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let mut used: HashSet<&str> = self.overlay.unseen_events().map(|row| row.id.as_str()).collect();
        for id in chosen {
            if !used.insert(id) || self.store.find(id)?.is_some() {
                return Err(Error::Malformed(format!(
                    "there is an event with the id `{id}` already; give each event a new one, or none"
                )));
            }
        }
        Ok(())
    }

    /// Refuses to erase what was never said: from then on it would look like a text that came back.
    fn has_text(&mut self, (seq, n): TextPlace) -> Result<()> {
        let brought = match self.overlay.event(seq) {
            Some(row) => texts_of(row),
            None => self.store.events(seq, None, 1)?.first().filter(|row| row.seq == seq).and_then(texts_of),
        };
        match brought {
            Some(count) if (n as usize) < count => Ok(()),
            Some(count) => {
                Err(Error::Malformed(format!("event {seq} brought {count} texts, and none with number {n} to erase")))
            }
            None => Err(Error::Malformed(format!("there is no event {seq} whose text could be erased"))),
        }
    }

    fn append_one(&mut self, command: &Command, draft: Draft, once: Option<Binding<'_>>) -> Result<Said> {
        if let Some(change) = &draft.lease {
            let standing = self.lease(lease::name_of(change))?;
            lease::judge(change, standing.as_ref(), self.now)?;
        }
        let seq = self.head.seq + 1;
        let id = draft.id.unwrap_or_else(crate::ids::make);
        debug_assert!(
            draft
                .read
                .as_ref()
                .is_none_or(|read| serde_json::from_str::<Value>(&draft.facts).is_ok_and(|it| it == *read)),
            "the facts of {} are read as something else",
            draft.kind
        );
        let event = Event {
            actor: &command.actor,
            authn: &command.authn,
            cause: draft.cause.as_deref(),
            class: &draft.class,
            command: &command.name,
            erase: draft.erase.clone(),
            // They were found to be canonical JSON.
            facts: Facts::of_value(&draft.facts),
            id: &id,
            kind: &draft.kind,
            lease: draft.lease.clone(),
            matter: &draft.matter,
            once,
            prev: self.head.hash,
            project: self.project,
            run: draft.run.as_deref(),
            seq,
            taint: &draft.taint,
            texts: draft.texts.iter().map(crate::event::Text::hash).collect(),
            time: self.now,
            under: command.under.clone(),
            v: draft.v,
            parsed: draft.read.map_or_else(OnceLock::new, |read| OnceLock::from(Some(read))),
        };
        let body = event.write();
        if body.len() > EVENT_BYTES_MAX {
            return Err(Error::Malformed(format!(
                "an event of {} bytes is too long; the limit is {EVENT_BYTES_MAX}",
                body.len()
            )));
        }
        let hash = Hash::of(body.as_bytes());
        self.derive(&event)?;
        let (v, facts, erases) = (event.v, event.parsed.into_inner().flatten(), !draft.erase.is_empty());
        for (n, text) in (0..).zip(draft.texts) {
            self.overlay.texts.push(TextRow { seq, n, text: Some(text) });
        }
        self.overlay.erase.extend(draft.erase);
        self.overlay.events.push(EventRow { seq, id, run: draft.run, hash, body });
        *self.head = Head { seq, hash };
        Ok(Said { kind: draft.kind, v, facts, erases })
    }

    /// Everything that follows from an event: entities and their places, the idempotency key, the lease.
    pub(crate) fn derive(&mut self, event: &Event<'_>) -> Result<()> {
        let touched: Vec<_> = self.fold.touched(event).into_iter().map(RowKey::Entity).collect();
        self.overlay.read_ahead(self.store, &touched)?;
        for key in touched {
            self.change(key, event)?;
        }
        if let Some(once) = &event.once {
            let key = [event.actor, event.command, once.key].map(Name::from);
            let last = event.seq.saturating_add(once.events).saturating_sub(1);
            let value = Remembered { request: once.request, code: once.code.to_owned(), first: event.seq, last };
            self.overlay.put(RowKey::Remembered(key), RowValue::Remembered(value));
        }
        self.follow_lease(event)
    }

    /// Brings an entity, which was read, behind an event.
    fn change(&mut self, row: RowKey, event: &Event<'_>) -> Result<()> {
        let RowKey::Entity(key) = &row else { return Ok(()) };
        let before = self.overlay.entity(&row);
        let last = before.map_or(0, |it| it.seq);
        let state = self.fold.evolve(key, before, event);
        let after = state.map(|state| Entity {
            key: key.clone(),
            seq: event.seq,
            version: before.map_or(0, |it| it.version) + 1,
            birth: before.map_or(event.seq, |it| it.birth),
            shape: self.fold.shape(),
            matter: state.matter,
            class: state.class,
            facts: state.facts,
        });
        let Moves { left, taken } = self.fold.moves(key, before, after.as_ref());
        for place in &taken {
            fits(place.index.len() + place.at.len() + key.kind.len() + key.id.len(), key, event)?;
        }
        fits(key.kind.len() + key.id.len(), key, event)?;
        for place in left {
            self.overlay.delete(RowKey::Index(place, key.clone()));
        }
        for place in taken {
            self.overlay.put(RowKey::Index(place, key.clone()), RowValue::Nothing);
        }
        self.overlay.put(RowKey::Touch(event.seq, key.clone()), RowValue::Touch(last));
        match after {
            Some(after) => self.overlay.put(row, RowValue::Entity(after)),
            None => self.overlay.delete(row),
        }
        Ok(())
    }

    fn follow_lease(&mut self, event: &Event<'_>) -> Result<()> {
        let Some(change) = &event.lease else { return Ok(()) };
        let before = self.overlay.one(self.store, &RowKey::Lease(lease::name_of(change).into()))?;
        let before = match before {
            Some(RowValue::Lease(before)) => Some(before),
            _ => None,
        };
        let Some((name, after)) = lease::evolve(event, |_| before) else { return Ok(()) };
        let fresh = after.ended.is_none().then(|| Liveness {
            number: after.number,
            beat: event.time,
            deadline: event.time.plus(after.ttl),
        });
        if self.live {
            self.set_liveness(&name, fresh)?;
        }
        self.overlay.put(RowKey::Lease(name.into()), RowValue::Lease(after));
        Ok(())
    }

    fn set_liveness(&mut self, name: &str, fresh: Option<Liveness>) -> Result<()> {
        let key = RowKey::Liveness(name.into());
        let before = self.overlay.one(self.store, &key)?;
        if let Some(RowValue::Liveness(before)) = before {
            self.overlay.delete(RowKey::Due(before.deadline, name.into()));
        }
        match fresh {
            Some(fresh) => {
                self.overlay.put(RowKey::Due(fresh.deadline, name.into()), RowValue::Nothing);
                self.overlay.put(key, RowValue::Liveness(fresh));
            }
            None => self.overlay.delete(key),
        }
        Ok(())
    }

    /// Something that is counted beside the log, such as what is too frequent to be recorded.
    pub fn tally(&mut self, name: &str) -> Result<Option<Tally>> {
        Ok(match self.overlay.one(self.store, &tally_key(name))? {
            Some(RowValue::Liveness(row)) => Some(Tally { since: row.beat, count: row.number }),
            _ => None,
        })
    }

    /// Sets what is counted. Like liveness, it is lost without harm and not part of what is derived.
    pub fn set_tally(&mut self, name: &str, tally: Tally) -> Result<()> {
        let row = Liveness { number: tally.count, beat: tally.since, deadline: tally.since };
        self.overlay.put(tally_key(name), RowValue::Liveness(row));
        Ok(())
    }
}

/// How many texts an event brought.
fn texts_of(row: &EventRow) -> Option<usize> {
    Event::read(&row.body).ok().map(|event| event.texts.len())
}

pub(crate) fn entity(row: Option<RowValue>) -> Option<Entity> {
    match row {
        Some(RowValue::Entity(entity)) => Some(entity),
        _ => None,
    }
}

pub(crate) fn scan_one(
    scan: &Scan,
    mut range: impl FnMut(&RowKey, Option<&RowKey>, usize) -> Result<Vec<crate::rows::Row>>,
) -> Result<Vec<Hit>> {
    let none = || Key::new("", "");
    let from = RowKey::Index(Place { index: (&scan.index).into(), at: scan.from.clone() }, none());
    let to = match &scan.to {
        Some(to) => RowKey::Index(Place { index: (&scan.index).into(), at: to.clone() }, none()),
        // The first name after this one; names have no control characters.
        None => {
            RowKey::Index(Place { index: compact_str::format_compact!("{}\u{1}", scan.index), at: Vec::new() }, none())
        }
    };
    let rows = range(&from, Some(&to), scan.limit)?;
    let hit = |(key, _)| match key {
        RowKey::Index(place, key) => Some(Hit { at: place.at, key }),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(hit).collect())
}
