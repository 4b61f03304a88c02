//! A code of refusal, as payloads carry it.

use countersign_contract::diagnostic::Code;
use countersign_contract::{Cursor, Report, Schemas, Shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// One of the codes that a decision can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(Code);

impl ErrorCode {
    /// The code.
    pub fn get(self) -> Code {
        self.0
    }

    fn words() -> Vec<&'static str> {
        Code::ALL.iter().map(|code| code.as_str()).collect()
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for ErrorCode {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(word) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        let found = Code::parse(word);
        if found.is_none() {
            report.unknown_word(at, &Self::words());
        }
        found.map(Self)
    }

    fn schema(schemas: &mut Schemas) -> Value {
        schemas.refer("ErrorCode", |_| {
            let description = "Why something was refused or could not go on.";
            json!({ "type": "string", "enum": Self::words(), "description": description })
        })
    }

    fn example() -> Value {
        Code::DependencyNotMet.as_str().into()
    }
}
