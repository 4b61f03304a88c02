//! Looking for overlaps among many resources in less than the product of their numbers.

use crate::work::scope::{ROOT, contains, overlap, segments};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

/// Lists up to this long are searched from end to end, which needs no memory and is faster.
pub const FEW: usize = 16;

/// Something that stands at a resource.
pub trait Placed {
    /// The resource, in normal form.
    fn place(&self) -> &str;
}

/// A list of resources that can be asked what overlaps a given one. Items that do not count are not seen.
#[derive(Debug)]
pub struct Places<'a, T, F> {
    items: &'a [T],
    counts: F,
    /// The items that count, by segments. Empty when there are only few.
    sorted: Vec<usize>,
}

impl<'a, T: Placed, F: Fn(&T) -> bool> Places<'a, T, F> {
    /// Prepares a list for questions.
    pub fn new(items: &'a [T], counts: F) -> Self {
        let sorted = if items.len() > FEW { sort(items, &counts) } else { Vec::new() };
        Self { items, counts, sorted }
    }

    /// The number of an item that contains `place` or is equal to it.
    pub fn holding(&self, place: &str) -> Option<usize> {
        self.holding_where(place, |_| true)
    }

    /// The number of an item that contains `place` or is equal to it, and of which `fits` is true.
    pub fn holding_where(&self, place: &str, fits: impl Fn(&T) -> bool) -> Option<usize> {
        if self.items.len() <= FEW {
            return self.scan(|item| contains(item.place(), place), fits);
        }
        let ends = place.match_indices('/').map(|(end, _)| end).chain([place.len()]);
        let mut above = std::iter::once(ROOT).chain(ends.map(|end| &place[..end]));
        above.find_map(|folder| self.run(folder, |item| item.place() == folder, &fits))
    }

    /// The number of an item that overlaps `place`.
    pub fn overlapping(&self, place: &str) -> Option<usize> {
        self.overlapping_where(place, |_| true)
    }

    /// The number of an item that overlaps `place`, and of which `fits` is true.
    pub fn overlapping_where(&self, place: &str, fits: impl Fn(&T) -> bool) -> Option<usize> {
        if self.items.len() <= FEW {
            return self.scan(|item| overlap(item.place(), place), fits);
        }
        let inside = || self.run(place, |item| contains(place, item.place()), &fits);
        self.holding_where(place, &fits).or_else(inside)
    }

    /// Where an item stands is asked first, because that rules out nearly all of them.
    fn scan(&self, there: impl Fn(&T) -> bool, fits: impl Fn(&T) -> bool) -> Option<usize> {
        self.items.iter().position(|item| there(item) && (self.counts)(item) && fits(item))
    }

    /// From `place` on, in the order of segments and as long as `goes_on` is true, the first item of which `fits` is.
    fn run(&self, place: &str, goes_on: impl Fn(&T) -> bool, fits: impl Fn(&T) -> bool) -> Option<usize> {
        let before = |index: &usize| by_segments(self.items[*index].place(), place) == Ordering::Less;
        let from = &self.sorted[self.sorted.partition_point(before)..];
        let mut run = from.iter().copied().take_while(|index| goes_on(&self.items[*index]));
        run.find(|index| fits(&self.items[*index]))
    }
}

/// Each item that lies inside another one with another key, with that other: `(inner, outer)`. Of two that are equal
/// the later lies inside the earlier. Whether anything is found does not depend on the order of the items.
pub fn nested<T: Placed, K: PartialEq>(
    items: &[T],
    counts: impl Fn(&T) -> bool,
    key: impl Fn(usize) -> K,
) -> Vec<(usize, usize)> {
    if items.len() <= FEW {
        return nested_few(items, counts, key);
    }
    // Whatever contains an item comes before it, with only other contents of the same container in between.
    let mut found = Vec::new();
    let mut around: Vec<(usize, Option<usize>)> = Vec::new();
    for index in sort(items, &counts) {
        let place = items[index].place();
        while around.last().is_some_and(|(outer, _)| !contains(items[*outer].place(), place)) {
            around.pop();
        }
        let stranger = around.last().and_then(
            |(outer, stranger)| {
                if key(*outer) == key(index) { *stranger } else { Some(*outer) }
            },
        );
        if let Some(outer) = stranger {
            found.push((index, outer));
        }
        around.push((index, stranger));
    }
    found.sort_unstable();
    found
}

fn nested_few<T: Placed, K: PartialEq>(
    items: &[T],
    counts: impl Fn(&T) -> bool,
    key: impl Fn(usize) -> K,
) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    // Nearly always nothing overlaps, and each pair need be looked at only once to know.
    let mut places = [""; FEW];
    places.iter_mut().zip(items).for_each(|(place, item)| *place = item.place());
    let meets = |at: usize| places[..at].iter().any(|other| overlap(other, places[at]));
    if !(1..items.len()).any(meets) {
        return found;
    }
    for (index, item) in items.iter().enumerate().filter(|(_, item)| counts(item)) {
        let place = item.place();
        let outer = items.iter().enumerate().position(|(other, outer)| {
            let first = outer.place() != place || other < index;
            first && contains(outer.place(), place) && counts(outer) && key(other) != key(index)
        });
        found.extend(outer.map(|outer| (index, outer)));
    }
    found
}

fn sort<T: Placed>(items: &[T], counts: impl Fn(&T) -> bool) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..items.len()).filter(|index| counts(&items[*index])).collect();
    sorted.sort_by(|one, other| by_segments(items[*one].place(), items[*other].place()));
    sorted
}

fn by_segments(one: &str, other: &str) -> Ordering {
    segments(one).cmp(segments(other))
}

/// Where each key of a list stands first.
#[derive(Debug)]
pub struct Firsts<F, K> {
    length: usize,
    key: F,
    /// Empty when there are only few.
    table: HashMap<K, usize>,
}

impl<K: Eq + Hash, F: Fn(usize) -> K> Firsts<F, K> {
    /// Prepares a list of `length` items for questions.
    pub fn new(length: usize, key: F) -> Self {
        let mut table = HashMap::new();
        if length > FEW {
            for index in 0..length {
                table.entry(key(index)).or_insert(index);
            }
        }
        Self { length, key, table }
    }

    /// The number of the first item with this key.
    pub fn find<Q: Eq + Hash + ?Sized>(&self, wanted: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if self.length > FEW {
            return self.table.get(wanted).copied();
        }
        (0..self.length).find(|index| (self.key)(*index).borrow() == wanted)
    }

    /// Each item whose key an earlier one has, with the first such: `(later, first)`.
    pub fn repeats(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let first = |index: usize| self.find::<K>(&(self.key)(index)).filter(|first| *first < index);
        (1..self.length).filter_map(move |index| first(index).map(|first| (index, first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug)]
    struct At(String, u8);

    impl Placed for At {
        fn place(&self) -> &str {
            &self.0
        }
    }

    fn items(most: usize) -> impl Strategy<Value = Vec<At>> {
        let place = prop_oneof![4 => "[ab](/[ab.]b){0,3}", 1 => Just(".".to_owned())];
        let item = (place, 0u8..3).prop_map(|(place, key)| At(place, key));
        proptest::collection::vec(item, 0..most)
    }

    proptest! {
        #[test]
        fn questions_have_the_answers_of_a_plain_search(items in items(40), place in "[ab](/[ab.]b){0,2}") {
            let places = Places::new(&items, |it: &At| it.1 > 0);
            let narrow = Places::new(&items, |_: &At| true);
            let narrowed = narrow.overlapping_where(&place, |it| it.1 > 0);
            prop_assert_eq!(narrowed.is_some(), places.overlapping(&place).is_some());
            let plain = |fits: fn(&str, &str) -> bool| items.iter().any(|it| it.1 > 0 && fits(it.place(), &place));
            prop_assert_eq!(places.holding(&place).is_some(), plain(contains));
            prop_assert_eq!(places.overlapping(&place).is_some(), plain(overlap));
            if let Some(found) = places.overlapping(&place) {
                prop_assert!(overlap(items[found].place(), &place) && items[found].1 > 0);
            }
        }

        #[test]
        fn nesting_is_found_in_lists_of_any_length_and_order(items in items(40), turn in 0usize..40) {
            let collide = |(at, one): (usize, &At)| {
                items[..at].iter().any(|other| one.1 != other.1 && overlap(one.place(), other.place()))
            };
            let expected = items.iter().enumerate().any(collide);
            prop_assert_eq!(!nested(&items, |_| true, |index| items[index].1).is_empty(), expected);
            let mut turned = items;
            let middle = turn.min(turned.len());
            turned.rotate_left(middle);
            prop_assert_eq!(!nested(&turned, |_| true, |index| turned[index].1).is_empty(), expected);
        }

        #[test]
        fn repeats_are_found_in_lists_of_any_length(keys in proptest::collection::vec(0u8..40, 0..40)) {
            let firsts = Firsts::new(keys.len(), |index| keys[index]);
            let found: Vec<_> = firsts.repeats().collect();
            let plain = (0..keys.len()).filter_map(|at| {
                keys.iter().position(|key| *key == keys[at]).filter(|first| *first < at).map(|first| (at, first))
            });
            prop_assert_eq!(found, plain.collect::<Vec<_>>());
        }
    }
}
