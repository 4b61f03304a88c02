//! Texts that stand in a list twice.

use std::collections::HashMap;

/// Lists up to here are compared item by item, which needs no memory.
const PAIRWISE_MAX: usize = 24;

/// Each item that equals an earlier one, with the first that it equals.
pub(crate) fn repeats<'t, I>(texts: I) -> Vec<(usize, usize)>
where
    I: ExactSizeIterator<Item = &'t str> + Clone,
{
    let mut found = Vec::new();
    if texts.len() <= PAIRWISE_MAX {
        for (index, text) in texts.clone().enumerate() {
            if let Some(first) = texts.clone().take(index).position(|earlier| earlier == text) {
                found.push((first, index));
            }
        }
        return found;
    }
    let mut seen = HashMap::with_capacity(texts.len());
    for (index, text) in texts.enumerate() {
        let first = *seen.entry(text).or_insert(index);
        if first != index {
            found.push((first, index));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_lists_get_the_same_answer() {
        let short = ["a", "b", "a", "c", "a", "b"];
        let expected = [(0, 2), (0, 4), (1, 5)];
        assert_eq!(repeats(short.into_iter()), expected);
        let others: Vec<String> = (0..PAIRWISE_MAX).map(|it| it.to_string()).collect();
        let long: Vec<&str> = short.into_iter().chain(others.iter().map(String::as_str)).collect();
        assert_eq!(repeats(long.iter().copied()), expected);
    }
}
