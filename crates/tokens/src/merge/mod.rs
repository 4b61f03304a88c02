//! How many tokens a piece is that is not itself a token.
//!
//! Byte pair encoding: the bytes are the first tokens; of all neighbours that can merge, the pair with the lowest rank
//! does, the leftmost among equals, until none can. Three ways to the same number:
//!
//! - `window`: all merges in one array, for pieces up to a kilobyte. Nearly every piece.
//! - `chain`: overlapping windows that confirm one another, for longer pieces. Linear, in constant memory.
//! - `queue`: a priority queue over the whole piece, should windows ever contradict one another. `n log n`.

mod chain;
mod queue;
mod window;

use crate::vocabulary::Vocabulary;
use window::{WINDOW_BYTES, Window};

/// Counts pieces, with room for one window that is used again and again.
#[derive(Default)]
pub(crate) struct Merger {
    window: Window,
}

impl Merger {
    /// The number of tokens to which `piece` merges, or `None` if they are more than `limit`.
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8], limit: usize) -> Option<usize> {
        if vocabulary.fewest(piece.len()) > limit {
            return None;
        }
        let count = if piece.len() <= WINDOW_BYTES {
            self.window.merge(vocabulary, piece)
        } else {
            let count = chain::count(vocabulary, &mut self.window, piece);
            count.unwrap_or_else(|| queue::count(vocabulary, piece))
        };
        (count <= limit).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{CL100K_BASE, O200K_BASE};

    /// Pieces of a few letters, where the ends of windows are most likely to disagree, and some of many.
    fn pieces() -> impl Iterator<Item = Vec<u8>> {
        let mut state = 1_u64;
        let alphabets: [&[u8]; 6] = [b"a", b"ab", b" \t", b"-=*", b"etaoinshrdlu", b"\xE4\xB8\xAD\xE6\x96\x87"];
        alphabets
            .into_iter()
            .flat_map(|alphabet| [2, 100, WINDOW_BYTES, WINDOW_BYTES + 1, 1500, 5000].map(|len| (alphabet, len)))
            .map(move |(alphabet, len)| {
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                };
                (0..len).map(|_| next()).collect()
            })
    }

    #[test]
    fn all_ways_agree() {
        let mut merger = Merger::default();
        for vocabulary in [&O200K_BASE, &CL100K_BASE] {
            for piece in pieces() {
                let expected = queue::count(vocabulary, &piece);
                assert_eq!(merger.count(vocabulary, &piece, usize::MAX), Some(expected), "{piece:?}");
            }
        }
    }

    #[test]
    fn windows_confirm_one_another() {
        let mut window = Window::default();
        for vocabulary in [&O200K_BASE, &CL100K_BASE] {
            for piece in pieces().filter(|piece| piece.len() > WINDOW_BYTES) {
                assert!(chain::count(vocabulary, &mut window, &piece).is_some(), "{piece:?}");
            }
        }
    }
}
