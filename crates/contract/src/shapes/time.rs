//! Points in time.

use crate::document::Cursor;
use crate::report::Report;
use crate::shape::{Schemas, Shape};
use compact_str::CompactString;
use countersign_diagnostic::Repair;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// A point in time: ISO 8601 in UTC, to the second or finer, ending in `Z`. It is written back as it was read.
#[derive(Debug, Clone)]
pub struct Timestamp {
    written: CompactString,
    instant: jiff::Timestamp,
}

impl Timestamp {
    /// The form as a regular expression. Whether the day exists, it cannot say.
    pub const PATTERN: &'static str =
        r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z$";

    /// The time that a text names.
    pub fn parse(text: &str) -> Option<Self> {
        if !is_utc_form(text.as_bytes()) {
            return None;
        }
        let instant = text.parse().ok().or_else(|| the_last(text))?;
        Some(Self { written: text.into(), instant })
    }

    /// The time as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The time.
    pub fn instant(&self) -> jiff::Timestamp {
        self.instant
    }
}

/// Two timestamps are equal when they name the same time, however finely they are written.
impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.instant == other.instant
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.instant.cmp(&other.instant)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.written)
    }
}

impl Shape for Timestamp {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let Some(text) = at.text() else {
            report.wrong_kind(at, "a text");
            return None;
        };
        let found = Self::parse(text);
        if found.is_none() && text.trim().is_empty() {
            report.empty(at, "this time");
        } else if found.is_none() {
            let utc = in_utc(text);
            let found = report.bad_format(at, "a time in UTC such as 2026-02-07T18:30:00Z");
            if let Some(utc) = utc {
                let pointer = found.pointer.clone();
                found.repair(Repair::replace(pointer, utc, "write the same time in UTC"));
            }
        }
        found
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string", "format": "date-time", "pattern": Self::PATTERN })
    }

    fn example() -> Value {
        "2026-02-07T18:30:00Z".into()
    }
}

fn is_utc_form(bytes: &[u8]) -> bool {
    let Some((head, tail)) = bytes.split_at_checked(19) else { return false };
    let shape = head.iter().zip(b"0000-00-00T00:00:00").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    });
    let fraction = match tail {
        [b'Z'] => true,
        [b'.', digits @ .., b'Z'] => (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    // A leap second is a time, but not one that arithmetic agrees on.
    shape && fraction && head[17..19] != *b"60"
}

/// The last time that is reckoned with, for a text that names a later one. A few hours before the year 10000 arithmetic ends, and
/// people who mean never write the very end.
fn the_last(text: &str) -> Option<jiff::Timestamp> {
    let exists = text.strip_suffix('Z')?.parse::<jiff::civil::DateTime>().is_ok();
    exists.then_some(jiff::Timestamp::MAX)
}

/// The same time in UTC, where a text names one with another offset. A time without an offset is not guessed at.
fn in_utc(text: &str) -> Option<String> {
    let instant: jiff::Timestamp = text.trim().parse().ok()?;
    Some(instant.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_time_is_a_time_and_a_day_that_is_none_is_not() {
        let cases = [
            ("9999-12-30T22:00:00Z", true),
            ("9999-12-31T23:59:59Z", true),
            ("9999-12-31T23:59:59.999999999Z", true),
            ("0000-01-01T00:00:00Z", true),
            ("9999-12-32T00:00:00Z", false),
            ("9999-12-31T24:00:00Z", false),
            ("2026-02-30T00:00:00Z", false),
        ];
        for (text, expected) in cases {
            assert_eq!(Timestamp::parse(text).is_some(), expected, "{text}");
        }
        assert!(Timestamp::parse("9999-12-31T23:59:59Z") > Timestamp::parse("9999-12-30T21:00:00Z"));
    }
}
