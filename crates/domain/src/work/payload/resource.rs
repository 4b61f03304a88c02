//! A resource as it is written in a payload.

use crate::work::places::Placed;
use crate::work::rules::RESOURCE_NOT_NORMAL;
use crate::work::scope;
use countersign_contract::diagnostic::Repair;
use countersign_contract::{CompactString, Cursor, Report, Schemas, Shape, rules, show};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A path below the root of the project. It is written back as it was read, and compared in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    written: CompactString,
    /// The normal form, where it is not what was written.
    normal: Option<Box<str>>,
}

impl Resource {
    /// White space around it, no control or direction characters in it, and at its start neither a drive nor a `/` that
    /// anything follows. That `..` stay inside the project, and what hides behind `.` segments, no pattern can say.
    pub const PATTERN: &'static str = concat!(
        r"^[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*",
        r"([/\\](\.?[/\\])*\.?",
        r"|[A-Za-z\u212A]",
        r"|[A-Za-z\u212A][^:\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]",
        r"[^\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*",
        r"|[^A-Za-z\u212A/\\\u0000- \u007F-\u00A0\u061C\u1680\u2000-\u200A\u200E\u200F\u2028-\u202F\u205F",
        r"\u2066-\u2069\u3000]",
        r"[^\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*)",
        r"[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$",
    );

    /// The resource as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

impl Placed for Resource {
    fn place(&self) -> &str {
        self.normal.as_deref().unwrap_or(&self.written)
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.written)
    }
}

impl Shape for Resource {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        match scope::normal(text) {
            Err(refused) => {
                let message = format!("`{}` is not a resource: {}", show(text), refused.why());
                report.find(&rules::FORMAT_INVALID, at, message, refused.cure());
                None
            }
            Ok(normal) if normal == text => Some(Self { written: text.into(), normal: None }),
            Ok(normal) => {
                let message = format!("resource `{}` is not in normal form", show(text));
                let help = format!("write `{}`, which is what it is compared as", show(&normal));
                let found = report.find(&RESOURCE_NOT_NORMAL, at, message, help);
                let pointer = found.pointer.clone();
                found.repair(Repair::replace(pointer, normal.as_ref(), "write the normal form"));
                Some(Self { written: text.into(), normal: Some(normal.into()) })
            }
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        schemas.refer("Resource", |_| {
            let description =
                "A path below the root of the project, with `/` between its segments; `.` is the whole tree.";
            json!({ "type": "string", "pattern": Self::PATTERN, "description": description })
        })
    }

    fn example() -> Value {
        "src/money".into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        jsonschema::validator_for(&json!({ "type": "string", "pattern": Resource::PATTERN })).unwrap()
    });

    proptest! {
        #[test]
        fn the_pattern_says_all_that_a_pattern_can(
            text in r"[ab: /.\\\t\n\u{1}\u{85}\u{a0}\u{200e}\u{2028}\u{212a}\u{e9}]{0,8}",
        ) {
            use scope::Refused::{Edge, LeavesRoot};
            let read = scope::normal(&text);
            let beyond = matches!(read, Err(LeavesRoot | Edge)) || read.is_err() && text.trim().starts_with('.');
            prop_assume!(!beyond && !text.contains(".."));
            prop_assert_eq!(SCHEMA.is_valid(&json!(text)), read.is_ok(), "{:?}", read);
        }
    }
}
