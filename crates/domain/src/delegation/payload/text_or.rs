//! A value that may be written as a text or in its own kind.

use countersign_contract::serde::{Serialize, Serializer};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, Kind, Report, Schemas, Shape, Text};

/// A text, or a `T`: platforms call one workflow `deploy.yml` and `30433642`, and both are its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextOr<T> {
    /// Written as a text.
    Text(Text),
    /// Written in its own kind.
    Other(T),
}

impl<T: Serialize> Serialize for TextOr<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            TextOr::Text(text) => text.serialize(out),
            TextOr::Other(other) => other.serialize(out),
        }
    }
}

impl<T: Shape> Shape for TextOr<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        match at.kind() {
            Kind::Text => Text::read(at, report).map(TextOr::Text),
            _ => T::read(at, report).map(TextOr::Other),
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [<Text as Shape>::schema(schemas), T::schema(schemas)] })
    }

    fn example() -> Value {
        T::example()
    }
}
