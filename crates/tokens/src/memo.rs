//! The counts of pieces that were merged earlier in the same text: names come again and again.

use crate::layout::{SHORT_BYTES_MAX, mix, mix_long, short_key};

/// Places in the memo, a power of two. Small enough for the first cache of a processor.
const PLACES: usize = 1 << 10;

/// Shorter texts repeat too little to pay for the room.
const TEXT_BYTES_MIN: usize = 2048;

/// Remembers where in the text a piece was and how many tokens it is. A later piece takes the place of an earlier one.
#[derive(Default)]
pub(crate) struct Memo {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    start: u32,
    len: u8,
    count: u8,
}

impl Memo {
    /// The count of `text[start..end]` if it is remembered; otherwise what `count` says, which is remembered.
    #[inline(always)]
    pub(crate) fn count(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        count: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let piece = &text[start..end];
        let (Ok(len), Ok(from)) = (u8::try_from(piece.len()), u32::try_from(start)) else {
            return count();
        };
        if text.len() < TEXT_BYTES_MIN {
            return count();
        }
        if self.places.is_empty() {
            self.places = vec![Place::default(); PLACES];
        }
        let place = &mut self.places[place_index(piece)];
        let earlier = place.start as usize;
        if place.len == len && text[earlier..earlier + piece.len()] == *piece {
            return Some(usize::from(place.count));
        }
        let count = count()?;
        // A piece has at most as many tokens as bytes.
        *place = Place { start: from, len, count: count as u8 };
        Some(count)
    }
}

fn place_index(piece: &[u8]) -> usize {
    let hash = if piece.len() <= SHORT_BYTES_MAX {
        mix(short_key(piece.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)), piece.len()))
    } else {
        mix_long(piece)
    };
    (hash >> 32) as usize % PLACES
}
