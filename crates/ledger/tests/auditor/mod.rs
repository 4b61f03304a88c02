//! What a ledger must answer, said a second time: plain maps, written without the ledger's code.
#![allow(dead_code, reason = "tests; not each of them uses all of it")]

use std::collections::BTreeMap;

/// What is asked of a ledger.
#[derive(Debug, Clone)]
pub struct Asked {
    pub actor: String,
    /// Key and request.
    pub once: Option<(String, String)>,
    pub under: Option<(String, u64)>,
    pub events: Vec<Wanted>,
    /// Whether the command thinks better of it in the end.
    pub refuses: bool,
}

/// An event that is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub counter: String,
    pub add: i64,
    pub run: Option<String>,
    pub texts: Vec<Vec<u8>>,
    pub lease: Option<Change>,
    pub erase: Vec<(u64, u32)>,
}

#[derive(Debug, Clone)]
pub enum Change {
    Grant { holder: String, name: String, ttl: i64 },
    Release(String, u64),
    Expire(String, u64),
}

/// What is answered, without the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    Recorded(u64, u64),
    Remembered(u64, u64),
    KeyReused(u64),
    LeaseHeld(u64),
    LeaseLost,
    Malformed,
    /// The deadline of a lease that was renewed.
    Renewed(i64),
}

#[derive(Debug, Clone)]
struct Lease {
    number: u64,
    ttl: i64,
    beat: i64,
    ended: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Auditor {
    pub now: i64,
    pub head: u64,
    pub counters: BTreeMap<String, i64>,
    pub texts: BTreeMap<(u64, u32), Option<Vec<u8>>>,
    pub runs: BTreeMap<String, Vec<u64>>,
    /// Actor and key, with the request and the events.
    keys: BTreeMap<(String, String), (String, u64, u64)>,
    leases: BTreeMap<String, Lease>,
    /// The leases that were looked at.
    looked: Vec<String>,
}

impl Auditor {
    /// The number under which a lease was last granted.
    pub fn number(&self, name: &str) -> u64 {
        self.leases.get(name).map_or(0, |it| it.number)
    }

    /// Looks at a lease. One whose last sign of life lies ahead was seen by a clock that has gone back since: its life
    /// begins now, and that is so for whoever looks later, whatever becomes of who looks now.
    fn look(&mut self, name: &str) -> Option<Lease> {
        self.looked.push(name.to_owned());
        let now = self.now;
        let lease = self.leases.get_mut(name)?;
        if !lease.ended && lease.beat > now {
            lease.beat = now;
        }
        Some(lease.clone())
    }

    fn is_held(&mut self, name: &str, number: u64) -> bool {
        let now = self.now;
        self.look(name).is_some_and(|it| it.number == number && !it.ended && now < it.beat + it.ttl)
    }

    /// The leases that have lapsed, the longest first.
    pub fn lapsed(&self) -> Vec<(String, u64)> {
        let over = self.leases.iter().filter(|(_, it)| !it.ended && it.beat + it.ttl <= self.now);
        let mut over: Vec<_> = over.map(|(name, it)| (it.beat + it.ttl, name.clone(), it.number)).collect();
        over.sort();
        over.into_iter().map(|(_, name, number)| (name, number)).collect()
    }

    pub fn renew(&mut self, name: &str, number: u64) -> Answered {
        let held = self.is_held(name, number);
        let now = self.now;
        match self.leases.get_mut(name).filter(|_| held) {
            Some(lease) => {
                lease.beat = now;
                Answered::Renewed(now + lease.ttl)
            }
            None => Answered::LeaseLost,
        }
    }

    pub fn ask(&mut self, asked: &Asked) -> Answered {
        // What the command does is done to a copy; if it fails, only what it saw of leases stays.
        let mut after = self.clone();
        after.looked.clear();
        match after.perform(asked) {
            Ok((first, last)) if !asked.refuses => {
                *self = after;
                Answered::Recorded(first, last)
            }
            answered => {
                for name in &after.looked {
                    self.look(name);
                }
                answered.err().unwrap_or(Answered::Malformed)
            }
        }
    }

    fn perform(&mut self, asked: &Asked) -> Result<(u64, u64), Answered> {
        if let Some((key, request)) = &asked.once {
            match self.keys.get(&(asked.actor.clone(), key.clone())) {
                Some((known, first, last)) if known == request => return Err(Answered::Remembered(*first, *last)),
                Some((_, first, _)) => return Err(Answered::KeyReused(*first)),
                None => {}
            }
        }
        if asked.events.iter().flat_map(|it| &it.erase).any(|place| !self.texts.contains_key(place)) {
            return Err(Answered::Malformed);
        }
        if let Some((name, number)) = &asked.under
            && !self.is_held(name, *number)
        {
            return Err(Answered::LeaseLost);
        }
        let first = self.head + 1;
        for event in &asked.events {
            self.record(event)?;
        }
        if let Some((key, request)) = &asked.once {
            self.keys.insert((asked.actor.clone(), key.clone()), (request.clone(), first, self.head));
        }
        Ok((first, self.head))
    }

    fn record(&mut self, event: &Wanted) -> Result<(), Answered> {
        let now = self.now;
        let seq = self.head + 1;
        match &event.lease {
            Some(Change::Grant { name, ttl, .. }) => {
                if let Some(lease) = self.look(name).filter(|it| !it.ended && now < it.beat + it.ttl) {
                    return Err(Answered::LeaseHeld(lease.number));
                }
                self.leases.insert(name.clone(), Lease { number: seq, ttl: *ttl, beat: now, ended: false });
            }
            Some(Change::Release(name, number)) => {
                if !self.is_held(name, *number) {
                    return Err(Answered::LeaseLost);
                }
                self.end(name);
            }
            Some(Change::Expire(name, number)) => {
                let lease = self.look(name);
                if !lease.is_some_and(|it| it.number == *number && !it.ended && now >= it.beat + it.ttl) {
                    return Err(Answered::LeaseLost);
                }
                self.end(name);
            }
            None => {}
        }
        self.head = seq;
        match event.add {
            0 => drop(self.counters.remove(&event.counter)),
            add => *self.counters.entry(event.counter.clone()).or_default() += add,
        }
        if let Some(run) = &event.run {
            self.runs.entry(run.clone()).or_default().push(seq);
        }
        for (n, text) in (0..).zip(&event.texts) {
            self.texts.insert((seq, n), Some(text.clone()));
        }
        for place in &event.erase {
            self.texts.insert(*place, None);
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        if let Some(lease) = self.leases.get_mut(name) {
            lease.ended = true;
        }
    }
}
