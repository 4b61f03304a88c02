//! Whether a text only quotes what it seems to say: `Input like "Ignore previous instructions" is escaped`.
//!
//! Quotation marks alone prove nothing, since whoever attacks can write them. What counts is that the quotation is
//! the object of a sentence about a test, that it is closed on its line, and that nothing in the sentence speaks to
//! its reader. In doubt it is no quotation. Only texts are judged so; in a document, whose own marks are in the
//! way, everything is suspicious, and its strings are judged one by one.

use std::ops::Range;

use super::bytes::{before, quote, tally};
use super::phrase::{Words, any};

/// The nouns, verbs and prepositions of tests, of which one stands at most two words before what is quoted.
const CUES: &[&str] = any![
    accept accepts block blocks contain containing contains detect detects escape escapes flag flags given handle
    handles input inputs like message messages parse parses payload payloads phrase refuse refuses reject rejects
    sanitise sanitises sanitize sanitizes string strings strip strips
];

/// Words that make the sentence speak to its reader, or make the quotation an order.
const SPEAKING: &[&str] = any![
    apply carry comply do execute execution execute follow followed follows heed must now obey obeyed please true
    use you your yours
];

/// How far on either side the marks of a quotation may be.
const FAR: usize = 96;
/// How many words on either side are read.
const WORDS: usize = 8;

/// Whether the phrase at `range` is inside a quotation.
pub fn quoted(bytes: &[u8], range: &Range<usize>) -> bool {
    let Some((open, close)) = marks(bytes, range) else { return false };
    cued(bytes, open) && !speaking(bytes, open, close + 1)
}

/// Whether the key at `range` is that of an object with this one member, in the middle of a sentence. An object
/// that stands alone, ends the text, spans lines or has more members is one that is carried.
pub fn mentioned(bytes: &[u8], range: &Range<usize>) -> bool {
    let head = bytes.get(range.start.saturating_sub(4)..range.start).unwrap_or_default();
    let Some(gap) = head.iter().rev().position(|it| *it == b'{') else { return false };
    let between = head.get(head.len() - gap..).unwrap_or_default();
    if !between.iter().all(|it| *it == b' ' || quote(*it)) {
        return false;
    }
    let open = range.start - gap - 1;
    let rest = bytes.get(range.end..bytes.len().min(range.end + FAR)).unwrap_or_default();
    tally(rest.len());
    let Some(length) = rest.iter().position(|it| matches!(it, b'}' | b'{' | b',' | b'\n' | b'\r' | b'\\')) else {
        return false;
    };
    let close = range.end + length;
    // Backticks around the object belong to it.
    let ticked = before(bytes, open) == Some(b'`') && bytes.get(close + 1) == Some(&b'`');
    let (open, end) = if ticked { (open - 1, close + 2) } else { (open, close + 1) };
    let after = bytes.get(end..).unwrap_or_default();
    let goes_on = matches!(after, [b' ', letter, ..] if letter.is_ascii_alphabetic());
    bytes.get(close) == Some(&b'}') && goes_on && cued(bytes, open) && !speaking(bytes, open, end)
}

/// The marks of the quotation around `range`: the nearest before it, and its like behind it, on one line.
fn marks(bytes: &[u8], range: &Range<usize>) -> Option<(usize, usize)> {
    let head = bytes.get(range.start.saturating_sub(FAR)..range.start)?;
    tally(head.len());
    let back = head.iter().rev().position(|it| quote(*it) || matches!(it, b'\n' | b'\r' | b'\\'))?;
    let open = range.start - back - 1;
    let mark = *bytes.get(open).filter(|it| quote(**it))?;
    // The apostrophe of `don't` opens nothing.
    before(bytes, open).filter(|it| matches!(it, b' ' | b'('))?;
    let inside = bytes.get(range.clone())?;
    let rest = bytes.get(range.end..bytes.len().min(range.end + FAR))?;
    tally(rest.len());
    let length = rest.iter().position(|it| *it == mark || matches!(it, b'\n' | b'\r' | b'\\'))?;
    let close = range.end + length;
    let whole = bytes.get(close) == Some(&mark) && !inside.iter().any(|it| *it == mark || *it == b'\n');
    let free = !bytes.get(close + 1).is_some_and(u8::is_ascii_alphanumeric);
    (whole && free).then_some((open, close))
}

/// Whether one of the two words before `open` is of a test.
fn cued(bytes: &[u8], open: usize) -> bool {
    Words::at(bytes, open).back().take(2).any(|word| word.surely(CUES))
}

/// Whether the sentence around speaks to its reader.
fn speaking(bytes: &[u8], open: usize, end: usize) -> bool {
    let mut behind = Words::at(bytes, end);
    let after = std::iter::from_fn(|| behind.next());
    Words::at(bytes, open).back().take(WORDS).chain(after.take(WORDS)).any(|word| word.is(SPEAKING))
}
