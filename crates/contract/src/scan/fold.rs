//! Characters that hide text or disguise letters, and the text as its reader would take it.

use super::lookalike::latin;
use std::ops::Range;

/// Whether `bytes` may have a character that [`fold`] takes away or replaces by a letter, or that [`hidden`]
/// reports.
pub fn carrier(bytes: &[u8]) -> bool {
    const STRETCH: usize = 32;
    bytes.chunks(STRETCH).enumerate().any(|(index, chunk)| !chunk.is_ascii() && carries(bytes, index * STRETCH, chunk))
}

fn carries(bytes: &[u8], from: usize, chunk: &[u8]) -> bool {
    chunk.iter().enumerate().filter(|(_, byte)| **byte >= 0xC2).any(|(at, lead)| {
        let follow = |n: usize| bytes.get(from + at + n).copied().unwrap_or(0);
        match (lead, follow(1), follow(2)) {
            // Soft hyphen, combining grapheme joiner, Arabic letter mark.
            (0xC2, 0xAD, _) | (0xCD, 0x8F, _) | (0xD8, 0x9C, _) => true,
            // Fillers and separators without width.
            (0xE1, 0x85 | 0x9E | 0xA0, _) | (0xE3, 0x85, 0xA4) | (0xEF, 0xBE, 0xA0) => true,
            // Zero-width characters, direction marks, embeddings and overrides, isolates.
            (0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE) | (0xE2, 0x81, 0xA0..=0xAF) => true,
            // Variation selectors, byte order mark.
            (0xEF, 0xB8, 0x80..=0x8F) | (0xEF, 0xBB, 0xBF) => true,
            // Full-width digits, letters and underscore; mathematical letters; tags.
            (0xEF, 0xBC, 0x90..=0x99 | 0xA1..=0xBA | 0xBF) | (0xEF, 0xBD, 0x81..=0x9A) => true,
            (0xF0, 0x9D, 0x90..=0x9F) | (0xF3, 0xA0, _) => true,
            // Letters in circles, small capitals.
            (0xE2, 0x92, 0xB6..=0xBF) | (0xE2, 0x93, 0x80..=0xA9) => true,
            (0xE1, 0xB4, 0x80..=0xA2) | (0xEA, 0x9C, 0xB0..=0xB1) => true,
            // Letters of other scripts, in two bytes.
            (0xC4..=0xD6, second @ 0x80..=0xBF, _) => {
                let code = (u32::from(*lead) & 0x1F) << 6 | (u32::from(second) & 0x3F);
                char::from_u32(code).and_then(latin).is_some()
            }
            _ => false,
        }
    })
}

/// A text as its reader would take it, and where each of its bytes came from.
pub struct Folded {
    pub text: String,
    origins: Vec<usize>,
    length: usize,
}

impl Folded {
    /// The place in the original of a place in the folded text.
    pub fn origin(&self, range: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.origins.get(index).copied().unwrap_or(self.length);
        at(range.start)..at(range.end)
    }
}

/// Takes characters without width away and makes plain what looks like plain letters: full-width, mathematical and
/// circled ones, small capitals, and the lookalikes of other scripts.
pub fn fold(text: &str) -> Folded {
    let mut folded =
        Folded { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len()), length: text.len() };
    for (at, char) in text.char_indices() {
        if let Some(char) = plain(char) {
            folded.text.push(char);
            folded.origins.resize(folded.text.len(), at);
        }
    }
    folded
}

/// Whether two names are one to whoever reads them.
pub fn same_name(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if one.is_ascii() && other.is_ascii() {
        return one.trim().eq_ignore_ascii_case(other.trim());
    }
    plain_name(one) == plain_name(other)
}

/// A name as its reader would take it: without white space around it, without case, and with lookalikes made plain.
pub fn plain_name(name: &str) -> String {
    let folded = if name.is_ascii() { std::borrow::Cow::Borrowed(name) } else { fold(name).text.into() };
    folded.trim().chars().flat_map(char::to_lowercase).collect()
}

fn plain(char: char) -> Option<char> {
    let code = u32::from(char);
    match code {
        0..=0x7F => Some(char),
        0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x3164 | 0xFFA0 => None,
        0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF => None,
        0xE0000..=0xE0FFF => None,
        0xFF01..=0xFF5E => char::from_u32(code - 0xFF01 + 0x21),
        // Thirteen alphabets of capitals and small letters, then Greek, then five rows of digits.
        0x1D400..=0x1D6A3 => letter((code - 0x1D400) % 52),
        0x1D7CE..=0x1D7FF => char::from_digit((code - 0x1D7CE) % 10, 10),
        0x24B6..=0x24E9 => letter(code - 0x24B6),
        _ if char.is_whitespace() => Some(' '),
        _ => Some(latin(char).unwrap_or(char)),
    }
}

fn letter(index: u32) -> Option<char> {
    char::from_u32(if index < 26 { 0x41 + index } else { 0x61 + index - 26 })
}

/// The first stretch that a reader does not see or sees in another order: what it is, and where.
pub fn hidden(text: &str) -> Option<(&'static str, Range<usize>)> {
    let mut selectors = 0..0;
    let mut count = 0;
    // Asked for at most once: it reads the whole text.
    let mut leftward = None;
    let mut chars = text.char_indices().peekable();
    let mut last = '\0';
    while let Some((at, char)) = chars.next() {
        let end = at + char.len_utf8();
        match char {
            // The flags of England, Scotland and Wales are spelt with tags.
            '\u{E0000}'..='\u{E007F}' if last == '\u{1F3F4}' => {
                let mut length = 1;
                let mut closed = char == '\u{E007F}';
                while !closed
                    && length < 8
                    && let Some((_, next)) = chars.next_if(|(_, it)| ('\u{E0020}'..='\u{E007F}').contains(it))
                {
                    length += 1;
                    closed = next == '\u{E007F}';
                }
                if !closed {
                    return Some(("has invisible tag characters that can carry instructions", at..end));
                }
            }
            '\u{E0000}'..='\u{E007F}' => {
                let mut end = end;
                while let Some((at, it)) = chars.next_if(|(_, it)| ('\u{E0000}'..='\u{E007F}').contains(it)) {
                    end = at + it.len_utf8();
                }
                return Some(("has invisible tag characters that can carry instructions", at..end));
            }
            '\u{202D}' | '\u{202E}' => {
                return Some(("overrides the direction of its text, which hides what it says", at..end));
            }
            // Right-to-left runs are for right-to-left letters; without any they can only scramble.
            '\u{202B}' | '\u{2067}' if !*leftward.get_or_insert_with(|| text.chars().any(right_to_left)) => {
                return Some(("turns left-to-right text around, which hides what it says", at..end));
            }
            // One selector picks a form of the character before it. A row of them carries data.
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => {
                selectors = if count == 0 { at..end } else { selectors.start..end };
                count += 1;
                if count == 3 {
                    return Some(("has a row of variation selectors that can carry hidden data", selectors));
                }
                last = char;
                continue;
            }
            _ => {}
        }
        count = 0;
        last = char;
    }
    None
}

fn right_to_left(char: char) -> bool {
    let hebrew_to_arabic = matches!(char, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}');
    hebrew_to_arabic || matches!(char, '\u{10800}'..='\u{10FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_folded_is_seen_in_bytes() {
        for char in ('\u{80}'..=char::MAX).filter(|char| !char.is_whitespace() && plain(*char) != Some(*char)) {
            // Only letters and what can hide are looked for; the other full-width signs separate words as they are.
            let sign = plain(char).is_some_and(|plain| !plain.is_ascii_alphanumeric() && plain != '_');
            assert!(sign || carrier(format!("a{char}b").as_bytes()), "{char} U+{:04X}", u32::from(char));
        }
    }
}
