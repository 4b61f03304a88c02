//! SHA-256 values, and how events, texts and the chain are hashed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;

/// A SHA-256 value. Written as 64 lower-case hexadecimal digits, and read from nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// What the first event names as its predecessor.
    pub const NONE: Hash = Hash([0; 32]);

    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash that stands for a text in the event that brought it: the salt keeps a short text from being guessed
    /// once it is erased.
    pub fn of_text(salt: &[u8], body: &[u8]) -> Self {
        Self(Sha256::new().chain_update(salt).chain_update(body).finalize().into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        // Without a branch for each digit: two hashes are read of every event.
        let mut bytes = [0; 32];
        let mut strange = false;
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            let ((high, high_is), (low, low_is)) = (any_digit(pair[0]), any_digit(pair[1]));
            *byte = high << 4 | low;
            strange |= !(high_is & low_is);
        }
        (!strange).then_some(Self(bytes))
    }

    /// The 64 digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Hands out the 64 digits without an allocation: hashes are written into every event.
    pub(crate) fn with_hex<T>(&self, write: impl FnOnce(&str) -> T) -> T {
        let mut digits = [0; 64];
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = digits_of(byte);
        }
        // Digits are ASCII.
        write(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

#[inline]
fn digits_of(byte: u8) -> [u8; 2] {
    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
    [digit(byte >> 4), digit(byte & 15)]
}

fn digit(letter: u8) -> Option<u8> {
    let (value, is) = any_digit(letter);
    is.then_some(value)
}

/// What a digit stands for, and whether it is one.
#[inline]
fn any_digit(letter: u8) -> (u8, bool) {
    let (number, small) = (letter.wrapping_sub(b'0'), letter.wrapping_sub(b'a'));
    let value = if number < 10 { number } else { small.wrapping_add(10) };
    (value, (number < 10) | (small < 6))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| digits_of(*byte)).map(char::from).collect()
}

/// Hexadecimal digits as bytes: lower case, an even number of them.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_hex(|digits| out.write_str(digits))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_hex(|digits| out.write_str(digits))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.with_hex(|digits| out.serialize_str(digits))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(from)?;
        Self::from_hex(text).ok_or_else(|| serde::de::Error::custom("a hash is 64 lower-case hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_from_its_64_digits_and_from_nothing_else() {
        let hash = Hash::of(b"a");
        let digits = hash.hex();
        assert_eq!(Hash::from_hex(&digits), Some(hash));
        assert_eq!(Hash::from_hex(&digits[1..]), None);
        assert_eq!(Hash::from_hex(&format!("{digits}0")), None);
        for at in [0, 1, 31, 62, 63] {
            for letter in (0..=127_u8).map(char::from) {
                let changed = format!("{}{letter}{}", &digits[..at], &digits[at + 1..]);
                let is_digit = letter.is_ascii_digit() || ('a'..='f').contains(&letter);
                assert_eq!(Hash::from_hex(&changed).map(|it| it.hex()), is_digit.then_some(changed));
            }
        }
    }
}
