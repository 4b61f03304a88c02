//! How long something took.

use countersign_contract::{Cursor, INTEGER_MAX, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

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
