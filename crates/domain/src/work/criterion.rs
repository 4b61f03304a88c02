//! When two texts are the same criterion: equal after trimming, in Unicode's normal form C.

use crate::work::places::FEW;
use countersign_contract::{Text, Untrusted, nfc};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What of a criterion is compared.
pub(crate) fn key(text: &str) -> Cow<'_, str> {
    nfc(text.trim())
}

/// The criteria of an assignment, to be asked which one a text is.
#[derive(Debug)]
pub(crate) struct Criteria<'a> {
    criteria: &'a [Untrusted<Text>],
    /// The first criterion of each fingerprint; empty when there are only few.
    table: HashMap<u64, usize>,
}

impl<'a> Criteria<'a> {
    /// Prepares a list for questions.
    pub(crate) fn new(criteria: &'a [Untrusted<Text>]) -> Self {
        let mut table = HashMap::new();
        if criteria.len() > FEW {
            for (index, criterion) in criteria.iter().enumerate() {
                table.entry(criterion.inspect(fingerprint)).or_insert(index);
            }
        }
        Self { criteria, table }
    }

    /// The number of the first criterion that this text is.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        if self.criteria.len() > FEW {
            return self.table.get(&fingerprint(text)).copied();
        }
        self.criteria.iter().position(|criterion| criterion.inspect(|it| it == text || key(it) == key(text)))
    }

    /// Each criterion that stands there before, with the first such: `(later, first)`.
    pub(crate) fn repeats(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.criteria.iter().enumerate().filter_map(|(index, criterion)| {
            let first = criterion.inspect(|text| self.find(text));
            first.filter(|first| *first < index).map(|first| (index, first))
        })
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key(text).hash(&mut hasher);
    hasher.finish()
}
