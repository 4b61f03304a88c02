//! The facts of an event as they are written.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value, as it is written. It stays the text that it is: whoever wants to know more reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a>(&'a str);

impl<'a> Facts<'a> {
    /// Of a text that was found to be one value already, so that it is not gone through once more.
    pub(crate) fn of_value(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub fn get(self) -> &'a str {
        self.0
    }
}

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_str(self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(out)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Facts<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(from).map(|value| Self(value.get()))
    }
}
