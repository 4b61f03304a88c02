//! [`Encoding`], and the loop over the pieces of a text.

use std::fmt;
use std::str::FromStr;

use crate::memo::Memo;
use crate::merge::Merger;
use crate::split::{cl100k, o200k};
use crate::vocabulary::{CL100K_BASE, O200K_BASE, Vocabulary};

/// A way to count tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// `o200k_base`, exact: GPT-4o, GPT-4.1, GPT-5 and the `o` models.
    O200kBase,
    /// `cl100k_base`, exact: GPT-4, GPT-3.5 and the `text-embedding-3` models.
    Cl100kBase,
    /// `chars4`: a quarter of the characters, rounded up. An estimate, for models whose vocabulary is not public.
    Chars4,
}

impl Encoding {
    /// All encodings, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::O200kBase, Self::Cl100kBase, Self::Chars4];

    /// The number of tokens in `text`. Zero for the empty text, and for no other.
    #[must_use]
    pub fn count(self, text: &str) -> usize {
        // No text has more tokens than bytes, so this limit is never passed.
        self.count_within(text, usize::MAX).unwrap_or(text.len())
    }

    /// The number of tokens in `text` if it is at most `limit`.
    ///
    /// A text that must be above the limit by its length alone is not looked at. Any other is counted up to the piece
    /// that passes the limit, and what follows is not looked at.
    #[must_use]
    pub fn count_within(self, text: &str, limit: usize) -> Option<usize> {
        match self {
            Self::O200kBase => count_pieces(&O200K_BASE, o200k::end, text.as_bytes(), limit),
            Self::Cl100kBase => count_pieces(&CL100K_BASE, cl100k::end, text.as_bytes(), limit),
            Self::Chars4 => chars4_within(text, limit),
        }
    }

    /// A number of tokens that `text` has at least, and one that it has at most.
    ///
    /// Each piece of the text is at least one token, and each token is at least one byte. Costs a pass over the text
    /// and touches no vocabulary; for `chars4` both numbers are the count.
    #[must_use]
    pub fn bounds(self, text: &str) -> (usize, usize) {
        match self {
            Self::O200kBase => piece_bounds(&O200K_BASE, o200k::end, text.as_bytes()),
            Self::Cl100kBase => piece_bounds(&CL100K_BASE, cl100k::end, text.as_bytes()),
            Self::Chars4 => {
                let count = self.count(text);
                (count, count)
            }
        }
    }

    /// The name by which models and configurations call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::Chars4 => "chars4",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name).ok_or(UnknownEncoding)
    }
}

/// A name that is not the name of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownEncoding;

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown encoding; known are `o200k_base`, `cl100k_base` and `chars4`")
    }
}

impl std::error::Error for UnknownEncoding {}

/// The tokens of all pieces, or `None` once they are more than `limit`. `piece_end` is a function of `split`.
#[inline(always)]
fn count_pieces(
    vocabulary: &Vocabulary,
    piece_end: impl Fn(&[u8], usize) -> usize,
    text: &[u8],
    limit: usize,
) -> Option<usize> {
    if vocabulary.fewest(text.len()) > limit {
        return None;
    }
    let mut merger = Merger::default();
    let mut memo = Memo::default();
    let mut count = 0;
    let mut start = 0;
    while start < text.len() {
        let end = piece_end(text, start);
        count += if vocabulary.contains(text, start, end) {
            1
        } else {
            memo.count(text, start, end, || merger.count(vocabulary, &text[start..end], limit - count))?
        };
        if count > limit {
            return None;
        }
        start = end;
    }
    Some(count)
}

#[inline(always)]
fn piece_bounds(vocabulary: &Vocabulary, piece_end: impl Fn(&[u8], usize) -> usize, text: &[u8]) -> (usize, usize) {
    let mut lower = 0;
    let mut start = 0;
    while start < text.len() {
        let end = piece_end(text, start);
        lower += vocabulary.fewest(end - start);
        start = end;
    }
    (lower, text.len())
}

/// A character has at most four bytes, so a text has at least a quarter as many characters as bytes.
fn chars4_within(text: &str, limit: usize) -> Option<usize> {
    if text.len().div_ceil(16) > limit {
        return None;
    }
    let count = text.chars().count().div_ceil(4);
    (count <= limit).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.to_string().parse(), Ok(encoding));
        }
        for name in ["", "o200k", "O200K_BASE", " chars4"] {
            assert_eq!(name.parse::<Encoding>(), Err(UnknownEncoding));
        }
    }

    #[test]
    fn chars4_rounds_up() {
        for (text, count) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("中文字符", 1), ("😀😀😀😀😀", 2)]
        {
            assert_eq!(Encoding::Chars4.count(text), count, "{text}");
        }
    }
}
