//! Numbers that were observed. One out of range is refused and not mended, since the nearest number in range is not the
//! one that was observed.

use countersign_contract::{Cursor, INTEGER_MAX, Int, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A whole number that was counted or reported, from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measured<const MIN: i64 = 0, const MAX: i64 = INTEGER_MAX>(i64);

impl<const MIN: i64, const MAX: i64> Measured<MIN, MAX> {
    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Measured<MIN, MAX> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(self.0)
    }
}

impl<const MIN: i64, const MAX: i64> Shape for Measured<MIN, MAX> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = Int::<{ -INTEGER_MAX }, INTEGER_MAX>::read(at, report)?.get();
        if (MIN..=MAX).contains(&value) {
            return Some(Self(value));
        }
        let range = if MAX == INTEGER_MAX { format!("at least {MIN}") } else { format!("from {MIN} to {MAX}") };
        report.out_of_range(at, &range);
        None
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }

    fn example() -> Value {
        MIN.max(0).min(MAX).into()
    }
}

/// A stretch of time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(f64);

impl Seconds {
    #[expect(clippy::cast_precision_loss, reason = "it is the largest integer that is exact")]
    const MAX: f64 = INTEGER_MAX as f64;

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(self.0)
    }
}

impl Shape for Seconds {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = f64::read(at, report)?;
        if !(0.0..=Self::MAX).contains(&value) {
            report.out_of_range(at, "at least 0");
            return None;
        }
        Some(Self(value))
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "number", "minimum": 0, "maximum": INTEGER_MAX })
    }

    fn example() -> Value {
        45.into()
    }
}
