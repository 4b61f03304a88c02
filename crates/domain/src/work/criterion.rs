//! When two texts are the same criterion: equal after trimming, in Unicode's normal form C.

use crate::work::places::FEW;
use countersign_contract::{Text, Untrusted, nfc};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A list of criteria, or of answers to them, to be asked where a text stands in it.
#[derive(Debug)]
pub(crate) struct Criteria<F> {
    length: usize,
    at: F,
    /// A mark of each, when there are only few.
    marks: [u64; FEW],
    /// The first of each fingerprint; empty when there are only few.
    table: HashMap<u64, usize>,
}

impl<'a, F: Fn(usize) -> &'a Untrusted<Text>> Criteria<F> {
    /// Prepares a list of `length` criteria for questions.
    pub(crate) fn new(length: usize, at: F) -> Self {
        let mut marks = [0; FEW];
        let mut table = HashMap::new();
        if length <= FEW {
            (0..length).for_each(|index| marks[index] = at(index).inspect(mark));
        } else {
            for index in 0..length {
                table.entry(at(index).inspect(fingerprint)).or_insert(index);
            }
        }
        Self { length, at, marks, table }
    }

    /// The number of the first criterion that this text is.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let is_it = |index: usize| (self.at)(index).inspect(|it| same(it, text));
        if self.length <= FEW {
            let mark = mark(text);
            return (0..self.length).find(|index| self.marks[*index] == mark && is_it(*index));
        }
        let first = *self.table.get(&fingerprint(text))?;
        // Two texts with one fingerprint do not come about by chance; then each is looked at.
        if is_it(first) { Some(first) } else { (first + 1..self.length).find(|index| is_it(*index)) }
    }

    /// Each criterion that stands there before, with the first such: `(later, first)`.
    pub(crate) fn repeats(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (1..self.length).filter_map(|index| {
            if self.length <= FEW && !self.marks[..index].contains(&self.marks[index]) {
                return None;
            }
            let first = (self.at)(index).inspect(|text| self.find(text));
            first.filter(|first| *first < index).map(|first| (index, first))
        })
    }
}

/// What of a criterion is compared.
fn key(text: &str) -> Cow<'_, str> {
    nfc(text.trim())
}

fn same(one: &str, other: &str) -> bool {
    one == other || key(one) == key(other)
}

/// What tells most texts apart without looking through them: the length and the last letters.
fn mark(text: &str) -> u64 {
    let key = key(text);
    let last = match key.as_bytes().last_chunk() {
        Some(last) => u32::from_be_bytes(*last),
        None => key.bytes().fold(0, |mark, byte| mark << 8 | u32::from(byte)),
    };
    (key.len() as u64) << 32 | u64::from(last)
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key(text).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_criterion_is_found_in_lists_of_any_length(texts in prop::collection::vec("[ab ]{0,2}[ae\u{301}\u{e9}]", 0..40)) {
            let criteria: Vec<_> = texts.iter().map(|text| Untrusted::new(Text::parse(text).unwrap())).collect();
            let asked = Criteria::new(criteria.len(), |index| &criteria[index]);
            let first = |text: &str| texts.iter().position(|it| key(it) == key(text));
            for text in &texts {
                prop_assert_eq!(asked.find(text), first(text));
            }
            prop_assert_eq!(asked.find("abc"), None);
            let repeats: Vec<_> = asked.repeats().collect();
            let plain = (0..texts.len()).map(|at| (at, first(&texts[at]).unwrap())).filter(|(at, first)| first < at);
            prop_assert_eq!(repeats, plain.collect::<Vec<_>>());
        }
    }
}
