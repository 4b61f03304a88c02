//! Merging a long piece window by window.
//!
//! A row of tokens is the encoding of its bytes if each two neighbours are the encoding of theirs: the first merge
//! across a boundary would be one that these two neighbours alone would see as well. So windows can be put together
//! where they overlap in one whole token: all neighbours before it are confirmed by the first window, all behind it by
//! the second.

use super::window::{WINDOW_BYTES, Window};
use crate::vocabulary::Vocabulary;

/// The tokens at the end of a window that would often be others if the window went on. A full window has more.
const DOUBTFUL_TOKENS: usize = 3;
const _: () = assert!(WINDOW_BYTES / u8::MAX as usize > DOUBTFUL_TOKENS);

/// The tokens of a piece that is longer than a window, or `None` if there is no token on which two windows agree.
///
/// Has no limit at which to stop: until the last window agrees, the tokens before it are not certain.
pub(crate) fn count(vocabulary: &Vocabulary, window: &mut Window, piece: &[u8]) -> Option<usize> {
    let mut count = 0;
    let mut start = 0;
    // The windows agree on all tokens before `start`, and on the one there.
    let mut ends = ends_of(vocabulary, window, window_at(piece, start));
    while start + WINDOW_BYTES < piece.len() {
        let (tokens, next) = shared_token(vocabulary, window, &piece[start..], &ends)?;
        count += tokens;
        start += ends[tokens - 1];
        ends = next;
    }
    Some(count + ends.len())
}

/// Finds a token of the window at the start of `piece`, which has these `ends`, with which a window of its own begins.
/// Gives the number of tokens before it, and the ends in the new window.
///
/// Tries two tokens and no more: each success is then half a window of progress for at most two windows of work.
fn shared_token(
    vocabulary: &Vocabulary,
    window: &mut Window,
    piece: &[u8],
    ends: &[usize],
) -> Option<(usize, Vec<usize>)> {
    [ends.len() - DOUBTFUL_TOKENS, ends.len() / 2].into_iter().find_map(|tokens| {
        let bytes = window_at(piece, ends[tokens - 1]);
        // Long pieces are mostly one thing over and over, and equal bytes have equal tokens.
        let next = if bytes == window_at(piece, 0) { ends.to_vec() } else { ends_of(vocabulary, window, bytes) };
        (next[0] == ends[tokens] - ends[tokens - 1]).then_some((tokens, next))
    })
}

fn window_at(piece: &[u8], start: usize) -> &[u8] {
    &piece[start..piece.len().min(start + WINDOW_BYTES)]
}

/// Where the tokens of a window end, counted from its start.
fn ends_of(vocabulary: &Vocabulary, window: &mut Window, bytes: &[u8]) -> Vec<usize> {
    window.merge(vocabulary, bytes);
    window.ends().collect()
}
