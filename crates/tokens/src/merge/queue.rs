//! Merging with a priority queue, for a piece of any length. Also the second opinion in the tests of the faster ways.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::{NONE, Vocabulary};
use crate::work;

/// An entry of the queue is a rank above a position of this many bits, so that the lowest is the leftmost of its rank.
const POSITION_BITS: u32 = 46;

/// The number of tokens to which `piece` merges.
pub(crate) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let mut tokens = Tokens {
        vocabulary,
        ids: piece.iter().map(|&byte| vocabulary.byte(byte)).collect(),
        lens: vec![1; piece.len()],
        merged: vec![NONE; piece.len()],
        queue: BinaryHeap::with_capacity(piece.len()),
    };
    for at in 0..piece.len() {
        tokens.ask(at);
    }
    let mut count = piece.len();
    while let Some(Reverse(entry)) = tokens.queue.pop() {
        work::step();
        let rank = (entry >> POSITION_BITS) as u32;
        let at = (entry & ((1 << POSITION_BITS) - 1)) as usize;
        // Another merge may have taken one of the two tokens since.
        if tokens.merged[at] == rank {
            tokens.merge(at);
            count -= 1;
        }
    }
    count
}

struct Tokens<'a> {
    vocabulary: &'a Vocabulary,
    /// The token that starts at each position.
    ids: Vec<u32>,
    /// The bytes of each token, at its first and at its last byte, so that both neighbours can be found.
    lens: Vec<u8>,
    /// What the token here and the next one become.
    merged: Vec<u32>,
    queue: BinaryHeap<Reverse<u64>>,
}

impl Tokens<'_> {
    /// Finds out what the token at `at` and the next one become, and queues it.
    fn ask(&mut self, at: usize) {
        let next = at + usize::from(self.lens[at]);
        let rank = match self.ids.get(next) {
            Some(&right) => self.vocabulary.merged(self.ids[at], right),
            None => NONE,
        };
        self.merged[at] = rank;
        if rank != NONE {
            self.queue.push(Reverse(u64::from(rank) << POSITION_BITS | at as u64));
        }
    }

    /// Makes one token of the one at `at` and the next one.
    fn merge(&mut self, at: usize) {
        let right = at + usize::from(self.lens[at]);
        let len = self.lens[at] + self.lens[right];
        self.ids[at] = self.merged[at];
        self.merged[right] = NONE;
        self.lens[at] = len;
        self.lens[at + usize::from(len) - 1] = len;
        self.ask(at);
        if at > 0 {
            self.ask(at - usize::from(self.lens[at - 1]));
        }
    }
}
