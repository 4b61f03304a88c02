//! How long a value is as compact JSON, without writing it down.

use countersign_contract::{Cursor, Kind};
use std::ops::{Add, AddAssign};

/// How many characters are taken for one token where tokens are not counted.
pub const TOKEN_CHARS: usize = 4;

/// The length of compact JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// In bytes of UTF-8.
    pub bytes: usize,
    /// In characters.
    pub chars: usize,
}

impl Size {
    /// A quarter of the characters, rounded up.
    pub fn estimate(self) -> usize {
        estimate(self.chars)
    }

    fn ascii(length: usize) -> Self {
        Self { bytes: length, chars: length }
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, chars: self.chars + other.chars }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// About how many tokens so many characters are.
pub fn estimate(chars: usize) -> usize {
    chars.div_ceil(TOKEN_CHARS)
}

/// The size of a value as [`Cursor::compact`] writes it.
pub fn size(at: Cursor<'_>) -> Size {
    Gauge::of(at).size(at)
}

/// Measures the values of one document.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    /// Every character is one byte.
    ascii: bool,
}

impl Gauge {
    /// For the document that `at` is a place of.
    pub fn of(at: Cursor<'_>) -> Self {
        Self { ascii: at.document().text().is_ascii() }
    }

    /// The size of a value.
    pub fn size(self, at: Cursor<'_>) -> Size {
        let length = if self.ascii { at.compact_len() } else { None };
        length.map_or_else(|| self.walk(at), Size::ascii)
    }

    /// The size of a value with texts that must be looked at.
    fn walk(self, at: Cursor<'_>) -> Size {
        match at.kind() {
            Kind::Null | Kind::Bool | Kind::Number => Size::ascii(scalar(at)),
            Kind::Text => self.text(at),
            Kind::List => {
                let (mut total, mut count) = (Size::default(), 0);
                for item in at.items() {
                    total += self.walk(item);
                    count += 1;
                }
                total + marks(count)
            }
            Kind::Object => {
                let (mut total, mut count) = (Size::default(), 0);
                for (key, value) in at.entries() {
                    total += self.text(key) + self.walk(value) + Size::ascii(1);
                    count += 1;
                }
                total + marks(count)
            }
        }
    }

    /// The size of a member: key, colon, value.
    pub fn member(self, (key, value): (Cursor<'_>, Cursor<'_>)) -> Size {
        self.text(key) + self.size(value) + Size::ascii(1)
    }

    fn text(self, at: Cursor<'_>) -> Size {
        const QUOTES: usize = 2;
        if self.ascii && at.is_as_written() {
            return Size::ascii(at.span().len());
        }
        let text = at.text().unwrap_or_default();
        let added = QUOTES + if at.is_as_written() { 0 } else { text.bytes().map(escape).sum() };
        Size { bytes: text.len() + added, chars: text.chars().count() + added }
    }
}

/// Brackets and commas of a list or object.
pub fn marks(items: usize) -> Size {
    Size::ascii(2 + usize::max(items, 1) - 1)
}

fn scalar(at: Cursor<'_>) -> usize {
    match at.kind() {
        Kind::Number => at.number().map_or(0, str::len),
        Kind::Bool if at.bool() == Some(false) => 5,
        _ => 4,
    }
}

/// By how many bytes a byte grows when it is escaped.
fn escape(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0C | b'\r' => 1,
        0x00..=0x1F => 5,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

    use super::*;
    use countersign_contract::serde_json::{Value, json};
    use countersign_contract::{Form, SIZE_MAX, parse};
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991i64..9_007_199_254_740_991).prop_map(Value::from),
            (-1e6f64..1e6).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-z\"\\\\\n\t\u{1}\u{8}é漢😀]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|members| json!(members)),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_size_is_that_of_the_compact_text(value in any_value()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            let document = parse(&text, Form::Json, SIZE_MAX).unwrap();
            let compact = document.root().compact();
            let size = size(document.root());
            prop_assert_eq!((size.bytes, size.chars), (compact.len(), compact.chars().count()));
        }

        #[test]
        fn escapes_and_other_forms_change_nothing(text in "[a-z\"\\\\\n\t\u{1}é漢😀]{0,20}") {
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let written = format!("{{\"{escaped}\": [\"{escaped}\", 1.50, false]}}");
            for form in [Form::Json, Form::Yaml] {
                let document = parse(&written, form, SIZE_MAX).unwrap();
                let compact = document.root().compact();
                let size = size(document.root());
                prop_assert_eq!((size.bytes, size.chars), (compact.len(), compact.chars().count()));
            }
        }
    }
}
