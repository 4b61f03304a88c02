//! Numbers and booleans.

use crate::document::{Cursor, Kind};
use crate::report::Report;
use crate::shape::{Schemas, Shape};
use crate::{INTEGER_MAX, rules};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

impl Shape for bool {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = at.bool();
        if value.is_none() {
            report.wrong_kind(at, "a boolean");
        }
        value
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "boolean" })
    }

    fn example() -> Value {
        true.into()
    }
}

impl Shape for f64 {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = at.number().and_then(|written| written.parse().ok());
        if value.is_none() {
            report.wrong_kind(at, "a number");
        }
        value
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "number" })
    }

    fn example() -> Value {
        0.into()
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int<const MIN: i64 = 0, const MAX: i64 = INTEGER_MAX>(i64);

impl From<u64> for Int {
    /// What is beyond the largest exact integer becomes it; no count or sequence number comes near.
    fn from(number: u64) -> Self {
        Self(i64::try_from(number).map_or(INTEGER_MAX, |number| number.min(INTEGER_MAX)))
    }
}

impl<const MIN: i64, const MAX: i64> Int<MIN, MAX> {
    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }

    fn range() -> String {
        if MAX >= INTEGER_MAX { format!("at least {MIN}") } else { format!("from {MIN} to {MAX}") }
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Int<MIN, MAX> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(self.0)
    }
}

impl<const MIN: i64, const MAX: i64> Shape for Int<MIN, MAX> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(written) = at.number() else {
            report.wrong_kind(at, "a whole number");
            return None;
        };
        let Some(value) = whole(written) else {
            let message = format!("{written} is not a whole number");
            report.find(&rules::KIND_MISMATCH, at, message, "write it without a fraction");
            return None;
        };
        if !(MIN..=MAX).contains(&value) {
            // No repair: a number that was measured or chosen is not made true by moving it into its range.
            report.out_of_range(at, &Self::range());
            return None;
        }
        Some(Self(value))
    }

    fn schema(_: &mut Schemas) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "integer".into());
        schema.insert("minimum".to_owned(), MIN.into());
        schema.insert("maximum".to_owned(), MAX.into());
        Value::Object(schema)
    }

    fn example() -> Value {
        MIN.max(0).min(MAX).into()
    }
}

/// JSON Schema counts `5.0` and `5e0` as integers, and so does this.
fn whole(written: &str) -> Option<i64> {
    if let Ok(value) = written.parse() {
        return Some(value);
    }
    let value: f64 = written.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the bound makes both exact")]
    (value.fract() == 0.0 && value.abs() <= INTEGER_MAX as f64).then_some(value as i64)
}

/// A share: a number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio(f64);

impl Ratio {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(self.0)
    }
}

impl Shape for Ratio {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = f64::read(at, report)?;
        if !(0.0..=1.0).contains(&value) {
            report.out_of_range(at, "from 0 to 1");
            return None;
        }
        Some(Self(value))
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }

    fn example() -> Value {
        1.into()
    }
}

impl Kind {
    /// Whether a value of this kind is one value rather than many.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Kind::List | Kind::Object)
    }
}
