//! Ids of events: by time and chance, UUIDs of version 7.
//!
//! Chance is asked of the system for many ids at once: to ask for each takes as long as to hash an event. Ids of one thread
//! grow, so that an index takes them at its end.

use rand_core::{OsRng, RngCore};
use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Builder;

/// The bits of an id that are not time, version or variant.
const CHANCE_BITS: u32 = 74;
/// The part of them that comes from one call of chance and is added to the id before, within one millisecond.
const STEP_BYTES: usize = 4;
const POOL_BYTES: usize = 512;

thread_local! {
    static LAST: RefCell<Ids> = const { RefCell::new(Ids { pool: [0; POOL_BYTES], used: POOL_BYTES, millis: 0, chance: 0 }) };
}

/// A new id.
pub(crate) fn make() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis() as u64);
    LAST.with_borrow_mut(|last| last.next(now)).to_string()
}

struct Ids {
    /// What chance has given, and how much of it is spent.
    pool: [u8; POOL_BYTES],
    used: usize,
    /// The last id.
    millis: u64,
    chance: u128,
}

impl Ids {
    fn next(&mut self, now: u64) -> uuid::Uuid {
        if now > self.millis {
            let fresh = u128::from_be_bytes(self.draw());
            // The highest bit is left free, so that there is room to count on.
            (self.millis, self.chance) = (now, fresh >> (128 - CHANCE_BITS + 1));
        } else {
            let step = u32::from_be_bytes(self.draw::<STEP_BYTES>());
            self.chance += u128::from(step) + 1;
            if self.chance >> CHANCE_BITS != 0 {
                (self.millis, self.chance) = (self.millis + 1, 0);
            }
        }
        // Twelve bits before the variant, sixty-two after it; the builder overwrites what lies between.
        let (high, low) = ((self.chance >> 62) as u16, self.chance as u64 & (u64::MAX >> 2));
        let mut chance = [0; 10];
        chance[..2].copy_from_slice(&high.to_be_bytes());
        chance[2..].copy_from_slice(&low.to_be_bytes());
        Builder::from_unix_timestamp_millis(self.millis, &chance).into_uuid()
    }

    fn draw<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > POOL_BYTES {
            OsRng.fill_bytes(&mut self.pool);
            self.used = 0;
        }
        let mut drawn = [0; N];
        drawn.copy_from_slice(&self.pool[self.used..self.used + N]);
        // What was given out stands nowhere else.
        self.pool[self.used..self.used + N].fill(0);
        self.used += N;
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn ids() -> Ids {
        Ids { pool: [0; POOL_BYTES], used: POOL_BYTES, millis: 0, chance: 0 }
    }

    #[test]
    fn ids_grow_and_are_of_version_seven_whatever_the_clock_does() {
        let mut ids = ids();
        let mut last = uuid::Uuid::nil();
        for now in [5, 5, 6, 6, 6, 2, 7].into_iter().flat_map(|now| std::iter::repeat_n(now, 300)) {
            let id = ids.next(now);
            assert!(id > last, "{last} {id}");
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
            last = id;
        }
    }

    #[test]
    fn where_the_chance_of_a_millisecond_is_used_up_the_next_one_begins() {
        let mut ids = ids();
        ids.next(5);
        ids.chance = (1 << CHANCE_BITS) - 1;
        let (last, next) = (ids.chance, ids.next(5));
        assert_eq!(next.get_timestamp().map(|it| it.to_unix()), Some((0, 6_000_000)), "{last}");
        assert!(ids.next(5) > next);
    }

    #[test]
    fn threads_that_begin_at_once_have_no_id_in_common() {
        let mine = || (0..1000).map(|_| make()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(mine)).collect();
        let all: BTreeSet<_> = threads.into_iter().flat_map(|it| it.join().unwrap_or_default()).collect();
        assert_eq!(all.len(), 8000);
    }
}
