//! A program's output as text: without escape sequences, with one kind of line end, and without secrets.

use countersign_contract::{scan, sha256_hex};

/// How much of an output goes into evidence.
const SHOWN_MAX: usize = 16 << 10;

/// The text of some output. Escape sequences go, `\r` ends a line, and what is no text becomes the replacement
/// character.
pub(super) fn text(bytes: &[u8]) -> String {
    let source = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(source.len());
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' | '\u{9b}' => skip_sequence(letter, &mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            letter => out.push(letter),
        }
    }
    out
}

/// Passes over the rest of an escape sequence, as ECMA-48 has them. One that a line's end breaks ends there, so that
/// nothing that stands on a line of its own can be hidden by an unfinished one.
fn skip_sequence(first: char, letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut next_if = |wanted: fn(char) -> bool| letters.next_if(|letter| wanted(*letter)).is_some();
    if first == '\u{9b}' || next_if(|letter| letter == '[') {
        while next_if(|letter| matches!(letter, '\u{20}'..='\u{3f}')) {}
        next_if(|letter| matches!(letter, '\u{40}'..='\u{7e}'));
    } else if next_if(|letter| matches!(letter, ']' | 'P' | 'X' | '^' | '_')) {
        // Up to a bell or the string terminator, which is `\x1b\`.
        while next_if(|letter| !matches!(letter, '\u{7}' | '\u{1b}' | '\n' | '\r')) {}
        if next_if(|letter| letter == '\u{1b}') {
            next_if(|letter| letter == '\\');
        } else {
            next_if(|letter| letter == '\u{7}');
        }
    } else {
        while next_if(|letter| matches!(letter, '\u{20}'..='\u{2f}')) {}
        next_if(|letter| matches!(letter, '\u{30}'..='\u{7e}'));
    }
}

/// The text without secrets.
pub(super) fn redacted(text: String) -> String {
    scan::redact(&text).unwrap_or(text)
}

/// A text without secrets, cut to a number of letters, on one line.
pub(super) fn snippet(bytes: &[u8], letters: usize) -> String {
    let clean = redacted(text(bytes));
    let mut out: String = clean.chars().take(letters).collect();
    if out.len() < clean.len() {
        out.push('…');
    }
    out
}

/// An output as it goes into evidence: its hash, and how it begins and ends. It has no secrets any more.
pub(super) fn shown(clean: &str) -> (String, String) {
    (cut(clean), sha256_hex(clean.as_bytes()))
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN_MAX {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(SHOWN_MAX / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - SHOWN_MAX / 2)..];
    format!("{head}\n[{} bytes left out]\n{tail}", text.len() - head.len() - tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_go_and_lines_stay() {
        let cases: &[(&[u8], &str)] = &[
            (b"\x1b[32m\x1b[1m2 passed\x1b[0m in 0.00s", "2 passed in 0.00s"),
            (b"a\r\nb\rc", "a\nb\nc"),
            (b"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\!", "link!"),
            (b"\x1b]0;never ended\n1 failed", "\n1 failed"),
            (b"\x1b[31\n1 failed", "\n1 failed"),
            (b"\x1b(Ba\x1bMb", "ab"),
            (b"\xff\x00", "\u{fffd}\u{fffd}"),
            ("\u{9b}1mcafé\x1b".as_bytes(), "café"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes), *expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle() {
        let long = "é".repeat(SHOWN_MAX);
        let (shown, hash) = shown(&long);
        assert!(shown.len() < SHOWN_MAX + 100 && shown.contains("bytes left out"));
        assert_eq!(hash, sha256_hex(long.as_bytes()));
    }

    proptest! {
        #[test]
        fn no_line_end_is_lost(
            bytes in prop::collection::vec(prop::sample::select(b"\x1b[]m1;\n\x07\\a(".to_vec()), 0..40),
        ) {
            let ends = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
            prop_assert_eq!(ends(text(&bytes).as_bytes()), ends(&bytes));
        }
    }
}
