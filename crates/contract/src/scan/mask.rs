//! Secrets hidden in what is shown: the same length, so that every place stays where it was.

use super::secrets;
use std::borrow::Cow;
use std::ops::Range;

/// The text with every secret, and every range of `also`, covered by asterisks.
pub fn mask<'t>(text: &'t str, also: &[Range<usize>]) -> Cow<'t, str> {
    let found = secrets(text);
    if found.is_empty() && also.is_empty() {
        return Cow::Borrowed(text);
    }
    let covered = |at: usize| found.iter().map(|secret| &secret.range).chain(also).any(|range| range.contains(&at));
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            // Lines stay lines.
            '\n' | '\r' => out.push(letter),
            _ if covered(at) => out.extend(std::iter::repeat_n('*', letter.len_utf8())),
            _ => out.push(letter),
        }
    }
    Cow::Owned(out)
}
