//! Looking things up, in the write transaction and beside it.

use crate::meaning::{found, ledger_key, to_be_changed};
use crate::stored::StoredText;
use crate::world::World;
use crate::{Call, Engine, Stored};
use countersign_contract::{Checked, Checker, Outside};
use countersign_domain::deciding::{Found, Hit, Hold, Key, Need, Observer, Range, Seen, Tree};
use countersign_ledger as ledger;
use ledger::lease::Standing;
use ledger::{Name, RowKey, RowValue, Scan, Transaction};
use serde_json::Value;

/// Where things can be looked up.
trait Shelf {
    fn entities(&mut self, keys: &[ledger::Key]) -> ledger::Result<Vec<Option<Found>>>;
    fn ranges(&mut self, scans: &[Scan]) -> ledger::Result<Vec<Vec<ledger::Hit>>>;
    /// Leases, in the order asked.
    fn holds(&mut self, names: &[String]) -> ledger::Result<Vec<Option<Hold>>>;
    fn texts(&mut self, seq: u64) -> ledger::Result<Vec<StoredText>>;
}

impl Shelf for Transaction<'_> {
    fn entities(&mut self, keys: &[ledger::Key]) -> ledger::Result<Vec<Option<Found>>> {
        Ok(self.get(keys)?.iter().map(|entity| entity.as_ref().map(to_be_changed)).collect())
    }

    fn ranges(&mut self, scans: &[Scan]) -> ledger::Result<Vec<Vec<ledger::Hit>>> {
        self.scan(scans)
    }

    fn holds(&mut self, names: &[String]) -> ledger::Result<Vec<Option<Hold>>> {
        self.look_at_leases(names)?;
        names.iter().map(|name| Ok(self.lease(name)?.and_then(hold))).collect()
    }

    fn texts(&mut self, seq: u64) -> ledger::Result<Vec<StoredText>> {
        let why = format!("the texts of event {seq} were asked for by what decides, which sees facts alone");
        Err(ledger::Error::Malformed(why))
    }
}

impl Shelf for &Engine {
    fn entities(&mut self, keys: &[ledger::Key]) -> ledger::Result<Vec<Option<Found>>> {
        Ok(self.ledger.get(keys)?.into_iter().map(|entity| entity.map(found)).collect())
    }

    fn ranges(&mut self, scans: &[Scan]) -> ledger::Result<Vec<Vec<ledger::Hit>>> {
        scans.iter().map(|scan| self.ledger.scan(scan)).collect()
    }

    fn holds(&mut self, names: &[String]) -> ledger::Result<Vec<Option<Hold>>> {
        let keys = |row: fn(Name) -> RowKey| names.iter().map(Name::from).map(row);
        let keys: Vec<_> = keys(RowKey::Lease).chain(keys(RowKey::Liveness)).collect();
        let mut leases = self.ledger.reader()?.get(&keys)?;
        let alive = leases.split_off(names.len());
        Ok(leases.into_iter().zip(alive).map(|(lease, alive)| standing(lease?, alive)).collect())
    }

    fn texts(&mut self, seq: u64) -> ledger::Result<Vec<StoredText>> {
        Engine::texts(self, seq)
    }
}

/// A lease as its rows say.
fn standing(lease: RowValue, alive: Option<RowValue>) -> Option<Hold> {
    let RowValue::Lease(lease) = lease else { return None };
    let alive = match alive {
        Some(RowValue::Liveness(row)) => Some(row).filter(|row| row.number == lease.number),
        _ => None,
    };
    let beat = alive.map_or(lease.granted, |row| row.beat);
    let deadline = beat.plus(lease.ttl);
    hold(Standing { lease, deadline })
}

/// A lease that has not ended, as a domain sees it.
fn hold(standing: Standing) -> Option<Hold> {
    let Standing { lease, deadline } = standing;
    let beat = deadline.0.saturating_sub(lease.ttl);
    let hold = Hold { holder: lease.holder, number: lease.number, beat, deadline: deadline.0 };
    lease.ended.is_none().then_some(hold)
}

fn fill(shelf: &mut dyn Shelf, seen: &mut Seen, needs: Vec<Need>) -> ledger::Result<()> {
    let (mut keys, mut ranges, mut leases): (Vec<Key>, Vec<Range>, Vec<String>) = Default::default();
    for need in needs {
        match need {
            Need::Entity(key) => keys.push(key),
            Need::Range(range) => ranges.push(range),
            Need::Lease(name) => leases.push(name),
            Need::Texts(seq) => {
                let texts = shelf.texts(seq)?.into_iter().map(StoredText::said).collect();
                seen.add_texts(seq, texts);
            }
        }
    }
    if !leases.is_empty() {
        let holds = shelf.holds(&leases)?;
        leases.into_iter().zip(holds).for_each(|(name, hold)| seen.add_lease(name, hold));
    }
    if !keys.is_empty() {
        let names: Vec<_> = keys.iter().map(ledger_key).collect();
        for (key, found) in keys.into_iter().zip(shelf.entities(&names)?) {
            seen.add(key, found);
        }
    }
    if !ranges.is_empty() {
        let scans: Vec<Scan> = ranges.iter().map(scan).collect();
        for (range, hits) in ranges.into_iter().zip(shelf.ranges(&scans)?) {
            let hits = hits.into_iter().map(|hit| -> Hit { (hit.at, Key::new(hit.key.kind, hit.key.id)) });
            seen.add_range(range, hits);
        }
    }
    Ok(())
}

fn scan(range: &Range) -> Scan {
    Scan { index: range.index.to_owned(), from: range.from.clone(), to: range.to.clone(), limit: range.limit }
}

/// What of some needs was not looked up yet, each once.
fn missing(mut needs: Vec<Need>, seen: &Seen) -> Vec<Need> {
    needs.retain(|need| !seen.has(need));
    needs.sort();
    needs.dedup();
    needs
}

/// Shows somebody what they ask for, until they ask for nothing more.
fn rounds(shelf: &mut dyn Shelf, ask: &dyn Fn(&Seen) -> Vec<Need>) -> ledger::Result<Seen> {
    let mut seen = Seen::default();
    for _ in 0..countersign_domain::deciding::ROUNDS_MAX {
        let wanted = missing(ask(&seen), &seen);
        if wanted.is_empty() {
            return Ok(seen);
        }
        fill(shelf, &mut seen, wanted)?;
    }
    Ok(seen)
}

/// The same in the write transaction.
pub(crate) fn inside(transaction: &mut Transaction<'_>, ask: &dyn Fn(&Seen) -> Vec<Need>) -> ledger::Result<Seen> {
    rounds(transaction, ask)
}

/// The same beside it.
pub(crate) fn beside(engine: &Engine, ask: &dyn Fn(&Seen) -> Vec<Need>) -> ledger::Result<Seen> {
    let mut shelf = engine;
    rounds(&mut shelf, ask)
}

/// What a command sees before it is decided.
pub(crate) struct Watching<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) world: &'a dyn World,
    pub(crate) call: &'a Call,
}

impl Observer for Watching<'_> {
    fn look(&self, seen: &mut Seen, needs: Vec<Need>) -> Result<(), String> {
        let mut shelf = self.engine;
        fill(&mut shelf, seen, missing(needs, seen)).map_err(|error| error.to_string())
    }

    fn checker(&self) -> Checker<'_> {
        self.world.checker()
    }

    fn outside(&self) -> Outside {
        self.world.outside()
    }

    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
        self.world.look_for_files(checked, name)
    }

    fn event(&self, seq: u64) -> Result<Option<(String, Value)>, String> {
        let stored = self.engine.stored(seq, seq).map_err(|error| error.to_string())?;
        let event = stored.into_iter().find(|event| event.seq == seq);
        Ok(event.map(|event: Stored| (event.text("kind").to_owned(), event.facts().clone())))
    }

    fn tree(&self, base: Option<&str>) -> Option<Tree> {
        self.world.tree(base)
    }

    fn is_person(&self) -> bool {
        self.call.is_person()
    }

    fn has_collected(&self) -> bool {
        self.world.has_collected()
    }

    fn is_afar(&self) -> bool {
        self.world.is_afar()
    }

    fn is_brought(&self, path: &str, base: &str) -> bool {
        self.world.is_brought(path, base)
    }
}
