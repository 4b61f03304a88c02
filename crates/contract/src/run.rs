//! How far a run of bytes goes.
//!
//! Reading JSON is mostly this question: where does this string end, where does this white space. It is asked of sixteen
//! bytes at a time, with vectors that every processor we build for has.

use wide::u8x16;

const BLOCK: usize = 16;

/// Where the run of bytes that need no attention ends: at a quote, a backslash, a control byte, or the end.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], from: usize) -> usize {
    let stops = |block: u8x16| {
        let control = block.min(u8x16::splat(0x1F)).simd_eq(block);
        control | block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\'))
    };
    end(bytes, from, stops, |byte| matches!(byte, b'"' | b'\\' | 0..=0x1F))
}

/// Where the run of JSON's white space ends.
#[inline]
pub(crate) fn space_end(bytes: &[u8], from: usize) -> usize {
    end(bytes, from, not_space, |byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Whether the run of JSON's white space is `length` bytes long. May be wrong when it says no: of long ones, and near the
/// end.
#[inline]
pub(crate) fn is_space_end(bytes: &[u8], from: usize, length: usize) -> bool {
    let block = bytes.get(from..).and_then(|rest| rest.first_chunk::<BLOCK>());
    block.is_some_and(|block| {
        let found = not_space(u8x16::new(*block)).to_bitmask();
        length < BLOCK && found & ((2 << length) - 1) == 1 << length
    })
}

#[inline]
fn not_space(block: u8x16) -> u8x16 {
    let lines = block.simd_eq(u8x16::splat(b'\n')) | block.simd_eq(u8x16::splat(b'\r'));
    !(lines | block.simd_eq(u8x16::splat(b' ')) | block.simd_eq(u8x16::splat(b'\t')))
}

/// Both closures say which bytes are no longer of the run, of a block and of one byte.
#[inline]
fn end(bytes: &[u8], from: usize, stops: impl Fn(u8x16) -> u8x16, is_stop: impl Fn(&u8) -> bool) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let found = stops(u8x16::new(*block)).to_bitmask();
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    last(bytes, at, is_stop)
}

/// What is left after the last whole block: the end of the document, which is met once.
#[cold]
#[inline(never)]
fn last(bytes: &[u8], from: usize, is_stop: impl Fn(&u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().position(is_stop).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_ends_where_looking_byte_by_byte_says(
            bytes in prop::collection::vec(prop_oneof![
                9 => Just(b' '), 3 => Just(b'\n'), 9 => Just(b'a'), 1 => any::<u8>(), 1 => Just(b'"'), 1 => 0x1Eu8..0x23,
            ], 0..80),
            from in 0usize..90,
        ) {
            let first = |stops: fn(u8) -> bool| (from..bytes.len()).find(|at| stops(bytes[*at]));
            let plain = first(|byte| byte < b' ' || byte == b'"' || byte == b'\\').unwrap_or(bytes.len().max(from));
            let space = first(|byte| !b" \t\r\n".contains(&byte)).unwrap_or(bytes.len().max(from));
            prop_assert_eq!((plain_end(&bytes, from), space_end(&bytes, from)), (plain, space));
            for length in 0..20 {
                let sure = length < BLOCK && from + BLOCK <= bytes.len();
                prop_assert_eq!(is_space_end(&bytes, from, length), sure && from + length == space);
            }
        }
    }
}
