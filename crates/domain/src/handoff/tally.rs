//! Counting the tokens of a document, no further than an answer needs.

use super::measure::Size;
use countersign_contract::Cursor;
use countersign_tokens::Encoding;

/// The tokens of one document. Its compact text is written at most once, and counted only where its length alone does
/// not decide.
#[derive(Debug)]
pub struct Tally<'d> {
    root: Cursor<'d>,
    size: Size,
    encoding: Encoding,
    text: Option<String>,
    exact: Option<usize>,
}

impl<'d> Tally<'d> {
    /// A document, its size, and how its tokens are counted.
    pub fn new(root: Cursor<'d>, size: Size, encoding: Encoding) -> Self {
        Self { root, size, encoding, text: None, exact: None }
    }

    /// How tokens are counted.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many tokens there are about, by the number of characters.
    pub fn estimate(&self) -> usize {
        self.size.estimate()
    }

    /// How many tokens there are, if they are more than `limit`.
    pub fn beyond(&mut self, limit: usize) -> Option<usize> {
        // Every token is at least one byte long.
        if self.encoding != Encoding::Chars4 && self.size.bytes <= limit {
            return None;
        }
        if self.exact.is_none() && self.encoding != Encoding::Chars4 {
            // Stops where the limit is passed; the full count is wanted only for the message.
            let encoding = self.encoding;
            self.exact = encoding.count_within(self.text(), limit);
        }
        let count = self.exact();
        (count > limit).then_some(count)
    }

    /// How many tokens there are.
    pub fn exact(&mut self) -> usize {
        let count = match (self.exact, self.encoding) {
            (Some(count), _) => count,
            (None, Encoding::Chars4) => self.size.estimate(),
            (None, encoding) => encoding.count(self.text()),
        };
        self.exact = Some(count);
        count
    }

    fn text(&mut self) -> &str {
        let root = self.root;
        self.text.get_or_insert_with(|| root.compact())
    }
}
