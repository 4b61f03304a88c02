//! Text that must never be obeyed.

use crate::document::Cursor;
use crate::report::Report;
use crate::shape::{Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A value that came from an agent, a file or the web. It can be looked at, hashed, counted and fenced; there is no
/// Display, Deref or Into, so that it cannot become a command, a path or a template by accident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Marks a value as not to be obeyed.
    pub fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: AsRef<str>> Untrusted<T> {
    /// Looks at the text to answer a question about it. What is looked at must not leave as control text.
    pub fn inspect<R>(&self, question: impl FnOnce(&str) -> R) -> R {
        question(self.0.as_ref())
    }

    /// The text on one line with control characters made visible, for a message or a terminal.
    pub fn escaped(&self) -> String {
        crate::show(self.0.as_ref())
    }

    /// The text as a block of data that an agent may read: between markers that the text itself cannot contain.
    pub fn fenced(&self, label: &str) -> String {
        let text = self.0.as_ref();
        let hash = crate::sha256_hex(text.as_bytes());
        let mark = &hash[..16];
        format!("<<<data {label} {mark}\n{text}\n>>>data {mark}")
    }

    /// The SHA-256 of the text, in hexadecimal.
    pub fn hash(&self) -> String {
        crate::sha256_hex(self.0.as_ref().as_bytes())
    }

    /// Whether nothing that can be seen is there.
    pub fn is_blank(&self) -> bool {
        crate::is_blank(self.0.as_ref())
    }
}

impl<T: Serialize> Serialize for Untrusted<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<T: Shape> Shape for Untrusted<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        report.mark_untrusted(at);
        T::read(at, report).map(Self)
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let mut schema = T::schema(schemas);
        if let Value::Object(members) = &mut schema {
            members.insert("x-untrusted".to_owned(), Value::Bool(true));
        }
        schema
    }

    fn example() -> Value {
        T::example()
    }
}
