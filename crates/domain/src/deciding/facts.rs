//! What is known of an entity: a row of its domain, and the canonical JSON that it is kept as.
//!
//! Who folds an event wants the row, the ledger wants the text, and whoever looks at a single field wants the value. Each is
//! made from what is there when it is first asked for, and kept: the same facts are asked for again and again.

use super::Place;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A row that facts are read into. Its fields stand in the order of their names, which is the order of canonical JSON.
pub trait Row: Serialize + DeserializeOwned + Any + Send + Sync {}

/// What is known of an entity. At least one of the three is there.
#[derive(Debug, Default)]
pub struct Facts {
    text: OnceLock<Arc<str>>,
    value: OnceLock<Value>,
    row: OnceLock<Arc<dyn Written>>,
    places: OnceLock<Vec<Place>>,
}

/// A row of any type.
trait Written: Any + Send + Sync + std::fmt::Debug {
    fn value(&self) -> Value;
    fn text(&self) -> String;
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Row + std::fmt::Debug> Written for T {
    fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn text(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        // Names of maps are in the order of their bytes here, which is that of canonical JSON for these letters.
        if !text.is_ascii() {
            return countersign_contract::canonical(&self.value());
        }
        debug_assert_eq!(text, countersign_contract::canonical(&self.value()), "its fields are not in order");
        text
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Facts {
    /// As they are kept: canonical JSON.
    pub fn of_text(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into().into(), ..Self::default() }
    }

    /// As they are in a row.
    pub fn of_row<T: Row + std::fmt::Debug>(row: T) -> Self {
        let row: Arc<dyn Written> = Arc::new(row);
        Self { row: row.into(), ..Self::default() }
    }

    /// The canonical JSON, which the ledger keeps without a copy.
    pub fn text(&self) -> &Arc<str> {
        self.text.get_or_init(|| match self.row.get() {
            Some(row) => row.text().into(),
            None => countersign_contract::canonical(self.value()).into(),
        })
    }

    /// The value, to look at single fields.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| match (self.row.get(), self.text.get()) {
            (Some(row), _) => row.value(),
            (None, Some(text)) => serde_json::from_str(text).unwrap_or_default(),
            (None, None) => Value::Null,
        })
    }

    /// Where it is found, which follows from them.
    pub(crate) fn places(&self, make: impl FnOnce() -> Vec<Place>) -> &[Place] {
        self.places.get_or_init(make)
    }

    /// The row; none, if they cannot be read as such a one.
    pub fn row<T: Row + std::fmt::Debug>(&self) -> Option<Arc<T>> {
        if let Some(row) = self.row.get() {
            return Arc::clone(row).any().downcast().ok();
        }
        let row: Arc<T> = match self.text.get() {
            Some(text) => Arc::new(serde_json::from_str(text).ok()?),
            None => Arc::new(T::deserialize(self.value()).ok()?),
        };
        let _ = self.row.set(Arc::clone(&row) as Arc<dyn Written>);
        Some(row)
    }
}

impl From<Value> for Facts {
    fn from(value: Value) -> Self {
        Self { value: value.into(), ..Self::default() }
    }
}

impl Deref for Facts {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value()
    }
}

impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}
