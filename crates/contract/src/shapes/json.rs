//! Values whose shape is nobody's business here.

use crate::document::{Cursor, Form, Kind};
use crate::report::Report;
use crate::shape::{Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Any JSON value, kept as text. It is not taken apart until someone asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    fn of(at: Cursor<'_>) -> Self {
        match at.document().form() {
            Form::Json | Form::JsonLines => Self(at.document().text()[at.span()].into()),
            Form::Yaml | Form::Markdown => Self(at.compact().into()),
        }
    }

    /// The value, taken apart.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The value as it was written.
    pub fn written(&self) -> &str {
        &self.0
    }

    /// What it says, if it is a text.
    pub fn as_text(&self) -> Option<String> {
        self.0.starts_with('"').then(|| serde_json::from_str(&self.0).unwrap_or_default())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(out)
    }
}

impl Shape for Json {
    fn read(at: Cursor<'_>, _: &mut Report) -> Option<Self> {
        Some(Self::of(at))
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({})
    }

    fn example() -> Value {
        Value::Null
    }
}

/// Any JSON object, kept as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonObject(Json);

impl JsonObject {
    /// The object, taken apart.
    pub fn to_value(&self) -> Value {
        self.0.to_value()
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for JsonObject {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        report.expect(at, Kind::Object).then(|| Self(Json::of(at)))
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "object" })
    }

    fn example() -> Value {
        Value::Object(Map::new())
    }
}

/// A value that may be null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<T: Shape> Shape for Nullable<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() == Kind::Null { Some(Self(None)) } else { T::read(at, report).map(|it| Self(Some(it))) }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [T::schema(schemas), { "type": "null" }] })
    }

    fn example() -> Value {
        Value::Null
    }
}

/// Nothing but null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Null;

impl Serialize for Null {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_unit()
    }
}

impl Shape for Null {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        report.expect(at, Kind::Null).then_some(Self)
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "null" })
    }

    fn example() -> Value {
        Value::Null
    }
}
