//! The pattern of `o200k_base`, with `A` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and `a` for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]? A* a+ (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]? A+ a* (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```

use super::{contraction_end, number_end, whitespace};
use crate::class::{
    self, LETTER, LETTERS, LOWER, MARK, NEWLINE, NUMBER, OTHER, SIGNS, SPACE, UPPER, ascii_letters_end, run_end,
};

/// What a word is made of.
const WORD: u8 = LETTERS | MARK;

/// Where the piece ends that starts at `start`. Beyond `start`, unless the text ends there.
#[inline(always)]
pub(crate) fn end(text: &[u8], start: usize) -> usize {
    let (class, width) = class::at(text, start);
    let second = start + width;
    if class & WORD != 0 {
        return word_end(text, start);
    }
    if class == NUMBER {
        return number_end(text, start);
    }
    if class == NEWLINE {
        return whitespace_end(text, start);
    }
    let (next, _) = class::at(text, second);
    if next & WORD != 0 {
        return word_end(text, second);
    }
    if class == OTHER {
        return signs_end(text, start);
    }
    if class == SPACE && text[start] == b' ' && next & SIGNS != 0 {
        return signs_end(text, second);
    }
    whitespace_end(text, start)
}

/// The first two alternatives, from behind the leading character.
///
/// A mark may be the leading character and may be part of the word. The end is the same either way, so it is always
/// taken as part of the word.
#[inline(always)]
fn word_end(text: &[u8], start: usize) -> usize {
    // Most words are ASCII with at most the first letter in upper case.
    let lower = start + usize::from(text[start].is_ascii_uppercase());
    let end = ascii_letters_end::<false>(text, lower);
    let end = if end > lower { run_end(text, end, LOWER | LETTER | MARK) } else { any_word_end(text, start) };
    contraction_end(text, end)
}

fn any_word_end(text: &[u8], start: usize) -> usize {
    let mut upper_end = start;
    let mut caseless_end = start;
    let class = loop {
        let (class, width) = class::at(text, upper_end);
        if class & (UPPER | LETTER | MARK) == 0 {
            break class;
        }
        upper_end += width;
        if class != UPPER {
            caseless_end = upper_end;
        }
    };
    if class == LOWER {
        run_end(text, upper_end, LOWER | LETTER | MARK)
    } else if caseless_end > start {
        // `a+` must match something: `A*` gives back what follows the last letter without case.
        caseless_end
    } else {
        upper_end
    }
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, from behind the space.
fn signs_end(text: &[u8], start: usize) -> usize {
    let mut end = run_end(text, start, SIGNS);
    while let Some(b'\r' | b'\n' | b'/') = text.get(end) {
        end += 1;
    }
    end
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`
fn whitespace_end(text: &[u8], start: usize) -> usize {
    let run = whitespace(text, start);
    if run.newline_end > start { run.newline_end } else { run.end_before_next(text, start) }
}
