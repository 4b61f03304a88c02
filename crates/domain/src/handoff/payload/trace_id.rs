//! The id that a whole chain of handoffs shares.

use crate::ids::is_uuid_v4;
use countersign_contract::diagnostic::Repair;
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, Report, Schemas, Shape};
use serde::{Serialize, Serializer};

/// A UUID in lower case. That it is a version 4 is a rule, not its shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceId(String);

impl TraceId {
    /// The form as a regular expression.
    pub const PATTERN: &'static str = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

    /// The id, if the text is of the form.
    pub fn parse(text: &str) -> Option<Self> {
        is_uuid(text.as_bytes()).then(|| Self(text.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a UUID of version 4.
    pub fn is_v4(&self) -> bool {
        is_uuid_v4(&self.0)
    }
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl Shape for TraceId {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        let found = Self::parse(text);
        if found.is_none() && text.trim().is_empty() {
            report.empty(at, "the trace id");
        } else if found.is_none() {
            // Case and white space around it carry nothing, so the same id can be written as it should be.
            let lower = text.trim().to_ascii_lowercase();
            let finding = report.bad_format(at, "a UUID in lower case");
            if is_uuid(lower.as_bytes()) {
                let pointer = finding.pointer.clone();
                finding.repair(Repair::replace(pointer, lower, "write the same id in lower case"));
            }
        }
        found
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string", "pattern": Self::PATTERN })
    }

    fn example() -> Value {
        "550e8400-e29b-41d4-a716-446655440000".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_version_four_counts_as_drawn_at_random() {
        let cases = [
            ("550e8400-e29b-41d4-a716-446655440000", Some(true)),
            ("a1b2c3d4-e5f6-7890-abcd-ef1234567890", Some(false)),
            ("550e8400-e29b-41d4-c716-446655440000", Some(false)),
            ("550E8400-e29b-41d4-a716-446655440000", None),
            ("550e8400e29b-41d4-a716-4466554400000", None),
            ("550e8400-e29b-41d4-a716-44665544000", None),
        ];
        for (text, v4) in cases {
            assert_eq!(TraceId::parse(text).map(|id| id.is_v4()), v4, "{text}");
        }
    }
}
