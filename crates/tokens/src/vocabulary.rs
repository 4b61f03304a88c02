//! The tables of a vocabulary, read where they lie in the binary.

use crate::layout::{
    ID_BITS, OFFSET_BITS, SHORT_BYTES_MAX, mix, mix_long, pair_key, pilot_index, short_key, slot_index, tag,
};
use crate::work;

pub(crate) use crate::layout::NONE;

/// Which byte strings are tokens, and which two tokens become one. A token's id is its rank: the lower one merges
/// first.
pub(crate) struct Vocabulary {
    /// The most bytes that a token has.
    longest: usize,
    /// The id of each single byte. All bytes are tokens.
    bytes: &'static [[u8; 4]],
    /// What two ASCII bytes become: `pairs`, without the hash, for the first step of most pieces.
    ascii_pairs: &'static [[u8; 4]],
    short: Table<8>,
    long: Table<4>,
    texts: &'static [u8],
    pairs: Table<8>,
}

/// A perfect hash table with `N` bytes in each slot. See `layout`.
struct Table<const N: usize> {
    pilots: &'static [[u8; 2]],
    slots: &'static [[u8; N]],
}

macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary {
            longest: include!(concat!(env!("OUT_DIR"), "/", $name, ".longest")),
            bytes: table!($name, "bytes").as_chunks().0,
            ascii_pairs: table!($name, "ascii_pairs").as_chunks().0,
            short: Table {
                pilots: table!($name, "short.pilots").as_chunks().0,
                slots: table!($name, "short.slots").as_chunks().0,
            },
            long: Table {
                pilots: table!($name, "long.pilots").as_chunks().0,
                slots: table!($name, "long.slots").as_chunks().0,
            },
            texts: table!($name, "long.texts"),
            pairs: Table {
                pilots: table!($name, "pairs.pilots").as_chunks().0,
                slots: table!($name, "pairs.slots").as_chunks().0,
            },
        }
    };
}

/// A table as bytes, on a boundary at which no slot straddles two cache lines.
macro_rules! table {
    ($name:literal, $part:literal) => {{
        static TABLE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".", $part)));
        &TABLE.0
    }};
}

#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

pub(crate) static O200K_BASE: Vocabulary = vocabulary!("o200k_base");
pub(crate) static CL100K_BASE: Vocabulary = vocabulary!("cl100k_base");

impl Vocabulary {
    /// The fewest tokens that so many bytes can be.
    pub(crate) fn fewest(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.longest)
    }

    /// Is `text[start..end]` a token?
    #[inline(always)]
    pub(crate) fn contains(&self, text: &[u8], start: usize, end: usize) -> bool {
        let len = end - start;
        if len <= SHORT_BYTES_MAX {
            let key = short_key(low_bytes(text, start, len), len);
            u64::from_le_bytes(self.short.slot(mix(key))) == key
        } else {
            len <= self.longest && self.contains_long(&text[start..end])
        }
    }

    /// The id of a single byte.
    #[inline(always)]
    pub(crate) fn byte(&self, byte: u8) -> u32 {
        u32::from_le_bytes(self.bytes[usize::from(byte)])
    }

    /// The id of the token that `left` and `right` become when they stand side by side, or [`NONE`].
    #[inline(always)]
    pub(crate) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair_key(left, right);
        let slot = u64::from_le_bytes(self.pairs.slot(mix(key)));
        if slot >> ID_BITS == key { slot as u32 & NONE } else { NONE }
    }

    /// [`Self::merged`] of two single bytes.
    #[inline(always)]
    pub(crate) fn merged_bytes(&self, [left, right]: [u8; 2]) -> u32 {
        if (left | right).is_ascii() {
            u32::from_le_bytes(self.ascii_pairs[usize::from(left) << 7 | usize::from(right)])
        } else {
            self.merged(self.byte(left), self.byte(right))
        }
    }

    fn contains_long(&self, text: &[u8]) -> bool {
        let hash = mix_long(text);
        let slot = u32::from_le_bytes(self.long.slot(hash));
        if slot >> OFFSET_BITS != tag(hash) {
            return false;
        }
        let start = (slot & ((1 << OFFSET_BITS) - 1)) as usize;
        let len = usize::from(self.texts[start]);
        len == text.len() && self.texts[start + 1..][..len] == *text
    }
}

impl<const N: usize> Table<N> {
    /// The one slot in which the key with this hash can be.
    #[inline(always)]
    fn slot(&self, hash: u64) -> [u8; N] {
        work::step();
        let pilot = u16::from_le_bytes(self.pilots[pilot_index(hash, self.pilots.len())]);
        self.slots[slot_index(hash, pilot, self.slots.len())]
    }
}

/// Up to seven bytes as a little-endian number. Reads eight where the text goes on, which takes one load instead of a
/// loop.
#[inline(always)]
fn low_bytes(text: &[u8], start: usize, len: usize) -> u64 {
    match text[start..].first_chunk() {
        Some(word) => u64::from_le_bytes(*word) & ((1 << (8 * len)) - 1),
        None => text[start..][..len].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    }
}
