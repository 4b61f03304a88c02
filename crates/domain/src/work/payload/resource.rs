//! A resource as it is written in a payload.

use crate::plain::is_plain;
use crate::work::places::Placed;
use crate::work::rules::RESOURCE_NOT_NORMAL;
use crate::work::scope::{self, Refused};
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{CompactString, Cursor, Report, Schemas, Shape, rules, show};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A path below the root of the project. It is written back as it was read, and compared in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    written: CompactString,
    /// The normal form, where it is not what was written.
    normal: Option<Box<str>>,
    /// Why it has none, although it is formed like a resource.
    refused: Option<Refused>,
}

impl Resource {
    /// White space around it, no control or direction characters in it, and at its start neither a drive nor a `/` that
    /// anything follows. That `..` stay inside the project, and what hides behind `.` segments, no pattern can say; each
    /// contract has a rule for that.
    pub const PATTERN: &'static str = concat!(
        r"^[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*",
        r"([/\\](\.?[/\\])*\.?",
        r"|[A-Za-z\u212A]",
        r"|[A-Za-z\u212A][^:\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]",
        r"[^\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]*",
        r"|[^A-Za-z\u212A/\\\u0000- \u007F-\u00A0\u00AD\u061C\u1680\u180E\u2000-\u200F\u2028-\u202F\u205F-\u2064\uFEFF",
        r"\u2066-\u2069\u3000]",
        r"[^\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]*)",
        r"[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$",
    );

    /// The resource as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it leads to a place in the project.
    pub fn is_usable(&self) -> bool {
        self.refused.is_none()
    }

    /// Says so if it does not.
    pub(crate) fn check(&self, pointer: impl FnOnce() -> Pointer, report: &mut Report) {
        if let Some(refused) = self.refused {
            report.add(pointer(), refusal(&self.written, refused), refused.cure());
        }
    }
}

/// One that leads nowhere stands for the whole tree: it collides with everything, and no change to it is inside a scope.
/// Where a resource gives leave, it must be usable to do so. Rules that look for collisions in the document itself leave it
/// out: it is refused for what it is.
impl Placed for Resource {
    fn place(&self) -> &str {
        self.normal.as_deref().unwrap_or(&self.written)
    }
}

fn refusal(text: &str, refused: Refused) -> String {
    format!("`{}` is not a resource: {}", show(text), refused.why())
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
        if is_plain(text) {
            return Some(Self { written: text.into(), normal: None, refused: None });
        }
        match scope::normal(text) {
            Err(refused) if scope::is_formed(text) => {
                Some(Self { written: text.into(), normal: Some(scope::ROOT.into()), refused: Some(refused) })
            }
            Err(refused) => {
                report.find(&rules::FORMAT_INVALID, at, refusal(text, refused), refused.cure());
                None
            }
            // What is borrowed is all of the text, what is left of it when trimmed, or the name of the root.
            Ok(Cow::Borrowed(normal)) if normal == text => {
                Some(Self { written: text.into(), normal: None, refused: None })
            }
            Ok(normal) => {
                let message = format!("resource `{}` is not in normal form", show(text));
                let help = format!("write `{}`, which is what it is compared as", show(&normal));
                let found = report.find(&RESOURCE_NOT_NORMAL, at, message, help);
                let pointer = found.pointer.clone();
                found.repair(Repair::replace(pointer, normal.as_ref(), "write the normal form"));
                Some(Self { written: text.into(), normal: Some(normal.into()), refused: None })
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
        fn shape_and_schema_accept_the_same_texts(
            text in r"[abC: /.\\\t\n\u{1}\u{85}\u{a0}\u{200e}\u{2028}\u{212a}\u{e9}]{0,8}|[aC:/. ]{0,8}",
        ) {
            prop_assert_eq!(SCHEMA.is_valid(&json!(text)), scope::is_formed(&text));
            prop_assert!(scope::is_formed(&text) || scope::normal(&text).is_err());
        }
    }
}
