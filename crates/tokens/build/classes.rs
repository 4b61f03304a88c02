//! The classes of characters that the split patterns tell apart, as a table of two levels.
//!
//! The classes come from `regex-syntax`, the same tables with which the reference's patterns are compiled.

use regex_syntax::hir::{Class, HirKind};

use crate::layout::{CHAR_BLOCK, class};

const PATTERNS: [(u8, &str); 7] = [
    (class::UPPER, r"[\p{Lu}\p{Lt}]"),
    (class::LOWER, r"\p{Ll}"),
    (class::LETTER, r"[\p{Lm}\p{Lo}]"),
    (class::MARK, r"\p{M}"),
    (class::NUMBER, r"\p{N}"),
    (class::SPACE, r"[\s--[\r\n]]"),
    (class::NEWLINE, r"[\r\n]"),
];

/// A byte for each block of characters, the number of its row; then the rows, a byte for each character.
pub(crate) fn table() -> Vec<u8> {
    let mut classes = vec![class::OTHER; 0x11_0000];
    for (class, pattern) in PATTERNS {
        for (first, last) in ranges(pattern) {
            classes[first as usize..=last as usize].fill(class);
        }
    }

    let mut rows: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for block in classes.chunks(CHAR_BLOCK) {
        let row = rows.iter().position(|&known| known == block).unwrap_or_else(|| {
            rows.push(block);
            rows.len() - 1
        });
        index.push(u8::try_from(row).expect("there are fewer than 256 different blocks"));
    }
    index.into_iter().chain(rows.concat()).collect()
}

fn ranges(pattern: &str) -> Vec<(char, char)> {
    let hir = regex_syntax::parse(pattern).expect("the pattern is a class");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("`{pattern}` is not a class of characters");
    };
    class.ranges().iter().map(|range| (range.start(), range.end())).collect()
}
