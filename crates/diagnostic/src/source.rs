//! The text of a document, and how bytes of it become lines and columns.

use std::ops::Range;

/// A named text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// How it is called in output: a path, or `<stdin>`.
    pub name: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// A place in a text as people count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Source<'_> {
    /// Where a byte range begins and ends.
    pub fn places(&self, span: &Range<usize>) -> (Place, Place) {
        (self.place(span.start), self.place(span.end))
    }

    fn place(&self, byte: usize) -> Place {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            line: before.bytes().filter(|it| *it == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let source = Source { name: "x", text: "ä: 1\nö: 2\n" };
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        assert_eq!(source.place(3), Place { line: 1, column: 3 });
        assert_eq!(source.place(8), Place { line: 2, column: 2 });
        assert_eq!(source.place(999), Place { line: 3, column: 1 });
    }
}
