//! Which texts of a list are repeated, and which have no partner in another list.
//!
//! Lists are short as a rule, and then nothing is allocated; where one is long, a hash table keeps the time linear.

use countersign_contract::{Untrusted, nfc};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Up to so many items each is compared with each.
const SHORT: usize = 24;

/// The items whose key an earlier item has already, each with the first that has it: (first, again).
pub(crate) fn repeated<'a, T, K: Copy + Eq + Hash>(items: &'a [T], key: impl Fn(&'a T) -> K) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if items.len() <= SHORT {
        let mut keys: [Option<K>; SHORT] = [None; SHORT];
        for (again, item) in items.iter().enumerate() {
            keys[again] = Some(key(item));
            pairs.extend(keys[..again].iter().position(|it| *it == keys[again]).map(|first| (first, again)));
        }
        return pairs;
    }
    let mut seen: HashMap<K, usize> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let first = *seen.entry(key(item)).or_insert(index);
        if first != index {
            pairs.push((first, index));
        }
    }
    pairs
}

/// The pairs of items that say the same in their untrusted texts, but for white space around them and Unicode's forms.
pub(crate) fn alike<'a, T, U: AsRef<str> + 'a>(
    items: &'a [T],
    text: impl Fn(&'a T) -> &'a Untrusted<U>,
) -> Vec<(usize, usize)> {
    let digest = |item: &'a T| {
        text(item).inspect(|words| {
            let mut hasher = DefaultHasher::new();
            nfc(words.trim()).hash(&mut hasher);
            hasher.finish()
        })
    };
    let mut pairs = repeated(items, digest);
    // A digest only finds the candidates.
    pairs.retain(|(first, again)| {
        let (first, again) = (text(&items[*first]), text(&items[*again]));
        first.inspect(|one| again.inspect(|other| nfc(one.trim()) == nfc(other.trim())))
    });
    pairs
}

/// The items whose text no item of `others` has.
pub(crate) fn unmatched<'a, T, U>(
    items: &'a [T],
    text: impl Fn(&'a T) -> &'a str,
    others: &'a [U],
    other: impl Fn(&'a U) -> &'a str,
) -> Vec<usize> {
    // Answers mostly come in the order of the questions.
    if items.len() == others.len() && items.iter().zip(others).all(|(one, two)| text(one) == other(two)) {
        return Vec::new();
    }
    if items.len() <= SHORT || others.len() <= SHORT {
        let lonely = |index: &usize| !others.iter().any(|it| other(it) == text(&items[*index]));
        return (0..items.len()).filter(lonely).collect();
    }
    let known: HashSet<&str> = others.iter().map(other).collect();
    (0..items.len()).filter(|index| !known.contains(text(&items[*index]))).collect()
}

/// Hands every item that has a partner in `others` to `visit`, with its index and its partner.
pub(crate) fn for_each_pair<'a, T, U>(
    items: &'a [T],
    text: impl Fn(&'a T) -> &'a str,
    others: &'a [U],
    other: impl Fn(&'a U) -> &'a str,
    mut visit: impl FnMut(usize, &'a T, &'a U),
) {
    let mut table: Option<HashMap<&str, &'a U>> = None;
    for (index, item) in items.iter().enumerate() {
        let name = text(item);
        let partner = match others.get(index).filter(|it| other(it) == name) {
            Some(partner) => Some(partner),
            None if others.len() <= SHORT => others.iter().find(|it| other(it) == name),
            None => {
                let table = table.get_or_insert_with(|| others.iter().map(|it| (other(it), it)).collect());
                table.get(name).copied()
            }
        };
        if let Some(partner) = partner {
            visit(index, item, partner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn long_lists_are_answered_like_short_ones(
            items in prop::collection::vec("[a-d]{1,3}", 0..60),
            others in prop::collection::vec("[a-d]{1,3}", 0..60),
        ) {
            let mut pairs = Vec::new();
            for (again, item) in items.iter().enumerate() {
                if let Some(first) = items[..again].iter().position(|it| it == item) {
                    pairs.push((first, again));
                }
            }
            prop_assert_eq!(&repeated(&items, |it| it.as_str()), &pairs);
            let untrusted: Vec<_> = items.iter().map(|it| Untrusted::new(format!(" {it}"))).collect();
            prop_assert_eq!(alike(&untrusted, |it| it), pairs);
            let mut paired = Vec::new();
            for_each_pair(&items, |it| it.as_str(), &others, |it| it.as_str(), |index, item, partner| {
                assert_eq!(item, partner);
                paired.push(index);
            });
            let expected: Vec<usize> = (0..items.len()).filter(|at| others.contains(&items[*at])).collect();
            prop_assert_eq!(paired, expected);
            let lonely: Vec<usize> = (0..items.len()).filter(|at| !others.contains(&items[*at])).collect();
            prop_assert_eq!(unmatched(&items, |it| it.as_str(), &others, |it| it.as_str()), lonely);
        }
    }
}
