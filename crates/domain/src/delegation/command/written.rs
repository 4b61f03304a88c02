//! An instruction as it was written, with whatever is in it.

use countersign_contract::{Cursor, Report, Schemas, Shape, Untrusted};
use serde_json::Value;

/// The text of an instruction. What is wrong with it is for the answer to say, field by field, a secret among it: so that it is
/// let in with one. Nothing of it is kept before its secrets are gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Written(Untrusted<String>);

impl Written {
    /// Looks at the text. What leaves has no secret in it.
    pub(super) fn inspect<R>(&self, question: impl FnOnce(&str) -> R) -> R {
        self.0.inspect(question)
    }
}

impl serde::Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for Written {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        report.mark_embedded(at);
        report.mark_examined(at);
        String::read(at, report).map(|text| Self(Untrusted::new(text)))
    }

    fn schema(schemas: &mut Schemas) -> Value {
        Untrusted::<String>::schema(schemas)
    }

    fn example() -> Value {
        String::example()
    }
}
