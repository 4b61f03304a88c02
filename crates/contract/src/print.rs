//! A document back into text: as a value, compact, and in RFC 8785's canonical form.

mod canonical;

use crate::document::{Cursor, Kind};
use crate::run::plain_end;
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

impl Cursor<'_> {
    /// The value that stands here.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.bool() == Some(true)),
            Kind::Number => number(self.raw()).map_or(Value::Null, Value::Number),
            Kind::Text => Value::String(self.raw().to_owned()),
            Kind::List => Value::Array(self.items().map(Cursor::to_value).collect()),
            Kind::Object => {
                let members = self.entries().map(|(key, value)| (key.raw().to_owned(), value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Compact JSON with members in the order written and numbers as written.
    pub fn compact(self) -> String {
        let mut out = String::with_capacity(self.span().len());
        self.write_compact(&mut out);
        out
    }

    fn write_compact(self, out: &mut String) {
        match self.kind() {
            Kind::Null | Kind::Bool | Kind::Number => out.push_str(self.raw()),
            Kind::Text => self.write_text(out),
            Kind::List => {
                out.push('[');
                for (index, item) in self.items().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_compact(out);
                }
                out.push(']');
            }
            Kind::Object => {
                out.push('{');
                for (index, (key, value)) in self.entries().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    key.write_text(out);
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
        }
    }

    /// Canonical JSON by RFC 8785.
    pub fn canonical(self) -> String {
        let mut text = Vec::new();
        canonical::written(self, usize::MAX, |bytes| text.extend_from_slice(bytes));
        // Made of texts and signs, so it is one.
        String::from_utf8(text).unwrap_or_default()
    }

    /// The SHA-256 of canonical JSON, in lower-case hexadecimal.
    pub fn canonical_sha256(self) -> String {
        // A hash waits for itself most of the time. Given a little at a time, it does so while the next piece is written.
        const STRETCH: usize = 128;
        let mut hash = Sha256::new();
        canonical::written(self, STRETCH, |bytes| hash.update(bytes));
        hex(&hash.finalize())
    }

    /// Most texts are copied as they stand.
    fn write_text(self, out: &mut String) {
        if self.is_as_written() {
            out.push_str(&self.document().text()[self.span()]);
        } else {
            write_text(self.raw(), out);
        }
    }
}

/// Canonical JSON of a value, by RFC 8785.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => write_number(value.as_f64().unwrap_or(0.0), out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| key_order(one, other));
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
    }
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(hash: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    let mut out = [[0; 2]; 32];
    for (pair, byte) in out.iter_mut().zip(hash) {
        *pair = digits(*byte);
    }
    String::from_utf8_lossy(out.as_flattened()).into_owned()
}

/// RFC 8785 orders keys by UTF-16 code units. That is the order of UTF-8's bytes, except that characters outside the
/// basic plane (from 0xF0) come before those above the surrogates (0xEE and 0xEF).
fn key_order(one: &str, other: &str) -> Ordering {
    match one.bytes().zip(other.bytes()).find(|(one, other)| one != other) {
        Some((one, other)) if one >= 0xEE && other >= 0xEE && (one >= 0xF0) != (other >= 0xF0) => other.cmp(&one),
        Some((one, other)) => one.cmp(&other),
        None => one.len().cmp(&other.len()),
    }
}

fn number(written: &str) -> Option<Number> {
    if let Ok(whole) = written.parse::<i64>() {
        return Some(Number::from(whole));
    }
    Number::from_f64(written.parse().ok()?)
}

fn write_number(value: f64, out: &mut String) {
    let mut buffer = ryu_js::Buffer::new();
    out.push_str(buffer.format_finite(value));
}

/// A JSON string with the shortest escapes, as `JSON.stringify` and RFC 8785 write it.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let to = plain_end(bytes, from);
        out.push_str(&text[from..to]);
        let Some(byte) = bytes.get(to) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x09 => out.push_str("\\t"),
            0x0A => out.push_str("\\n"),
            0x0C => out.push_str("\\f"),
            0x0D => out.push_str("\\r"),
            other => out.push_str(&format!("\\u{other:04x}")),
        }
        from = to + 1;
    }
    out.push('"');
}
