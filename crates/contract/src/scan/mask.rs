//! Secrets hidden in what is shown: the same length, so that every place stays where it was.

use super::secrets;
use std::borrow::Cow;
use std::ops::Range;

/// The text with every secret, and every range of `also`, covered by asterisks.
pub fn mask<'t>(text: &'t str, also: &[Range<usize>]) -> Cow<'t, str> {
    let masked = cover(text, also.to_vec());
    let found: Vec<Range<usize>> = secrets(&masked).into_iter().map(|secret| secret.range).collect();
    if found.is_empty() { masked } else { Cow::Owned(cover(&masked, found).into_owned()) }
}

/// The text with `ranges` covered by asterisks.
pub fn cover(text: &str, mut ranges: Vec<Range<usize>>) -> Cow<'_, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        let start = text.floor_char_boundary(range.start.clamp(from, text.len()));
        let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
        out.push_str(&text[from..start]);
        for letter in text[start..end].chars() {
            match letter {
                // Lines stay lines.
                '\n' | '\r' => out.push(letter),
                letter => out.extend(std::iter::repeat_n('*', letter.len_utf8())),
            }
        }
        from = end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}
