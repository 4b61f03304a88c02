//! Ids of traces and spans. They follow from what a span is about, so that the same thing has the same id whenever it is sent.

use sha2::{Digest, Sha256};
use std::fmt;

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId([u8; 16]);

/// The id of a span, unlike any other in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId([u8; 8]);

impl TraceId {
    /// The trace of something that has a UUID: the same number. An id of any other form, or one that is nothing but zeros, which
    /// no trace may have, is hashed.
    pub fn of_uuid(text: &str) -> Self {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
        match bytes_of(&digits) {
            Some(bytes) if bytes != [0; 16] => Self(bytes),
            _ => Self::of_name("id", text),
        }
    }

    /// The trace of something that has a name of its own form.
    pub fn of_name(kind: &str, name: &str) -> Self {
        Self(first(&hashed(&["countersign.trace", kind, name])))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl SpanId {
    /// The span of something in a trace.
    pub fn of(trace: TraceId, kind: &str, name: &str) -> Self {
        Self(first(&hashed(&["countersign.span", &trace.to_string(), kind, name])))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Sixteen bytes from thirty-two digits.
fn bytes_of(digits: &[u8]) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    if digits.len() != 32 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}

/// A hash of several texts of which none runs into the next.
fn hashed(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// The first bytes of a hash; never zeros alone, which is no id.
fn first<const N: usize>(hash: &[u8; 32]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&hash[..N]);
    if bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

fn hex(bytes: &[u8], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, out)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_its_trace_and_anything_else_has_one_too() {
        let uuid = "550e8400-e29b-41d4-a716-446655440000";
        assert_eq!(TraceId::of_uuid(uuid).to_string(), "550e8400e29b41d4a716446655440000");
        assert_eq!(TraceId::of_uuid(&uuid.replace('-', "")), TraceId::of_uuid(uuid));
        for text in ["", "trace-7", "00000000-0000-0000-0000-000000000000", "550e8400-e29b-41d4-a716-44665544000g", "é"]
        {
            let id = TraceId::of_uuid(text);
            assert_eq!(id, TraceId::of_uuid(text), "{text}");
            assert_ne!(id.bytes(), [0; 16], "{text}");
        }
    }

    #[test]
    fn no_part_of_a_name_runs_into_the_next() {
        let trace = TraceId::of_name("a", "b");
        assert_ne!(SpanId::of(trace, "ab", "c"), SpanId::of(trace, "a", "bc"));
        assert_ne!(SpanId::of(trace, "a", "b"), SpanId::of(TraceId::of_name("a", "c"), "a", "b"));
    }
}
