//! Who says that work is done.

use super::OneOrMany;
use countersign_contract::{Cursor, Kind, Name, Report, Schemas, Shape, Text, pattern, shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

shape! {
    /// Who validates, and who judges.
    pub closed struct Gates {
        /// `builtin`, an agent by name, `person`, or several of them.
        pub validate: Option<OneOrMany<Name>> = "builtin",
        /// `none`, `optional`, an agent by name, `person`, or an endpoint.
        pub judge: Option<Judge> = "none",
        /// Whether the checks run once more on what would land, where others have landed since; they do, if it is not said.
        pub recheck: Option<bool>,
    }
}

pattern! {
    /// The name of a variable in the environment.
    pub struct Variable {
        pattern: "^[A-Z][A-Z0-9_]{0,99}$",
        example: "JUDGE_API_KEY",
        says: "the name of an environment variable: capital letters, digits and underscores",
        test: |text| {
            text.len() <= 100
                && text.starts_with(|letter: char| letter.is_ascii_uppercase())
                && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        },
    }
}

shape! {
    /// A judge that is asked over HTTP.
    pub closed struct Endpoint {
        /// The address.
        pub url: Text<1, 2000> = "https://api.example.com/v1/messages",
        /// The model.
        pub model: Text<1, 200> = "judge-1",
        /// The variable that holds the key.
        pub key: Variable,
        /// Whether the work passes when the judge cannot be reached; it does not, if it is not said.
        pub optional: Option<bool>,
    }
}

impl Endpoint {
    /// One that was named outside of a plan: address, model, and the variable that holds the key.
    pub fn of(url: &str, model: &str, key: &str) -> Option<Self> {
        let named = json!({ "url": url, "model": model, "key": key }).to_string();
        crate::plan::parts::read("the judge", &named).ok()
    }
}

/// Who judges.
#[derive(Debug, Clone, PartialEq)]
pub enum Judge {
    /// `none`, `optional`, `person`, or an agent.
    Named(Name),
    /// An endpoint.
    Endpoint(Endpoint),
}

impl Serialize for Judge {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Judge::Named(name) => name.serialize(out),
            Judge::Endpoint(endpoint) => endpoint.serialize(out),
        }
    }
}

impl Shape for Judge {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        match at.kind() {
            Kind::Text => Name::read(at, report).map(Judge::Named),
            Kind::Object => Endpoint::read(at, report).map(Judge::Endpoint),
            _ => {
                report.wrong_kind(at, "a text or an object");
                None
            }
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [Name::schema(schemas), Endpoint::schema(schemas)] })
    }

    fn example() -> Value {
        "none".into()
    }
}
