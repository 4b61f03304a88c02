//! A search for the fragments of eight groups that has nothing to build: which of them a byte leaves possible at each of the
//! first three places is known when the program is compiled.
//!
//! It takes a few steps for each byte, where Teddy takes a few for 32; but to build Teddy takes as many as to search some ten
//! thousand bytes like this, and most programs that start have one small document to look at, or a name.

use super::anchor::{COLUMNS, Lead, ROWS};

/// The fragments of some groups by their first bytes. The n-th bit stands for the n-th fragment, row by row, as Teddy counts
/// them.
pub struct Table {
    groups: &'static [&'static [(&'static str, Lead)]],
    first: [u32; 256],
    second: [u32; 256],
    third: [u32; 256],
}

impl Table {
    /// The table of at most eight groups, whose fragments have three bytes at least.
    pub const fn of(groups: &'static [&'static [(&'static str, Lead)]]) -> Self {
        assert!(groups.len() <= COLUMNS && COLUMNS * ROWS <= 32);
        let (mut first, mut second, mut third) = ([0; 256], [0; 256], [0; 256]);
        let mut column = 0;
        while column < groups.len() {
            let mut row = 0;
            while row < groups[column].len() {
                let (text, bit) = (groups[column][row].0.as_bytes(), 1 << (row * COLUMNS + column));
                first[fold(text[0]) as usize] |= bit;
                second[fold(text[1]) as usize] |= bit;
                third[fold(text[2]) as usize] |= bit;
                row += 1;
            }
            column += 1;
        }
        Self { groups, first, second, third }
    }

    /// The first fragment at or after `from`: which, and where.
    pub fn find(&self, block: &[u8], from: usize) -> Option<(usize, usize, usize)> {
        let rest = block.get(from..)?;
        rest.array_windows().enumerate().find_map(|(at, [one, two, three])| {
            let at_places = [(&self.first, one), (&self.second, two), (&self.third, three)];
            let mut possible =
                at_places.into_iter().fold(u32::MAX, |left, (table, byte)| left & table[usize::from(*byte)]);
            while possible != 0 {
                let which = possible.trailing_zeros() as usize;
                let (text, _) = self.groups.get(which % COLUMNS)?.get(which / COLUMNS)?;
                let there = rest.get(at..at + text.len()).unwrap_or_default();
                if there.iter().copied().eq(text.bytes().map(fold)) {
                    return Some((which, from + at, from + at + text.len()));
                }
                possible &= possible - 1;
            }
            None
        })
    }
}

/// Makes letters small and control characters blanks. Other characters may fall together: a fragment that is
/// found is a hint, and its matcher reads the bytes themselves.
pub const fn fold(byte: u8) -> u8 {
    (if byte < b' ' { b' ' } else { byte }) | 0x20
}
