//! Cuts a text into pieces, exactly as the reference's patterns do. No token crosses the end of a piece.
//!
//! Each pattern is one function: where does the piece end that starts here? It looks at each character at most a few
//! times, because no alternative of the patterns can give back more than one run of characters.

pub(crate) mod cl100k;
pub(crate) mod o200k;

use crate::class::{self, NEWLINE, NUMBER, SPACES};

/// Where the contraction ends that starts at `start` (`(?i:'s|'t|'re|'ve|'m|'ll|'d)`), or `start` if there is none.
/// Without regard to case, `s` is also U+017F, the long s; no other letter here has a third form.
#[inline(always)]
fn contraction_end(text: &[u8], start: usize) -> usize {
    if text.get(start) != Some(&b'\'') {
        return start;
    }
    let lower = |n: usize| text.get(start + n).map_or(0, u8::to_ascii_lowercase);
    match (lower(1), lower(2)) {
        (b's' | b't' | b'm' | b'd', _) => start + 2,
        (b'r' | b'v', b'e') | (b'l', b'l') | (0xC5, 0xBF) => start + 3,
        _ => start,
    }
}

/// `\p{N}{1,3}`
#[inline(always)]
fn number_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    for _ in 0..3 {
        let (class, width) = class::at(text, end);
        if class & NUMBER == 0 {
            break;
        }
        end += width;
    }
    end
}

/// What a run of whitespace consists of, as far as the patterns care.
struct Whitespace {
    /// Where the run ends.
    end: usize,
    /// Where its last character starts.
    last: usize,
    /// Where its last line break ends, or `start` if it has none.
    newline_end: usize,
}

fn whitespace(text: &[u8], start: usize) -> Whitespace {
    let mut run = Whitespace { end: start, last: start, newline_end: start };
    loop {
        let (class, width) = class::at(text, run.end);
        if class & SPACES == 0 {
            return run;
        }
        run.last = run.end;
        run.end += width;
        if class == NEWLINE {
            run.newline_end = run.end;
        }
    }
}

impl Whitespace {
    /// `\s+(?!\S)|\s+`: a run that something follows leaves its last character to it, unless that is all it has.
    fn end_before_next(&self, text: &[u8], start: usize) -> usize {
        if self.end < text.len() && self.last > start { self.last } else { self.end }
    }
}
