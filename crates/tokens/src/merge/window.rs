//! Merging in one array. The lowest merge is found by looking at the lowest of each block, and after each merge only
//! the blocks that it touched are looked at again.

use crate::vocabulary::{NONE, Vocabulary};
use crate::work;

/// The most bytes that are merged in the array: all positions but those of the two ends.
pub(crate) const WINDOW_BYTES: usize = (1 << POSITION_BITS) - 2;
const POSITION_BITS: u32 = 10;

/// Merges that are compared together, which a processor does in few steps.
const BLOCK: usize = 16;

/// The tokens of some bytes while they merge. The first byte is at position 1, and [`NONE`] stands at both ends, so
/// that each token has two neighbours and merging has no special cases. Grows with the pieces that it has seen, so
/// that it costs nothing before the first one.
#[derive(Default)]
pub(crate) struct Window {
    /// The token that starts at each position.
    ids: Vec<u32>,
    /// The bytes of each token, at its first and at its last byte, so that both neighbours can be found.
    lens: Vec<u8>,
    /// The merge of the token at each position with the next.
    merges: Vec<[i32; BLOCK]>,
    /// The lowest merge of each block.
    lowest: Vec<i32>,
}

impl Window {
    /// Merges at most [`WINDOW_BYTES`] bytes and says how many tokens are left.
    pub(crate) fn merge(&mut self, vocabulary: &Vocabulary, bytes: &[u8]) -> usize {
        self.start(vocabulary, bytes);
        let mut count = bytes.len();
        loop {
            let lowest = self.lowest.iter().copied().fold(NEVER, i32::min);
            if lowest >= NEVER {
                return count;
            }
            self.merge_lowest(vocabulary, lowest);
            count -= 1;
        }
    }

    /// Where the tokens end to which the bytes were merged.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> {
        let mut end = 0;
        std::iter::from_fn(move || {
            end += usize::from(*self.lens[..self.lens.len() - 1].get(end + 1)?);
            Some(end)
        })
    }

    /// Each byte is a token.
    fn start(&mut self, vocabulary: &Vocabulary, bytes: &[u8]) {
        let positions = bytes.len() + 2;
        self.ids.clear();
        self.ids.push(NONE);
        self.ids.extend(bytes.iter().map(|&byte| vocabulary.byte(byte)));
        self.ids.push(NONE);
        self.lens.clear();
        self.lens.resize(positions, 1);
        self.merges.clear();
        self.merges.resize(positions.div_ceil(BLOCK), [NEVER; BLOCK]);
        for (at, pair) in (1..).zip(bytes.array_windows()) {
            self.set_merge(at, vocabulary.merged_bytes(*pair));
        }
        self.lowest.clear();
        self.lowest.extend(self.merges.iter().map(lowest_of));
    }

    fn merge_lowest(&mut self, vocabulary: &Vocabulary, lowest: i32) {
        work::step();
        let at = lowest as usize % (1 << POSITION_BITS);
        let id = lowest as u32 >> POSITION_BITS;
        let right = at + usize::from(self.lens[at]);
        let after = right + usize::from(self.lens[right]);
        let before = at - usize::from(self.lens[at - 1]);
        self.ids[at] = id;
        self.lens[at] = (after - at) as u8;
        self.lens[after - 1] = (after - at) as u8;
        self.set_merge(right, NONE);
        self.set_merge(at, vocabulary.merged(id, self.ids[after]));
        self.set_merge(before, vocabulary.merged(self.ids[before], id));
        for block in before / BLOCK..=right / BLOCK {
            self.lowest[block] = lowest_of(&self.merges[block]);
        }
    }

    #[inline(always)]
    fn set_merge(&mut self, at: usize, merged: u32) {
        self.merges[at / BLOCK][at % BLOCK] = (merged << POSITION_BITS) as i32 | at as i32;
    }
}

/// A merge is one number, a rank above a position, so that the lowest is the leftmost of its rank. Signed, because
/// every processor can compare many signed numbers at once. From here on, it is no merge.
const NEVER: i32 = (NONE << POSITION_BITS) as i32;

#[inline(always)]
fn lowest_of(merges: &[i32; BLOCK]) -> i32 {
    merges.iter().copied().fold(NEVER, i32::min)
}
