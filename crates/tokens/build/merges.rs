//! The one pair of tokens from which each token is made.
//!
//! The reference merges any two neighbours whose bytes together are a token. One pair for each token is enough: while
//! nothing has merged across the ends of a stretch of text, the merges inside it are those that the stretch would see
//! alone, in the same order. So when the stretch has come down to two tokens that make up `t`, they are the two to
//! which the bytes of `t` alone come down. A token whose bytes never come down to two cannot be made by merging at all.

use std::collections::HashMap;

/// `left` and `right`, side by side, become `whole`.
pub(crate) struct Merge {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) whole: u32,
}

/// One merge for each token that has one.
pub(crate) fn of(tokens: &[Vec<u8>], ranks: &HashMap<&[u8], u32>) -> Vec<Merge> {
    (0..)
        .zip(tokens)
        .filter(|(_, text)| text.len() > 1)
        .filter_map(|(whole, text)| {
            let (left, right) = halves(text, ranks)?;
            Some(Merge { left, right, whole })
        })
        .collect()
}

/// Merges the bytes of a token by the reference's rule, lowest rank first and leftmost among equals, until two are
/// left.
fn halves(text: &[u8], ranks: &HashMap<&[u8], u32>) -> Option<(u32, u32)> {
    // Where tokens begin, and at the end of the list where the text ends.
    let mut bounds: Vec<usize> = (0..=text.len()).collect();
    let rank = |bounds: &[usize], at: usize| match bounds.get(at + 2) {
        Some(&end) => ranks.get(&text[bounds[at]..end]).copied().unwrap_or(u32::MAX),
        None => u32::MAX,
    };
    let mut pair_ranks: Vec<u32> = (0..text.len()).map(|at| rank(&bounds, at)).collect();
    while bounds.len() > 3 {
        let (at, lowest) = pair_ranks.iter().copied().enumerate().min_by_key(|&(_, rank)| rank)?;
        if lowest == u32::MAX {
            return None;
        }
        bounds.remove(at + 1);
        pair_ranks.remove(at + 1);
        pair_ranks[at] = rank(&bounds, at);
        if at > 0 {
            pair_ranks[at - 1] = rank(&bounds, at - 1);
        }
    }
    Some((ranks[&text[..bounds[1]]], ranks[&text[bounds[1]..]]))
}
