//! A list of which one item may be written without the list.

use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Cursor, Kind, List, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::ops::Deref;

/// At least one item, unless `MIN` says otherwise; a single one may stand without the list around it.
#[derive(Debug, Clone, PartialEq)]
pub struct OneOrMany<T, const MIN: usize = 1> {
    items: Vec<T>,
    /// Whether the list was written. It is written back as it was.
    listed: bool,
}

/// A list that may be left out, and then may as well be written and be empty.
pub type AnyNumber<T> = OneOrMany<T, 0>;

impl<T, const MIN: usize> OneOrMany<T, MIN> {
    /// Where an item stands, if the whole stands at `place`.
    pub(crate) fn place_of(&self, index: usize, place: Pointer) -> Pointer {
        if self.listed { place.item(index) } else { place }
    }
}

impl<T, const MIN: usize> Deref for OneOrMany<T, MIN> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T: Serialize, const MIN: usize> Serialize for OneOrMany<T, MIN> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.items.as_slice() {
            [only] if !self.listed => only.serialize(out),
            items => items.serialize(out),
        }
    }
}

impl<T: Shape + Clone, const MIN: usize> Shape for OneOrMany<T, MIN> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() == Kind::List {
            return List::<T, MIN>::read(at, report).map(|items| Self { items: items.to_vec(), listed: true });
        }
        T::read(at, report).map(|item| Self { items: vec![item], listed: false })
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [T::schema(schemas), List::<T, MIN>::schema(schemas)] })
    }

    fn example() -> Value {
        json!([T::example()])
    }
}
