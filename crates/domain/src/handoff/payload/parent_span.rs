//! The span that a handoff hangs under.

use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, Kind, Report, Schemas, Shape};
use serde::{Serialize, Serializer};

/// The span above this one. Nothing is said, or null for a root span, or its id: the one field of the contract where
/// null has a meaning of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParentSpan {
    /// The field is not there.
    Unsaid,
    /// `null`
    Root,
    /// The id of the span above.
    Under(String),
}

impl Serialize for ParentSpan {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            ParentSpan::Unsaid | ParentSpan::Root => out.serialize_unit(),
            ParentSpan::Under(span) => out.serialize_str(span),
        }
    }
}

impl Shape for ParentSpan {
    const REQUIRED: bool = false;

    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() == Kind::Null {
            return Some(ParentSpan::Root);
        }
        String::read(at, report).map(ParentSpan::Under)
    }

    fn absent(_: Cursor<'_>, _: &str, _: &mut Report) -> Option<Self> {
        Some(ParentSpan::Unsaid)
    }

    fn is_absent(&self) -> bool {
        *self == ParentSpan::Unsaid
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": ["string", "null"] })
    }

    fn example() -> Value {
        Value::Null
    }
}
