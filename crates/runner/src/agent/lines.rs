//! Standard error, made fit to be kept: line by line, without secrets, with nothing in it that acts on a terminal.

use countersign_contract::diagnostic::visible_lines;
use countersign_contract::scan;

/// How much of a line is looked at. What is beyond is dropped before anything is shown, so that no secret is cut in
/// half.
const RAW_MAX: usize = 64 << 10;
/// What stands for a value that the environment holds.
const REDACTED: &str = "[REDACTED:environment]";

/// Cuts what comes into lines.
pub(super) struct Lines {
    secrets: Vec<String>,
    line_max: usize,
    lines_left: usize,
    line: Vec<u8>,
    /// Whether the lines are those of a private key, which only its first line tells.
    in_key: bool,
}

impl Lines {
    pub(super) fn new(secrets: Vec<String>, line_max: usize, lines_max: usize) -> Self {
        Self { secrets, line_max, lines_left: lines_max, line: Vec::new(), in_key: false }
    }

    /// Reads on, and hands on every line that is complete. After the last one that may be handed on, a line says so.
    pub(super) fn feed(&mut self, bytes: &[u8], hand: &mut dyn FnMut(String)) {
        if self.lines_left == 0 {
            return;
        }
        for (index, piece) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.end_line(hand);
            }
            let room = RAW_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    /// A last line need not have an end.
    pub(super) fn finish(&mut self, hand: &mut dyn FnMut(String)) {
        self.end_line(hand);
    }

    fn end_line(&mut self, hand: &mut dyn FnMut(String)) {
        let line = std::mem::take(&mut self.line);
        // A progress bar writes its line again and again; the last of them stands.
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let line = line.rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
        if self.lines_left == 0 || line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let begins = text.contains("-----BEGIN") && text.contains("PRIVATE KEY");
        let inside = self.in_key;
        self.in_key = (inside || begins) && !text.contains("-----END");
        if inside {
            return;
        }
        let clean = if begins { "[REDACTED:private-key]".to_owned() } else { clean(&text, &self.secrets) };
        let shown: String = clean.chars().take(self.line_max).collect();
        let cut = shown.len() < clean.len();
        hand(if cut { format!("{shown}…") } else { shown });
        self.lines_left -= 1;
        if self.lines_left == 0 {
            hand("… (further lines are counted and not kept)".to_owned());
        }
    }
}

/// A text without values that the environment holds.
pub(super) fn without(mut text: String, secrets: &[String]) -> String {
    for secret in secrets {
        if text.contains(secret) {
            text = text.replace(secret, REDACTED);
        }
    }
    text
}

/// A text without secrets and with everything visible that acts. Lines stay lines.
pub(super) fn clean(text: &str, secrets: &[String]) -> String {
    let text = without(text.to_owned(), secrets);
    let text = scan::redact(&text).unwrap_or(text);
    visible_lines(&text).into_owned()
}

/// The end of standard error, from a line's beginning.
pub(super) fn tail(kept: &[u8], is_whole: bool, secrets: &[String]) -> String {
    let from = match kept.iter().position(|byte| *byte == b'\n') {
        // Half a line may be half a secret.
        Some(end) if !is_whole => end + 1,
        None if !is_whole => kept.len(),
        _ => 0,
    };
    let text = String::from_utf8_lossy(&kept[from..]);
    // Of a key whose first line is gone, only the last tells.
    let text = match text.split_once("-----END") {
        Some((before, after)) if !before.contains("-----BEGIN") && after.contains("PRIVATE KEY") => {
            format!("[REDACTED:private-key]{}", after.split_once('\n').map_or("", |(_, rest)| rest))
        }
        _ => text.into_owned(),
    };
    clean(&text, secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]], lines_max: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = Lines::new(vec!["hunter2-hunter2".to_owned()], 40, lines_max);
        pieces.iter().for_each(|piece| lines.feed(piece, &mut |line| found.push(line)));
        lines.finish(&mut |line| found.push(line));
        found
    }

    #[test]
    fn standard_error_becomes_the_lines_that_the_table_says() {
        let cases: &[(&[&[u8]], &[&str])] = &[
            (&[b"one\ntw", b"o\n", b"three"], &["one", "two", "three"]),
            (&[b"\n\n  \n"], &[]),
            (&[b"10%\r50%\r100%\r\nnext\r\n"], &["100%", "next"]),
            (&[b"\x1b[31mred\x07"], &["\\u{1b}[31mred\\u{7}"]),
            (&[b"it is hunter2-hunter2!"], &["it is [REDACTED:environment]!"]),
            (&[b"bad \xff byte"], &["bad \u{fffd} byte"]),
            (
                &[b"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n", b"AbCd\n-----END RSA PRIVATE KEY-----\nb\n"],
                &["a", "[REDACTED:private-key]", "b"],
            ),
        ];
        for (pieces, expected) in cases {
            assert_eq!(lines(pieces, 100), *expected);
        }
    }

    #[test]
    fn lines_are_capped_in_length_and_number() {
        let long = "x".repeat(300_000);
        assert_eq!(lines(&[long.as_bytes()], 9), [format!("{}…", "x".repeat(40))]);
        let many = "line\n".repeat(1_000);
        let found = lines(&[many.as_bytes()], 3);
        assert_eq!(found, ["line", "line", "line", "… (further lines are counted and not kept)"]);
    }

    #[test]
    fn a_tail_begins_with_a_line_and_shows_no_half_of_a_key() {
        let cases: &[(&[u8], bool, &str)] = &[
            (b"whole\n", true, "whole\n"),
            (b"alf\nwhole\n", false, "whole\n"),
            (b"no end of a line", false, ""),
            (b"x\nMIIEow\n-----END RSA PRIVATE KEY-----\nafter\n", false, "[REDACTED:private-key]after\n"),
        ];
        for (kept, is_whole, expected) in cases {
            assert_eq!(tail(kept, *is_whole, &[]), *expected);
        }
    }
}
