//! What a program says, kept within a limit: how it began and how it ended.
//!
//! Two streams become one text, line by line as they arrive, so that a line of one is never cut by a line of the other.
//! What lies in the middle of too long a text is left out at line ends: half a secret is no longer known for one.

use memchr::{memchr, memrchr};

/// How long a line may grow before it is passed on in pieces.
const LINE_MAX: usize = 64 << 10;

/// What has been said so far.
pub(super) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// How much the head and the tail may hold each.
    half: usize,
    /// Whether something was left out between them.
    was_cut: bool,
    said: u64,
    /// The line of each stream that has no end yet.
    open: [Vec<u8>; 2],
}

/// All that was kept.
pub(super) struct Captured {
    pub text: Vec<u8>,
    pub was_cut: bool,
    /// How much was said, whether kept or not.
    pub said: u64,
}

impl Capture {
    /// One that keeps about `room` bytes.
    pub fn new(room: usize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), half: room / 2, was_cut: false, said: 0, open: Default::default() }
    }

    /// Takes what arrived on a stream: 0 or 1.
    pub fn take(&mut self, stream: usize, bytes: &[u8]) {
        self.said = self.said.saturating_add(bytes.len() as u64);
        let Some(open) = self.open.get_mut(stream) else { return };
        let whole = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (lines, rest) = bytes.split_at(whole);
        let mut done = Vec::new();
        if !lines.is_empty() {
            done = std::mem::take(open);
            done.extend_from_slice(lines);
        }
        open.extend_from_slice(rest);
        if open.len() > LINE_MAX {
            done.append(open);
        }
        self.keep(&done);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = if self.tail.is_empty() { self.half.saturating_sub(self.head.len()) } else { 0 };
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > self.half * 2 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let excess = self.tail.len().saturating_sub(self.half);
        if excess > 0 {
            self.tail.drain(..excess);
            self.was_cut = true;
        }
    }

    /// Ends the lines that have no end, and gives all that was kept.
    pub fn end(mut self) -> Captured {
        for stream in 0..2 {
            let open = std::mem::take(&mut self.open[stream]);
            if !open.is_empty() {
                if self.tail.last().or(self.head.last()).is_some_and(|last| *last != b'\n') {
                    self.keep(b"\n");
                }
                self.keep(&open);
            }
        }
        self.trim();
        let mut text = self.head;
        if self.was_cut {
            // Where a line began that is not whole, it goes.
            text.truncate(memrchr(b'\n', &text).map_or(0, |at| at + 1));
            let from = memchr(b'\n', &self.tail).map_or(self.tail.len(), |at| at + 1);
            self.tail.drain(..from);
            let left_out = self.said.saturating_sub((text.len() + self.tail.len()) as u64);
            text.extend_from_slice(format!("[{left_out} bytes left out]\n").as_bytes());
        }
        text.append(&mut self.tail);
        Captured { text, was_cut: self.was_cut, said: self.said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(room: usize, pieces: &[(usize, &str)]) -> (String, bool) {
        let mut capture = Capture::new(room);
        pieces.iter().for_each(|(stream, bytes)| capture.take(*stream, bytes.as_bytes()));
        let captured = capture.end();
        (String::from_utf8(captured.text).unwrap(), captured.was_cut)
    }

    #[test]
    fn lines_of_two_streams_do_not_cut_each_other() {
        let pieces = [(0, "one "), (1, "other\n"), (0, "line\ntwo"), (1, "more")];
        assert_eq!(captured(100, &pieces), ("other\none line\ntwo\nmore".to_owned(), false));
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_at_line_ends() {
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number:03}\n")).collect();
        let pieces: Vec<(usize, &str)> = lines.iter().map(|line| (0, line.as_str())).collect();
        let (text, was_cut) = captured(60, &pieces);
        let expected = "line 000\nline 001\nline 002\n[8946 bytes left out]\nline 997\nline 998\nline 999\n";
        assert_eq!((text.as_str(), was_cut), (expected, true));
    }

    proptest! {
        #[test]
        fn what_fits_is_kept_whole_and_the_rest_within_the_room(
            pieces in prop::collection::vec((0usize..2, "[a\n]{0,30}"), 0..40),
            room in 10usize..400,
        ) {
            let pieces: Vec<(usize, &str)> = pieces.iter().map(|(stream, text)| (*stream, text.as_str())).collect();
            let said: usize = pieces.iter().map(|(_, text)| text.len()).sum();
            let (text, was_cut) = captured(room, &pieces);
            prop_assert!(text.len() <= room + 40);
            if said + 2 <= room {
                prop_assert!(!was_cut && (said..=said + 1).contains(&text.len()), "{} of {said}", text.len());
            }
        }
    }
}
