//! Telling a payload that broke from a file of someone else's.
//!
//! In a directory most files are none of ours and are skipped. A document that parses says so by its root keys. One that
//! does not is judged by its words: if all marks of a contract stand in it as keys, it is a payload that broke, and is
//! refused. What is not even text is judged by the bare words.

use crate::files;
use countersign_contract::{Checker, Form, parse};
use std::path::Path;

/// The marks of every contract, ours and those of the configuration, each with whether it is ever written as Markdown. Front
/// matter is everybody's: one whose keys are those of a contract that is never written so is somebody else's.
#[derive(Debug)]
pub struct Marks<'a>(Vec<(Vec<&'a str>, bool)>);

impl<'a> Marks<'a> {
    pub fn of(checker: &Checker<'a>) -> Self {
        let ours = checker.contracts.iter().map(|it| (it.marks.to_vec(), it.forms.contains(&Form::Markdown)));
        let foreign = checker.foreign.iter().map(|it| (it.marks.iter().map(String::as_str).collect(), true));
        Self(ours.chain(foreign).filter(|(marks, _): &(Vec<&str>, bool)| !marks.is_empty()).collect())
    }

    /// Whether a text is a payload though its contract could not be told, or is not written so.
    pub fn claim(&self, text: &str, form: Form, size_max: usize) -> bool {
        let all_of_one = |has: &dyn Fn(&str) -> bool| {
            let mut fit = self.0.iter().filter(|(_, markdown)| *markdown || form != Form::Markdown);
            fit.any(|(marks, _)| marks.iter().all(|mark| has(mark)))
        };
        let parsed = parse(text, form, size_max).ok();
        match parsed.as_ref().map(|document| document.root()).filter(|root| root.entries().next().is_some()) {
            // Its keys are plain to see. Those of two contracts at once are no reason to look away.
            Some(root) => all_of_one(&|mark| root.get(mark).is_some()),
            None => {
                let head = if form == Form::Markdown { front(text) } else { text };
                all_of_one(&|mark| is_key(head, mark))
            }
        }
    }

    /// Whether bytes that are no text hold the marks of a contract.
    pub fn in_bytes(&self, bytes: &[u8]) -> bool {
        let text = loosely(bytes);
        self.all_of_one(|mark| words(&text, mark).next().is_some())
    }

    /// The same for a file that is too large to be read at once.
    pub fn in_file(&self, path: &Path) -> Result<bool, String> {
        let longest = self.0.iter().flat_map(|(marks, _)| marks).map(|mark| mark.len()).max().unwrap_or(0);
        let mut seen: Vec<&str> = Vec::new();
        // Twice as long in UTF-16, and a letter on either side tells whether it is a word.
        files::in_pieces(path, 2 * longest + 8, |piece| {
            let text = loosely(piece);
            for mark in self.0.iter().flat_map(|(marks, _)| marks).copied() {
                if !seen.contains(&mark) && words(&text, mark).next().is_some() {
                    seen.push(mark);
                }
            }
            self.all_of_one(|mark| seen.contains(&mark))
        })?;
        Ok(self.all_of_one(|mark| seen.contains(&mark)))
    }

    fn all_of_one(&self, has: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|(marks, _)| marks.iter().all(|mark| has(mark)))
    }
}

/// Bytes as text, as far as they are. Without zeros, UTF-16 reads like the letters in it.
fn loosely(bytes: &[u8]) -> String {
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What stands before and after each place where a word stands alone.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let inner = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(word)
        .map(|(at, word)| (&text[..at], &text[at + word.len()..]))
        .filter(move |(before, after)| !before.ends_with(inner) && !after.starts_with(inner))
}

/// Whether a word stands in a text as a key: in quotes, or where a key of YAML may stand with a colon behind it.
fn is_key(text: &str, mark: &str) -> bool {
    words(text, mark).any(|(before, after)| {
        let quoted = ['"', '\''].into_iter().any(|quote| before.ends_with(quote) && after.starts_with(quote));
        let before = before.trim_end_matches([' ', '\t', '-', '?', '\u{feff}']);
        let begins = before.is_empty() || before.ends_with(['\n', '\r', '{', ',', '[']);
        quoted || (begins && after.trim_start_matches([' ', '\t']).starts_with(':'))
    })
}

/// The part of a Markdown text where front matter would stand: up to its closing line or, where it was never opened, to
/// the first empty line or heading. Prose may speak of anything.
fn front(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let opened = text.starts_with("--");
    let ends = |line: &str| match opened {
        true => line.starts_with("---"),
        false => line.trim().is_empty() || line.starts_with('#'),
    };
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let opens = opened && number == 0;
        if !opens && ends(line) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_told_from_a_word_in_prose() {
        let cases = [
            ("packet_type: x", true),
            ("{packet_type : x", true),
            ("a: 1\n- packet_type: x", true),
            ("'packet_type': x", true),
            ("{\"packet_type\"", true),
            ("the packet_type: x", false),
            ("my_packet_type: x", false),
            ("packet_type is", false),
        ];
        for (text, key) in cases {
            assert_eq!(is_key(text, "packet_type"), key, "{text}");
        }
    }

    #[test]
    fn of_markdown_only_the_front_matter_counts() {
        let cases = [
            ("---\na: 1\n---\nprose", "---\na: 1\n"),
            ("---\na: [\nb: 1", "---\na: [\nb: 1"),
            ("# Title\n\nownership: x", ""),
            ("\n--\na: 1\n---\n", "--\na: 1\n"),
            ("a: 1\n\nprose", "a: 1\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(front(text), expected, "{text:?}");
        }
    }
}
