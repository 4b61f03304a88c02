//! What an audit entry says of an instruction that could not be read whole.

use super::authority::{AuthorizationLevel, Completed, GovernanceStatus, QaStatus, YesNo};
use super::ids::Repository;
use crate::delegation::action::ActionType;
use countersign_contract::scan::redact;
use countersign_contract::serde::{Serialize, Serializer};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, Name, Report, Schemas, Shape, pattern};

/// What stands where the instruction has nothing.
pub const NOT_GIVEN: &str = "NOT_GIVEN";
/// What stands where the instruction has something that is no text.
pub const NOT_TEXT: &str = "NOT_TEXT";
/// What stands before a text that is none of those that the field takes.
const AS_GIVEN: &str = "AS_GIVEN: ";
/// How much of such a text is kept.
const CHARS_MAX: usize = 200;

pattern! {
    /// What could not be read: `NOT_GIVEN`, `NOT_TEXT`, or `AS_GIVEN: ` and the text as the instruction has it.
    pub struct Unread {
        pattern: r"^(NOT_GIVEN|NOT_TEXT|AS_GIVEN: .{1,200})$",
        example: "NOT_GIVEN",
        says: "`NOT_GIVEN`, `NOT_TEXT`, or `AS_GIVEN: ` and a text on one line",
        test: is_unread,
    }
}

fn is_unread(text: &str) -> bool {
    let Some(given) = text.strip_prefix(AS_GIVEN) else { return matches!(text, NOT_GIVEN | NOT_TEXT) };
    (1..=CHARS_MAX).contains(&given.chars().count()) && !given.contains('\n')
}

/// What is said of a value that could not be read. A secret in it is gone before it is cut: half a secret is no longer known
/// for one.
pub fn unread(value: &Value) -> String {
    let text = match value {
        Value::Null => return NOT_GIVEN.to_owned(),
        Value::String(text) if text.trim().is_empty() => return NOT_GIVEN.to_owned(),
        Value::String(text) => text,
        _ => return NOT_TEXT.to_owned(),
    };
    let redacted = redact(text);
    let shown = countersign_contract::diagnostic::visible(redacted.as_deref().unwrap_or(text)).into_owned();
    let line: String = shown.chars().filter(|it| !matches!(it, '\n' | '\r' | '\u{2028}' | '\u{2029}')).collect();
    match line.trim() {
        "" => NOT_GIVEN.to_owned(),
        line => format!("{AS_GIVEN}{}", line.chars().take(CHARS_MAX).collect::<String>()),
    }
}

/// What is written as one text.
pub trait Word {
    /// The text.
    fn word(&self) -> &str;
}

macro_rules! words {
    ($($Type:ty),* $(,)?) => {
        $(impl Word for $Type {
            fn word(&self) -> &str {
                self.as_str()
            }
        })*
    };
}

words! { ActionType, AuthorizationLevel, GovernanceStatus, QaStatus, YesNo, Completed, Repository, Name }

/// A `T`, or what an instruction has in its place that could not be read. An instruction that is declined for it is on record
/// all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsGiven<T> {
    /// It was read.
    Known(T),
    /// It was not.
    Unread(Unread),
}

impl<T> AsGiven<T> {
    /// What was read.
    pub fn known(&self) -> Option<&T> {
        match self {
            AsGiven::Known(known) => Some(known),
            AsGiven::Unread(_) => None,
        }
    }

    /// Whether it was read, and is this.
    pub fn is(&self, other: &T) -> bool
    where
        T: PartialEq,
    {
        self.known() == Some(other)
    }

    /// As it is written.
    pub fn as_written(&self) -> &str
    where
        T: Word,
    {
        match self {
            AsGiven::Known(known) => known.word(),
            AsGiven::Unread(unread) => unread.as_str(),
        }
    }
}

impl<T: Serialize> Serialize for AsGiven<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            AsGiven::Known(known) => known.serialize(out),
            AsGiven::Unread(unread) => unread.serialize(out),
        }
    }
}

impl<T: Shape> Shape for AsGiven<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        // Only these words are taken for it: anything else is measured as a `T`, and its faults are said.
        let unread = at.text().and_then(Unread::parse);
        match unread {
            Some(unread) => Some(AsGiven::Unread(unread)),
            None => T::read(at, report).map(AsGiven::Known),
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [T::schema(schemas), Unread::schema(schemas)] })
    }

    fn example() -> Value {
        T::example()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_said_as_it_was_given() {
        let long = "x".repeat(500);
        let cases = [
            (json!(null), NOT_GIVEN.to_owned()),
            (json!("  \n"), NOT_GIVEN.to_owned()),
            (json!(7), NOT_TEXT.to_owned()),
            (json!({"a": 1}), NOT_TEXT.to_owned()),
            (json!("PURPLE"), "AS_GIVEN: PURPLE".to_owned()),
            (json!(long), format!("AS_GIVEN: {}", "x".repeat(200))),
        ];
        for (value, wanted) in cases {
            assert_eq!(unread(&value), wanted, "{value}");
        }
        for odd in ["a\nb\r\u{2028}c", "\u{7}", "\u{202e}x", "AS_GIVEN: AS_GIVEN: x"] {
            let said = unread(&json!(odd));
            assert!(Unread::parse(&said).is_some(), "{said:?}");
        }
        assert!(Unread::parse("AS_GIVEN: ").is_none() && Unread::parse("not_given").is_none());
    }
}
