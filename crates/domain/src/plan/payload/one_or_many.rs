//! A list of which one item may be written without the list.

use countersign_contract::{Cursor, Kind, List, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::ops::Deref;

/// At least one item; a single one may stand without the list around it.
#[derive(Debug, Clone, PartialEq)]
pub struct OneOrMany<T> {
    items: Vec<T>,
    /// Whether the list was written. It is written back as it was.
    listed: bool,
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.items.as_slice() {
            [only] if !self.listed => only.serialize(out),
            items => items.serialize(out),
        }
    }
}

impl<T: Shape + Clone> Shape for OneOrMany<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() == Kind::List {
            return List::<T, 1>::read(at, report).map(|items| Self { items: items.to_vec(), listed: true });
        }
        T::read(at, report).map(|item| Self { items: vec![item], listed: false })
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [T::schema(schemas), List::<T, 1>::schema(schemas)] })
    }

    fn example() -> Value {
        json!([T::example()])
    }
}
