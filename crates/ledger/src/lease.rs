//! Leases: who holds something, until when, and under which number.
//!
//! Grant, release and expiry are events; the number is the sequence number of the grant, so that it grows for ever and
//! nobody can make one up. A sign of life is a row beside the log. A lease lapses by the store's clock alone.
//!
//! ```text
//! (free) ──grant──▶ held ──release──▶ (free)
//!                    │ renew: later deadline; extend: the same with another length
//!                    └─deadline passes─▶ lapsed ──expire, or the next grant──▶ (free)
//! ```

use crate::error::Refused;
use crate::event::{Event, Held, LeaseChange};
use crate::rows::{Lease, Liveness};
use crate::time::Time;

/// A lease and how fresh it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// As its events have it.
    pub lease: Lease,
    /// When it lapses.
    pub deadline: Time,
}

impl Standing {
    /// Whether somebody holds it at a time.
    pub fn is_held(&self, now: Time) -> bool {
        self.lease.ended.is_none() && now < self.deadline
    }

    /// Why a number gives no right at a time; nothing, if it does.
    pub fn lost(&self, number: u64, now: Time) -> Option<String> {
        if self.lease.number != number {
            return Some(format!("number {} was granted to {} since", self.lease.number, self.lease.holder));
        }
        match self.lease.ended {
            Some(seq) => Some(format!("it ended with event {seq}")),
            None if now >= self.deadline => Some(format!("it lapsed at {}", self.deadline)),
            None => None,
        }
    }
}

/// How fresh a lease is, from its liveness row. A deadline is never further off than the lease's own length, so that a
/// clock which jumped ahead and came back does not keep it alive: the row is then to be written anew.
pub(crate) fn freshness(lease: &Lease, row: Option<&Liveness>, now: Time) -> (Liveness, bool) {
    let row = row.filter(|row| row.number == lease.number);
    let beat = row.map_or(lease.granted, |row| row.beat);
    if beat > now {
        let healed = Liveness { number: lease.number, beat: now, deadline: now.plus(lease.ttl) };
        return (healed, true);
    }
    (Liveness { number: lease.number, beat, deadline: beat.plus(lease.ttl) }, false)
}

/// What an event makes of a lease: its name and the row. Nothing, if it is about none, or about one that it does not fit.
pub(crate) fn evolve(event: &Event<'_>, before: impl FnOnce(&str) -> Option<Lease>) -> Option<(String, Lease)> {
    match event.lease.as_ref()? {
        LeaseChange::Grant { holder, name, ttl } => {
            let lease =
                Lease { number: event.seq, holder: holder.clone(), granted: event.time, ttl: *ttl, ended: None };
            Some((name.clone(), lease))
        }
        LeaseChange::Extend { name, number, ttl } => {
            let before = before(name).filter(|it| it.number == *number && it.ended.is_none())?;
            Some((name.clone(), Lease { ttl: *ttl, ..before }))
        }
        LeaseChange::Release(Held { name, number }) | LeaseChange::Expire(Held { name, number }) => {
            let before = before(name).filter(|it| it.number == *number && it.ended.is_none())?;
            Some((name.clone(), Lease { ended: Some(event.seq), ..before }))
        }
    }
}

/// The name of the lease that a change is about.
pub(crate) fn name_of(change: &LeaseChange) -> &str {
    match change {
        LeaseChange::Grant { name, .. } | LeaseChange::Extend { name, .. } => name,
        LeaseChange::Release(held) | LeaseChange::Expire(held) => &held.name,
    }
}

/// Whether a lease may change like that at a time.
pub(crate) fn judge(change: &LeaseChange, standing: Option<&Standing>, now: Time) -> Result<(), Refused> {
    match change {
        LeaseChange::Grant { name, .. } => match standing.filter(|it| it.is_held(now)) {
            Some(Standing { lease, deadline }) => Err(Refused::LeaseHeld {
                name: name.clone(),
                holder: lease.holder.clone(),
                number: lease.number,
                until: *deadline,
            }),
            None => Ok(()),
        },
        LeaseChange::Extend { name, number, .. } => {
            still_held(&Held { name: name.clone(), number: *number }, standing, now)
        }
        LeaseChange::Release(held) => still_held(held, standing, now),
        LeaseChange::Expire(held) => match standing {
            Some(it) if it.lease.number == held.number && it.lease.ended.is_none() => {
                if now < it.deadline {
                    let why = format!("it has not lapsed yet, that is at {}", it.deadline);
                    return Err(lost(held, why));
                }
                Ok(())
            }
            _ => still_held(held, standing, now),
        },
    }
}

/// Whether a lease gives the right to write.
pub(crate) fn still_held(held: &Held, standing: Option<&Standing>, now: Time) -> Result<(), Refused> {
    let why = match standing {
        Some(standing) => standing.lost(held.number, now),
        None => Some("it was never granted".to_owned()),
    };
    why.map_or(Ok(()), |why| Err(lost(held, why)))
}

fn lost(held: &Held, why: String) -> Refused {
    Refused::LeaseLost { name: held.name.clone(), number: held.number, why }
}
