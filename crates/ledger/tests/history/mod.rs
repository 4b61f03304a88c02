//! Whether a history of calls that overlapped could have been one after the other: the search of Wing and Gong.

use std::collections::HashSet;
use std::hash::Hash;

/// A call: when it was made and when it was answered, in one order for all, and what was asked and answered.
#[derive(Debug, Clone)]
pub struct Call<O> {
    pub called: u64,
    pub answered: u64,
    pub what: O,
}

/// Something that answers one call after the other.
pub trait Sequential: Clone + Eq + Hash {
    type Operation;

    /// What it is after a call that was answered like that; nothing, if it would have answered otherwise.
    fn after(&self, what: &Self::Operation) -> Option<Self>;
}

/// Whether there is an order of the calls, each between its beginning and its end, in which all answers are right.
pub fn is_linearizable<S: Sequential>(start: S, calls: &[Call<S::Operation>]) -> bool {
    assert!(calls.len() <= 128, "a history is a set of bits");
    let all = if calls.len() == 128 { u128::MAX } else { (1 << calls.len()) - 1 };
    let mut seen: HashSet<(u128, S)> = HashSet::new();
    let mut open = vec![(0u128, start)];
    while let Some((done, state)) = open.pop() {
        if done == all {
            return true;
        }
        let left = || calls.iter().enumerate().filter(|(at, _)| done >> at & 1 == 0);
        // Whatever comes next was called before the first of those that are left was answered.
        let first_answer = left().map(|(_, call)| call.answered).min().unwrap_or(u64::MAX);
        for (at, call) in left().filter(|(_, call)| call.called < first_answer) {
            if let Some(next) = state.after(&call.what)
                && seen.insert((done | 1 << at, next.clone()))
            {
                open.push((done | 1 << at, next));
            }
        }
    }
    false
}
