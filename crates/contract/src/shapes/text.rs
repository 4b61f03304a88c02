//! Texts.

use crate::canon;
use crate::document::Cursor;
use crate::report::Report;
use crate::rules;
use crate::shape::{Schemas, Shape};
use compact_str::CompactString;
use countersign_diagnostic::Repair;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

impl Shape for String {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let text = at.text();
        if text.is_none() {
            report.wrong_kind(at, "a text");
        }
        text.map(str::to_owned)
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string" })
    }

    fn example() -> Value {
        "".into()
    }
}

/// A text of `MIN` to `MAX` characters. With `MIN` of 1 or more it must also say something: white space and letters that
/// cannot be seen are nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MIN: usize = 1, const MAX: usize = { usize::MAX }>(CompactString);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// The text, if it is neither too short nor too long.
    pub fn parse(text: &str) -> Option<Self> {
        let says = MIN == 0 || !canon::is_blank(text);
        let length = text.chars().count();
        (says && (MIN..=MAX).contains(&length)).then(|| Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> AsRef<str> for Text<MIN, MAX> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> Serialize for Text<MIN, MAX> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl<const MIN: usize, const MAX: usize> Shape for Text<MIN, MAX> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        if MIN > 0 && canon::is_blank(text) {
            report.empty(at, "this text");
            return None;
        }
        // A text has at most as many characters as bytes, so most need no counting.
        if text.len() > MAX {
            let length = text.chars().count();
            if length > MAX {
                // No repair: what is cut off would be lost.
                let message = format!("this text has {length} characters, {MAX} are allowed");
                report.find(&rules::LENGTH_EXCEEDED, at, message, "shorten it");
                return None;
            }
        }
        if MIN > 1 {
            let length = text.chars().count();
            if length < MIN {
                let message = format!("this text has {length} characters, at least {MIN} are wanted");
                report.find(&rules::LENGTH_EXCEEDED, at, message, "write more");
                return None;
            }
        }
        Some(Self(text.into()))
    }

    fn schema(_: &mut Schemas) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "string".into());
        if MIN > 0 {
            schema.insert("minLength".to_owned(), MIN.into());
            schema.insert("pattern".to_owned(), canon::SAYS_SOMETHING.into());
        }
        if MAX < usize::MAX {
            schema.insert("maxLength".to_owned(), MAX.into());
        }
        Value::Object(schema)
    }

    fn example() -> Value {
        "-".repeat(MIN.max(1)).into()
    }
}

/// The name of someone or something: 1 to 200 characters on one line, in Unicode's normal form C, without control or
/// direction characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(CompactString);

impl Name {
    const LENGTH_MAX: usize = 200;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl Shape for Name {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let text = Text::<1, { Name::LENGTH_MAX }>::read(at, report)?.0;
        if !text.is_ascii() || text.bytes().any(|byte| byte.is_ascii_control()) {
            if let Some(letter) = canon::letter_refused_in_name(&text) {
                let message = format!("a name holds the invisible character {}", letter.escape_unicode());
                report.find(&rules::FORMAT_INVALID, at, message, "remove it");
                return None;
            }
            if !canon::is_nfc(&text) {
                let normal = canon::nfc(&text).into_owned();
                let message = "a name is not in Unicode's normal form C";
                let found = report.find(&rules::FORMAT_INVALID, at, message, "write its letters composed");
                let pointer = found.pointer.clone();
                found.repair(Repair::replace(pointer, normal, "write its letters composed"));
                return None;
            }
        }
        Some(Self(text))
    }

    /// The schema cannot say normal form; control and direction characters it can.
    fn schema(_: &mut Schemas) -> Value {
        const REFUSED: &str =
            r"\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u2064\u2066-\u2069\uFEFF";
        json!({
            "type": "string",
            "minLength": 1,
            "maxLength": Name::LENGTH_MAX,
            "pattern": format!("^[^{REFUSED}]*[^{REFUSED}\\s][^{REFUSED}]*$"),
        })
    }

    fn example() -> Value {
        "someone".into()
    }
}
