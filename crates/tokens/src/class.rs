//! The class of a character, as the split patterns see it.

pub(crate) use crate::layout::class::*;

use crate::layout::CHAR_BLOCK;
use crate::work;

/// `\p{L}`
pub(crate) const LETTERS: u8 = UPPER | LOWER | LETTER;
/// `\s`
pub(crate) const SPACES: u8 = SPACE | NEWLINE;
/// `[^\s\p{L}\p{N}]`
pub(crate) const SIGNS: u8 = MARK | OTHER;

/// A byte for each block of characters, the number of its row; then the rows.
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

const BLOCKS: usize = 0x11_0000 / CHAR_BLOCK;

/// The row of the first block, which is ASCII.
static ASCII: [u8; CHAR_BLOCK] = {
    let mut row = [0; CHAR_BLOCK];
    let mut at = 0;
    while at < CHAR_BLOCK {
        row[at] = TABLE[BLOCKS + at];
        at += 1;
    }
    row
};

/// The class of the character that starts at `at`, and the bytes that it takes. At the end of the text there is no
/// class and nothing to take, so that no set matches there.
#[inline(always)]
pub(crate) fn at(text: &[u8], at: usize) -> (u8, usize) {
    work::step();
    match text.get(at) {
        None => (0, 0),
        Some(&byte) if byte < 0x80 => (ASCII[usize::from(byte)], 1),
        Some(&byte) => wide(text, at, byte),
    }
}

/// Where the run of characters of the classes in `set` ends that starts at `start`.
#[inline(always)]
pub(crate) fn run_end(text: &[u8], start: usize, set: u8) -> usize {
    let mut end = start;
    loop {
        let (class, width) = at(text, end);
        if class & set == 0 {
            return end;
        }
        end += width;
    }
}

/// Where the run of ASCII letters in lower case ends that starts at `start`; with `FOLD` in either case. May stop early
/// near the end of the text. Takes eight bytes at a time, because the length of words is what a processor cannot guess.
#[inline(always)]
pub(crate) fn ascii_letters_end<const FOLD: bool>(text: &[u8], start: usize) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut end = start;
    while let Some(word) = text.get(end..).and_then(|rest| rest.first_chunk()) {
        work::step();
        let word = u64::from_le_bytes(*word);
        let folded = if FOLD { word | (0x20 * EACH) } else { word };
        let low = folded & (0x7F * EACH);
        // The high bit of each byte: is it at least `a`, is it above `z`, is it beyond ASCII?
        let (from_a, above_z) = (low + (0x80 - 0x61) * EACH, low + (0x7F - 0x7A) * EACH);
        let others = (!from_a | above_z | word) & (0x80 * EACH);
        end += others.trailing_zeros() as usize / 8;
        if others != 0 {
            break;
        }
    }
    end
}

/// [`at`] beyond ASCII. The text was a `str`, so the lead byte tells how many bytes follow.
fn wide(text: &[u8], at: usize, lead: u8) -> (u8, usize) {
    let rest = |n: usize| text.get(at + n).map_or(0, |&byte| usize::from(byte & 0x3F));
    let lead = usize::from(lead);
    let (char, width) = match lead {
        0..0xE0 => ((lead & 0x1F) << 6 | rest(1), 2),
        0xE0..0xF0 => ((lead & 0x0F) << 12 | rest(1) << 6 | rest(2), 3),
        _ => ((lead & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4),
    };
    let row = usize::from(TABLE[char / CHAR_BLOCK]);
    (TABLE[BLOCKS + row * CHAR_BLOCK + char % CHAR_BLOCK], width)
}
