//! Versions: an unknown major is refused, a newer minor is read with a warning.

use crate::document::Cursor;
use crate::report::Report;
use crate::shape::{Schemas, Shape};
use crate::{rules, show};
use compact_str::CompactString;
use countersign_diagnostic::Repair;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The version of a contract whose known version is `MAJOR.MINOR`, with `PARTS` numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version<const MAJOR: u32, const MINOR: u32, const PARTS: usize>(CompactString);

impl<const MAJOR: u32, const MINOR: u32, const PARTS: usize> Version<MAJOR, MINOR, PARTS> {
    /// The version as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn known() -> String {
        let mut known = format!("{MAJOR}.{MINOR}");
        for _ in 2..PARTS {
            known.push_str(".0");
        }
        known
    }
}

impl<const MAJOR: u32, const MINOR: u32, const PARTS: usize> Serialize for Version<MAJOR, MINOR, PARTS> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl<const MAJOR: u32, const MINOR: u32, const PARTS: usize> Shape for Version<MAJOR, MINOR, PARTS> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        if text.trim().is_empty() {
            report.empty(at, "the version");
            return None;
        }
        let Some(numbers) = numbers::<PARTS>(text) else {
            report.bad_format(at, &format!("a version such as {}", Self::known()));
            return None;
        };
        if numbers.first() != Some(&MAJOR) {
            let message = format!("version `{}` is not known; this program reads {}", show(text), Self::known());
            let help = format!("write the document to version {}, or use a newer program", Self::known());
            report.find(&rules::VERSION_UNKNOWN, at, message, help);
            return None;
        }
        if numbers.get(1).is_some_and(|minor| *minor > MINOR) {
            let message = format!("version `{text}` is newer than the known {}", Self::known());
            report.find(&rules::VERSION_NEWER, at, message, "what is new in it is not checked");
        }
        Some(Self(text.into()))
    }

    fn schema(_: &mut Schemas) -> Value {
        let part = r"\.(0|[1-9][0-9]{0,8})";
        json!({ "type": "string", "pattern": format!("^{MAJOR}{}$", part.repeat(PARTS - 1)) })
    }

    fn example() -> Value {
        Self::known().into()
    }
}

/// The numbers of a version: so many, with dots between them, each of one to nine digits and without a needless zero.
fn numbers<const PARTS: usize>(text: &str) -> Option<[u32; PARTS]> {
    const DIGITS_MAX: usize = 9;
    let mut numbers = [0u32; PARTS];
    let mut rest = text.as_bytes();
    for (index, slot) in numbers.iter_mut().enumerate() {
        rest = if index == 0 { rest } else { rest.strip_prefix(b".")? };
        let digits = rest.iter().take(DIGITS_MAX + 1).take_while(|byte| byte.is_ascii_digit()).count();
        let (number, behind) = rest.split_at(digits);
        if !(1..=DIGITS_MAX).contains(&digits) || (digits > 1 && number.starts_with(b"0")) {
            return None;
        }
        *slot = number.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        rest = behind;
    }
    rest.is_empty().then_some(numbers)
}

/// A version of which only `MAJOR.MINOR` is known: anything else is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionExactly<const MAJOR: u32, const MINOR: u32>;

impl<const MAJOR: u32, const MINOR: u32> Serialize for VersionExactly<MAJOR, MINOR> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format!("{MAJOR}.{MINOR}"))
    }
}

impl<const MAJOR: u32, const MINOR: u32> Shape for VersionExactly<MAJOR, MINOR> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        if numbers(text) == Some([MAJOR, MINOR]) {
            return Some(Self);
        }
        if text.trim().is_empty() {
            report.empty(at, "the version");
            return None;
        }
        let known = format!("{MAJOR}.{MINOR}");
        let message = format!("version `{}` is not known; only {known} is", show(text));
        let help =
            format!("bring the document to version {known}; `countersign explain version-unknown` says what is lost");
        let found = report.find(&rules::VERSION_UNKNOWN, at, message, help);
        if text.trim() == known || text == MAJOR.to_string() {
            let pointer = found.pointer.clone();
            found.repair(Repair::replace(pointer, known, "write the version in full"));
        }
        None
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "const": format!("{MAJOR}.{MINOR}") })
    }

    fn example() -> Value {
        format!("{MAJOR}.{MINOR}").into()
    }
}
