//! A document back into text: as a value, compact, and in RFC 8785's canonical form.

use crate::document::{Cursor, Kind};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

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
            Kind::Text => write_text(self.raw(), out),
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
                    write_text(key.raw(), out);
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
        }
    }

    /// Canonical JSON by RFC 8785.
    pub fn canonical(self) -> String {
        let mut out = String::with_capacity(self.span().len());
        self.write_canonical(&mut out);
        out
    }

    fn write_canonical(self, out: &mut String) {
        match self.kind() {
            Kind::Null | Kind::Bool => out.push_str(self.raw()),
            Kind::Number => write_number(self.raw().parse().unwrap_or(0.0), out),
            Kind::Text => write_text(self.raw(), out),
            Kind::List => {
                out.push('[');
                for (index, item) in self.items().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_canonical(out);
                }
                out.push(']');
            }
            Kind::Object => {
                let mut members: Vec<_> = self.entries().map(|(key, value)| (key.raw(), value)).collect();
                members.sort_by(|(one, _), (other, _)| key_order(one, other));
                out.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write_canonical(out);
                }
                out.push('}');
            }
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let mut out = String::with_capacity(64);
    for byte in digest {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

/// RFC 8785 orders keys by UTF-16 code units. That differs from the order of bytes only where a character outside the
/// basic plane meets one above the surrogates.
fn key_order(one: &str, other: &str) -> std::cmp::Ordering {
    if one.is_ascii() && other.is_ascii() { one.cmp(other) } else { one.encode_utf16().cmp(other.encode_utf16()) }
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
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x09 => "\\t",
            0x0A => "\\n",
            0x0C => "\\f",
            0x0D => "\\r",
            0x00..=0x1F => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escape);
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}
