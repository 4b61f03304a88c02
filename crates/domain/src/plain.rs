//! Whether there is nothing to say of a path at first sight, as of nearly all.
//!
//! Every path of every document is asked this, hence sixteen bytes at a time. One that is not plain may be sound all the
//! same; whoever asks takes the longer look then.

use wide::u8x16;

const BLOCK: usize = 16;

/// Whether a text is made of ASCII letters, digits, `_`, `-` and `.` in segments of which none is empty or begins with a
/// dot. Texts longer than a mask has bits are not looked at.
pub(crate) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let length = bytes.len();
    if length == 0 || length > u64::BITS as usize {
        return false;
    }
    let (mut fit, mut slashes, mut dots) = (0, 0, 0);
    for (chunk, at) in bytes.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let (block, at) = match (chunk.first_chunk(), bytes.last_chunk()) {
            (Some(block), _) => (*block, at),
            // The last ones, of which some were looked at before.
            (None, Some(block)) => (*block, length - BLOCK),
            (None, None) => (filled(chunk), at),
        };
        let block = u8x16::new(block);
        let among = |first: u8, block: u8x16, count: u8| {
            let offset = block - u8x16::splat(first);
            offset.min(u8x16::splat(count - 1)).simd_eq(offset)
        };
        let letters = among(b'a', block | u8x16::splat(0x20), 26);
        // `-`, `.`, `/` and the digits follow one another.
        let signs = among(b'-', block, 13) | block.simd_eq(u8x16::splat(b'_'));
        fit |= u64::from((letters | signs).to_bitmask()) << at;
        slashes |= u64::from(block.simd_eq(u8x16::splat(b'/')).to_bitmask()) << at;
        dots |= u64::from(block.simd_eq(u8x16::splat(b'.')).to_bitmask()) << at;
    }
    let starts = slashes << 1 | 1;
    let last = 1 << (length - 1);
    fit.trailing_ones() as usize == length && starts & (slashes | dots) == 0 && slashes & last == 0
}

fn filled(chunk: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_plain_when_all_of_its_segments_are(
            text in r"([a-zA-Z0-9_.-]{1,9}/){0,9}[a-zA-Z0-9_.-]{0,20}|[a-z./@`\[{ :,é\\]{0,70}",
        ) {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            let sound = |segment: &str| !segment.is_empty() && !segment.starts_with('.') && segment.bytes().all(plain);
            prop_assert_eq!(is_plain(&text), text.len() <= 64 && text.split('/').all(sound));
        }
    }
}
