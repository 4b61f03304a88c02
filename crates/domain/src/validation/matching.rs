//! Which texts of a list are repeated, and which have no partner in another list.
//!
//! Lists are short as a rule, and then nothing is allocated; where one is long, a hash table keeps the time linear.

use std::collections::{HashMap, HashSet};

/// Up to so many items each is compared with each.
const SHORT: usize = 24;

/// The items whose text an earlier item has already, each with the first that has it: (first, again).
pub(crate) fn repeated<'a, T>(items: &'a [T], text: impl Fn(&'a T) -> &'a str) -> Vec<(usize, usize)> {
    if items.len() <= SHORT {
        let first = |again: usize| items[..again].iter().position(|it| text(it) == text(&items[again]));
        return (0..items.len()).filter_map(|again| first(again).map(|first| (first, again))).collect();
    }
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(items.len());
    let mut pairs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let first = *seen.entry(text(item)).or_insert(index);
        if first != index {
            pairs.push((first, index));
        }
    }
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
            prop_assert_eq!(repeated(&items, |it| it.as_str()), pairs);
            let lonely: Vec<usize> = (0..items.len()).filter(|at| !others.contains(&items[*at])).collect();
            prop_assert_eq!(unmatched(&items, |it| it.as_str(), &others, |it| it.as_str()), lonely);
        }
    }
}
