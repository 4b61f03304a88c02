//! Lists, and objects whose keys are free.

use crate::document::{Cursor, Kind};
use crate::report::Report;
use crate::rules;
use crate::shape::{Schemas, Shape};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map as Members, Value, json};
use std::ops::Deref;

/// A list of `MIN` to `MAX` items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const MIN: usize = 0, const MAX: usize = { usize::MAX }>(Vec<T>);

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Serialize, const MIN: usize, const MAX: usize> Serialize for List<T, MIN, MAX> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<T: Shape, const MIN: usize, const MAX: usize> Shape for List<T, MIN, MAX> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() != Kind::List {
            // An object may also be a list by names, which is no item of it.
            let is_item = || T::read(at, &mut Report::new(false)).is_some();
            report.no_list(at, at.kind() == Kind::Text || (at.kind() == Kind::Object && is_item()));
            return None;
        }
        let length = at.items().count();
        let mut items = Vec::with_capacity(length);
        let mut sound = true;
        for item in at.items() {
            match T::read(item, report) {
                Some(item) => items.push(item),
                None => sound = false,
            }
        }
        if length == 0 && MIN > 0 {
            report.empty(at, "this list");
            return None;
        }
        if length < MIN {
            let message = format!("this list has {length} items, at least {MIN} are wanted");
            report.find(&rules::LENGTH_EXCEEDED, at, message, "add the rest");
            return None;
        }
        if length > MAX {
            let message = format!("this list has {length} items, {MAX} are allowed");
            let help =
                format!("keep the most important ones; where there have to be more, give at most {MAX} at a time");
            report.find(&rules::LENGTH_EXCEEDED, at, message, help);
            return None;
        }
        sound.then_some(Self(items))
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let mut schema = Members::new();
        schema.insert("type".to_owned(), "array".into());
        schema.insert("items".to_owned(), T::schema(schemas));
        if MIN > 0 {
            schema.insert("minItems".to_owned(), MIN.into());
        }
        if MAX < usize::MAX {
            schema.insert("maxItems".to_owned(), MAX.into());
        }
        Value::Object(schema)
    }

    fn example() -> Value {
        Value::Array((0..MIN).map(|_| T::example()).collect())
    }
}

/// An object with free keys whose values are all of one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map<T>(Vec<(String, T)>);

impl<T> FromIterator<(String, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl<T> Deref for Map<T> {
    type Target = [(String, T)];

    fn deref(&self) -> &[(String, T)] {
        &self.0
    }
}

impl<T: Serialize> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<T: Shape> Shape for Map<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if !report.expect(at, Kind::Object) {
            return None;
        }
        let mut members = Vec::new();
        let mut sound = true;
        for (key, value) in at.entries() {
            match T::read(value, report) {
                Some(value) => members.push((key.raw().to_owned(), value)),
                None => sound = false,
            }
        }
        sound.then_some(Self(members))
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "type": "object", "additionalProperties": T::schema(schemas) })
    }

    fn example() -> Value {
        Value::Object(Members::new())
    }
}
