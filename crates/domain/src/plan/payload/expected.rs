//! What must stand somewhere.

use countersign_contract::{Cursor, Json, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::ops::Deref;

/// Any JSON value, or none. Null is a value like any other here: that nothing is asked for is said by leaving it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected(Option<Json>);

impl Deref for Expected {
    type Target = Option<Json>;

    fn deref(&self) -> &Option<Json> {
        &self.0
    }
}

impl Serialize for Expected {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for Expected {
    const REQUIRED: bool = false;

    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        Json::read(at, report).map(|value| Self(Some(value)))
    }

    fn absent(_: Cursor<'_>, _: &str, _: &mut Report) -> Option<Self> {
        Some(Self(None))
    }

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }

    fn schema(schemas: &mut Schemas) -> Value {
        Json::schema(schemas)
    }

    fn example() -> Value {
        Json::example()
    }
}
