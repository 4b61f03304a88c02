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

/// The first letter that has no place in a name or a path.
pub fn letter_refused_in_name(text: &str) -> Option<char> {
    text.chars().find(|letter| letter.is_control() || is_invisible(*letter))
}
