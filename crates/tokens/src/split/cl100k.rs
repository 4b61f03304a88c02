//! The pattern of `cl100k_base`:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)
//! [^\r\n\p{L}\p{N}]?\p{L}+
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n]*
//! \s+$
//! \s*[\r\n]
//! \s+(?!\S)
//! \s
//! ```

use super::{contraction_end, number_end, whitespace};
use crate::class::{self, LETTERS, NEWLINE, NUMBER, SIGNS, SPACE, ascii_letters_end, run_end};

/// Where the piece ends that starts at `start`. Beyond `start`, unless the text ends there.
#[inline(always)]
pub(crate) fn end(text: &[u8], start: usize) -> usize {
    let (class, width) = class::at(text, start);
    let second = start + width;
    if class & LETTERS != 0 {
        return letters_end(text, second);
    }
    if class == NUMBER {
        return number_end(text, start);
    }
    if class == NEWLINE {
        return whitespace_end(text, start);
    }
    let contraction = contraction_end(text, start);
    if contraction > start {
        return contraction;
    }
    let (next, _) = class::at(text, second);
    if next & LETTERS != 0 {
        return letters_end(text, second);
    }
    if class & SIGNS != 0 {
        return signs_end(text, start);
    }
    if class == SPACE && text[start] == b' ' && next & SIGNS != 0 {
        return signs_end(text, second);
    }
    whitespace_end(text, start)
}

/// `\p{L}*`
#[inline(always)]
fn letters_end(text: &[u8], start: usize) -> usize {
    run_end(text, ascii_letters_end::<true>(text, start), LETTERS)
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n]*`, from behind the space.
fn signs_end(text: &[u8], start: usize) -> usize {
    run_end(text, run_end(text, start, SIGNS), NEWLINE)
}

/// `\s+$|\s*[\r\n]|\s+(?!\S)|\s`
fn whitespace_end(text: &[u8], start: usize) -> usize {
    let run = whitespace(text, start);
    if run.newline_end > start && run.end < text.len() { run.newline_end } else { run.end_before_next(text, start) }
}
