//! Letters: which are refused in names, and the one normal form of the rest.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The text in Unicode's normal form C.
pub fn nfc(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Whether a text is in normal form C already.
pub(crate) fn is_nfc(text: &str) -> bool {
    text.is_ascii()
        || match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => true,
            IsNormalized::No => false,
            IsNormalized::Maybe => text.nfc().eq(text.chars()),
        }
}

/// Letters that cannot be seen, or that change the direction of what is shown, and with it what a reader sees.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}'
    )
}

/// Whether a text says nothing: it has no letter that can be seen. Nearly every text begins with one, and its first byte
/// shows it.
pub fn is_blank(text: &str) -> bool {
    !text.as_bytes().first().is_some_and(u8::is_ascii_graphic) && text.chars().all(shows_nothing)
}

/// White space, control letters, and those that are shown as nothing at all. Those beyond U+FFFF are not among them, since a
/// schema cannot name them to every reader; tag letters are refused as control wherever they stand.
fn shows_nothing(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || is_invisible(letter)
        || matches!(
            letter,
            '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
                | '\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
                | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
        )
}

/// A letter that [`is_blank`] does not pass over, as a pattern of JSON Schema.
pub(crate) const SAYS_SOMETHING: &str = concat!(
    r"[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F",
    r"\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB]",
);

/// The first letter that has no place in a name or a path.
pub fn letter_refused_in_name(text: &str) -> Option<char> {
    text.chars().find(|letter| letter.is_control() || is_invisible(*letter))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

    use super::*;

    #[test]
    fn the_pattern_means_the_same_letters_in_a_schema() {
        let schema = jsonschema::validator_for(&serde_json::json!({ "pattern": SAYS_SOMETHING })).unwrap();
        for letter in ('\0'..='\u{FFFF}').chain(['😀', '\u{E0041}']) {
            let text = letter.to_string();
            assert_eq!(schema.is_valid(&text.as_str().into()), !is_blank(&text), "{}", letter.escape_unicode());
        }
    }

    #[test]
    fn a_text_is_blank_when_nothing_of_it_can_be_seen() {
        for blank in ["", " \n", "\u{200b}", "\u{2800}", " \u{3164}\u{feff}", "\u{0}", "\u{a0}\u{fe0f}"] {
            assert!(is_blank(blank), "{}", blank.escape_unicode());
        }
        for text in ["a", "-", "é", " \u{200b}x", "漢", "✅\u{fe0f}"] {
            assert!(!is_blank(text), "{text}");
        }
    }
}
