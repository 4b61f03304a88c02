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

/// A point in time with its offset, which need not be UTC's. It is written back as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyTimestamp {
    written: CompactString,
    time: Timestamp,
}

impl AnyTimestamp {
    /// The form as a regular expression. Whether the day exists, it cannot say.
    pub const PATTERN: &'static str = concat!(
        r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?",
        r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    );

    /// The time that a text names.
    pub fn parse(text: &str) -> Option<Self> {
        let time = match text.len().checked_sub(6).and_then(|end| text.split_at_checked(end)) {
            Some((local, offset)) if is_offset(offset.as_bytes()) => {
                // The same clock in UTC has a form and a day, or this has none either.
                let utc = Timestamp::parse(&format!("{local}Z"))?;
                Timestamp { instant: text.parse().unwrap_or(utc.instant), ..utc }
            }
            _ => Timestamp::parse(text)?,
        };
        Some(Self { written: text.into(), time })
    }

    /// The time.
    pub fn instant(&self) -> jiff::Timestamp {
        self.time.instant
    }
}

impl Serialize for AnyTimestamp {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.written)
    }
}

impl Shape for AnyTimestamp {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        match at.text().and_then(Self::parse) {
            Some(found) => Some(found),
            // What is wrong with it is wrong with it in UTC too.
            None => Timestamp::read(at, report).and(None),
        }
    }

    fn schema(_: &mut Schemas) -> Value {
        json!({ "type": "string", "format": "date-time", "pattern": Self::PATTERN })
    }

    fn example() -> Value {
        Timestamp::example()
    }
}

fn is_offset(bytes: &[u8]) -> bool {
    let digits = |tens: u8, ones: u8, most: u8| {
        tens.is_ascii_digit() && ones.is_ascii_digit() && (tens - b'0') * 10 + (ones - b'0') <= most
    };
    matches!(bytes, [b'+' | b'-', h, hh, b':', m, mm] if digits(*h, *hh, 23) && digits(*m, *mm, 59))
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
        let offsets = [
            ("2026-02-17T15:30:00+01:00", true),
            ("2026-02-17T15:30:00.25-23:59", true),
            ("2026-02-17T14:30:00Z", true),
            ("9999-12-31T23:59:59-10:00", true),
            ("2026-02-17T15:30:00+24:00", false),
            ("2026-02-17T15:30:00+0100", false),
            ("2026-02-30T15:30:00+01:00", false),
            ("2026-02-17T15:30:00", false),
            ("\u{e9}\u{e9}01:00", false),
        ];
        for (text, expected) in offsets {
            assert_eq!(AnyTimestamp::parse(text).is_some(), expected, "{text}");
        }
        let instant = |text: &str| AnyTimestamp::parse(text).map(|it| it.instant());
        assert_eq!(instant("2026-02-17T15:30:00+01:00"), instant("2026-02-17T14:30:00Z"));
        assert!(Timestamp::parse("9999-12-31T23:59:59Z") > Timestamp::parse("9999-12-30T21:00:00Z"));
    }
}
