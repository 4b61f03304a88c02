//! How keys become places in the tables. The build script compiles this same file, so a table and its reader cannot
//! disagree.
//!
//! A table is a perfect hash: the key's hash chooses a *pilot*, and hash and pilot together choose the one slot in
//! which the key can be. A question costs two reads, found or not, and no input can make it cost more.

/// Tokens up to this many bytes are stored as a number in their slot; longer ones as a place in the list of texts.
pub(crate) const SHORT_BYTES_MAX: usize = 7;

/// A slot of the pair table holds three token ids of this many bits.
pub(crate) const ID_BITS: u32 = 18;

/// No token: what two tokens become that do not merge, and what stands before the first and after the last. Above
/// every id, and merges with nothing.
pub(crate) const NONE: u32 = (1 << ID_BITS) - 1;

/// A slot of the table of long tokens is an offset into the texts, below a tag of the remaining bits of a `u32`.
pub(crate) const OFFSET_BITS: u32 = 20;

/// The table of classes has a row for each different block of this many characters.
pub(crate) const CHAR_BLOCK: usize = 128;

/// What the split patterns tell apart. One bit each, so that a set of classes is a mask; each character has exactly
/// one.
pub(crate) mod class {
    /// `\p{Lu}` and `\p{Lt}`
    pub(crate) const UPPER: u8 = 1;
    /// `\p{Ll}`
    pub(crate) const LOWER: u8 = 1 << 1;
    /// `\p{Lm}` and `\p{Lo}`: letters without case.
    pub(crate) const LETTER: u8 = 1 << 2;
    /// `\p{M}`
    pub(crate) const MARK: u8 = 1 << 3;
    /// `\p{N}`
    pub(crate) const NUMBER: u8 = 1 << 4;
    /// `\s` without `\r` and `\n`
    pub(crate) const SPACE: u8 = 1 << 5;
    /// `\r` and `\n`
    pub(crate) const NEWLINE: u8 = 1 << 6;
    /// Everything else.
    pub(crate) const OTHER: u8 = 1 << 7;
}

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const STIR: u64 = 0xD6E8_FEB8_6659_FD93;

/// The key of a token of at most [`SHORT_BYTES_MAX`] bytes, given as a little-endian number without stray bits. The
/// length is part of the key because a token may end in NUL bytes.
pub(crate) const fn short_key(bytes: u64, len: usize) -> u64 {
    bytes | (len as u64) << 56
}

/// The key of two adjacent tokens.
pub(crate) const fn pair_key(left: u32, right: u32) -> u64 {
    (left as u64) << ID_BITS | right as u64
}

/// Spreads a key over all 64 bits, the upper ones most evenly. Different keys have different hashes.
pub(crate) const fn mix(key: u64) -> u64 {
    let spread = key.wrapping_mul(SPREAD);
    spread ^ spread >> 32
}

/// The hash of a token longer than [`SHORT_BYTES_MAX`] bytes: whole words, then the last eight bytes again.
pub(crate) fn mix_long(text: &[u8]) -> u64 {
    let (words, _) = text.as_chunks::<8>();
    let mut hash = mix(text.len() as u64);
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word)).rotate_left(29);
    }
    if let Some(last) = text.last_chunk::<8>() {
        hash ^= u64::from_le_bytes(*last);
    }
    mix(hash)
}

/// Which of `pilots` pilots decides about this hash. Their number is a power of two above 1.
pub(crate) const fn pilot_index(hash: u64, pilots: usize) -> usize {
    (hash >> ((pilots as u64).leading_zeros() + 1)) as usize
}

/// In which of `slots` slots the key with this hash can be.
pub(crate) const fn slot_index(hash: u64, pilot: u16, slots: usize) -> usize {
    let moved = hash ^ (pilot as u64).wrapping_mul(SPREAD);
    (((moved.wrapping_mul(STIR) >> 32) * slots as u64) >> 32) as usize
}

/// The bits of a hash that a slot of the table of long tokens keeps, so that most strangers are turned away unread.
pub(crate) const fn tag(hash: u64) -> u32 {
    hash as u32 >> OFFSET_BITS
}
