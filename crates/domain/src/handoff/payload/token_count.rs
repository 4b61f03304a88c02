//! How many tokens a handoff says it has.

use countersign_contract::diagnostic::Repair;
use countersign_contract::serde_json::Value;
use countersign_contract::{Cursor, Int, Report, Schemas, Shape};
use serde::{Serialize, Serializer};

/// The most that `meta.token_count` can say.
pub const TOKEN_COUNT_MAX: i64 = 2000;

type Bounded = Int<0, TOKEN_COUNT_MAX>;

/// A number of tokens, up to what a handoff may have. It is counted from the document, so a number that is out of range
/// can be mended by counting again, which most numbers cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCount(i64);

impl TokenCount {
    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl Serialize for TokenCount {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(self.0)
    }
}

impl Shape for TokenCount {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let count = Int::<{ i64::MIN }>::read(at, report)?.get();
        if (0..=TOKEN_COUNT_MAX).contains(&count) {
            return Some(Self(count));
        }
        let found = report.out_of_range(at, &format!("from 0 to {TOKEN_COUNT_MAX}"));
        let pointer = found.pointer.clone();
        // The true count is put in its place when the document is sealed.
        found.repair(Repair::replace(pointer, count.clamp(0, TOKEN_COUNT_MAX), "count the tokens again"));
        None
    }

    fn schema(schemas: &mut Schemas) -> Value {
        Bounded::schema(schemas)
    }

    fn example() -> Value {
        Bounded::example()
    }
}
