//! A document back into text: as a value, compact, and in RFC 8785's canonical form.

use crate::document::{Cursor, Kind};
use crate::run::plain_end;
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

impl<'d> Cursor<'d> {
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
        // Made of texts and signs, so it is one.
        String::from_utf8(self.canonical_bytes()).unwrap_or_default()
    }

    /// The SHA-256 of canonical JSON, in lower-case hexadecimal.
    pub fn canonical_sha256(self) -> String {
        sha256_hex(&self.canonical_bytes())
    }

    fn canonical_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.span().len());
        self.write_canonical(&mut out, &mut Vec::new());
        out
    }

    /// `members` is room for the members of the objects that are open; each object uses what it adds to it.
    fn write_canonical(self, out: &mut Vec<u8>, members: &mut Vec<Member<'d>>) {
        match self.kind() {
            Kind::Null | Kind::Bool => out.extend_from_slice(self.raw().as_bytes()),
            Kind::Number if is_canonical(self.raw()) => out.extend_from_slice(self.raw().as_bytes()),
            Kind::Number => aside(out, |out| write_number(self.raw().parse().unwrap_or(0.0), out)),
            Kind::Text => self.write_canonical_text(out),
            Kind::List => {
                out.push(b'[');
                for (index, item) in self.items().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write_canonical(out, members);
                }
                out.push(b']');
            }
            Kind::Object => {
                let from = members.len();
                members.extend(self.entries().map(|(key, value)| (key.raw(), key.index(), value.index())));
                let to = members.len();
                members[from..].sort_unstable_by(|(one, ..), (other, ..)| key_order(one, other));
                out.push(b'{');
                for index in from..to {
                    let (_, key, value) = members[index];
                    if index > from {
                        out.push(b',');
                    }
                    self.document().at(key).write_canonical_text(out);
                    out.push(b':');
                    self.document().at(value).write_canonical(out, members);
                }
                out.push(b'}');
                members.truncate(from);
            }
        }
    }

    /// Most texts are copied as they stand.
    fn write_canonical_text(self, out: &mut Vec<u8>) {
        let written = self.document().text().as_bytes().get(self.span()).filter(|_| self.is_as_written());
        match written {
            Some(written) => out.extend_from_slice(written),
            None => aside(out, |out| write_text(self.raw(), out)),
        }
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

/// The name of a member, and the numbers of its key and its value: little to move while it is sorted.
type Member<'d> = (&'d str, u32, u32);

/// Adds what is written as text.
fn aside(out: &mut Vec<u8>, write: impl FnOnce(&mut String)) {
    let mut text = String::new();
    write(&mut text);
    out.extend_from_slice(text.as_bytes());
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let mut out = String::with_capacity(64);
    for byte in digest {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
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

/// Whether a number stands as canonical JSON writes it, as far as can be told without reading it: at most fifteen digits,
/// which always come back from a float, with no exponent, no zero at the end, and not so small that it would get one.
fn is_canonical(written: &str) -> bool {
    let (whole, fraction) = written.split_once('.').unwrap_or((written, "1"));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let short = written.len() <= 15 && fraction.len() <= 6;
    short && plain(digits) && plain(fraction) && !fraction.ends_with('0') && written != "-0"
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
