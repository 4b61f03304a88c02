//! Numbers that someone else gave out.

use countersign_contract::serde::{Serialize, Serializer};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, INTEGER_MAX, Int, Report, Schemas, Shape};

/// A whole number from `MIN` to `MAX` that was given out or measured: the number of an issue, an HTTP status. One that
/// is out of range is not mended, because the nearest number in range is that of something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Given<const MIN: i64, const MAX: i64 = INTEGER_MAX>(i64);

impl<const MIN: i64, const MAX: i64> Given<MIN, MAX> {
    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Given<MIN, MAX> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(self.0)
    }
}

impl<const MIN: i64, const MAX: i64> Shape for Given<MIN, MAX> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let value = Int::<{ -INTEGER_MAX }, INTEGER_MAX>::read(at, report)?.get();
        if (MIN..=MAX).contains(&value) {
            return Some(Self(value));
        }
        let range = if MAX == INTEGER_MAX { format!("at least {MIN}") } else { format!("from {MIN} to {MAX}") };
        report.out_of_range(at, &range);
        None
    }

    fn schema(schemas: &mut Schemas) -> Value {
        Int::<MIN, MAX>::schema(schemas)
    }

    fn example() -> Value {
        json!(MIN)
    }
}
