//! Chance, asked of the system for many at once: to ask for each takes as long as much of what a command is.

use rand_core::{OsRng, RngCore};
use std::cell::RefCell;

const BYTES: usize = 16;
const POOL_BYTES: usize = 32 * BYTES;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], used: POOL_BYTES }) };
}

/// What chance has given, and how much of it is spent.
struct Pool {
    bytes: [u8; POOL_BYTES],
    used: usize,
}

/// Bytes that nobody can guess, and that are given out once.
pub(crate) fn bytes() -> [u8; BYTES] {
    POOL.with_borrow_mut(Pool::draw)
}

/// An id that nothing has yet: a UUID of version 4.
pub(crate) fn id() -> String {
    uuid::Builder::from_random_bytes(bytes()).into_uuid().to_string()
}

impl Pool {
    fn draw(&mut self) -> [u8; BYTES] {
        if self.used == POOL_BYTES {
            OsRng.fill_bytes(&mut self.bytes);
            self.used = 0;
        }
        let mut drawn = [0; BYTES];
        let place = &mut self.bytes[self.used..self.used + BYTES];
        // What was given out is forgotten here: it may be the salt of a text that is to be erased.
        drawn.swap_with_slice(place);
        self.used += BYTES;
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn what_was_given_out_is_not_given_again() {
        let drawn: HashSet<[u8; BYTES]> = (0..1000).map(|_| bytes()).collect();
        assert_eq!(drawn.len(), 1000);
        assert!(!drawn.contains(&[0; BYTES]));
        assert!(uuid::Uuid::parse_str(&id()).is_ok_and(|id| id.get_version_num() == 4));
    }
}
