//! Time as the ledger writes it, and the clock it is read from.
//!
//! Order is the sequence, never time. A clock may stand still, jump or go back, and only deadlines notice.

use crate::error::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z. Written as RFC 3339 with three decimals and `Z`, and read from nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The same, some milliseconds later.
    pub fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// What a clock shows, if it can be written down and read again: a time of the years 0 to 9999. Whoever trusted a clock
    /// that shows another would write what nobody reads back.
    pub(crate) fn shown(milliseconds: i64) -> Result<Self, Error> {
        if (FIRST_MS..=LAST_MS).contains(&milliseconds) {
            return Ok(Self(milliseconds));
        }
        let side = if milliseconds < 0 { "before the year 0" } else { "after the year 9999" };
        Err(Error::NotWritten(format!("the clock shows a time {side}; set it, and try again")))
    }

    /// Reads what [`Time`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(time) = text.as_bytes().try_into().ok().and_then(read_usual) {
            return Some(time);
        }
        let time = Self(text.parse::<jiff::Timestamp>().ok()?.as_millisecond());
        (time.to_string() == text).then_some(time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(letters) = usual(*self) {
            return out.write_str(std::str::from_utf8(&letters).unwrap_or_default());
        }
        let nearest = |clamped: i64| jiff::Timestamp::from_millisecond(clamped).unwrap_or_default();
        let first = jiff::Timestamp::MIN.as_millisecond();
        write!(out, "{:.3}", nearest(self.0.clamp(first, LAST_MS)))
    }
}

/// Every event has a time, so those of the years 0 to 9998 are written and read without a general calendar. This one
/// counts years from March, which puts the leap day at their end, in eras of 400 years that all have as many days.
const ERA_DAYS: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
const DAY_MS: i64 = 86_400_000;
/// 0000-01-01T00:00:00.000Z.
const FIRST_MS: i64 = -(EPOCH_DAYS + 60) * DAY_MS;
/// 9999-12-30T21:59:59.999Z, the last whole second that the library has a name for in every time zone.
const LAST_MS: i64 = 253_402_207_199_999;
/// The places of year, month, day, hour, minute, second and milliseconds in `2026-01-31T08:00:00.000Z`.
const PLACES: [std::ops::Range<usize>; 7] = [0..4, 5..7, 8..10, 11..13, 14..16, 17..19, 20..23];

fn usual(time: Time) -> Option<[u8; 24]> {
    let (days, ms) = (time.0.div_euclid(DAY_MS), time.0.rem_euclid(DAY_MS));
    let days = days.checked_add(EPOCH_DAYS)?;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    if !(0..=9998).contains(&year) {
        return None;
    }
    let mut letters = *b"0000-00-00T00:00:00.000Z";
    let parts = [year, month, day, ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000];
    for (place, mut part) in PLACES.into_iter().zip(parts) {
        for letter in letters[place].iter_mut().rev() {
            *letter = b'0' + (part % 10) as u8;
            part /= 10;
        }
    }
    Some(letters)
}

fn read_usual(letters: &[u8; 24]) -> Option<Time> {
    let part = |place: std::ops::Range<usize>| {
        letters[place].iter().fold(0, |part, letter| 10 * part + i64::from(letter.wrapping_sub(b'0')))
    };
    let [year, month, day, hour, minute, second, ms] = PLACES.map(part);
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS;
    let time = Time(days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms);
    // Whatever is no time, such as the 30th of February, is written otherwise.
    (usual(time)? == *letters).then_some(time)
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match usual(*self) {
            Some(letters) => out.serialize_str(std::str::from_utf8(&letters).unwrap_or_default()),
            None => out.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(from)?;
        Self::parse(text).ok_or_else(|| serde::de::Error::custom("a time is like 2026-01-31T08:00:00.000Z"))
    }
}

/// Where a store that has no clock of its own reads the time.
#[derive(Debug, Clone)]
pub enum Clock {
    /// This machine's.
    System,
    /// One that a test moves.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at a time until it is moved.
    pub fn manual(at: Time) -> (Self, Arc<AtomicI64>) {
        let hand = Arc::new(AtomicI64::new(at.0));
        (Self::Manual(Arc::clone(&hand)), hand)
    }

    /// What it shows.
    ///
    /// # Errors
    /// It is a time that cannot be written.
    pub fn now(&self) -> Result<Time, Error> {
        Time::shown(match self {
            Clock::System => since_epoch(SystemTime::now()),
            Clock::Manual(hand) => hand.load(Ordering::SeqCst),
        })
    }
}

/// Milliseconds since 1970, however far away.
fn since_epoch(time: SystemTime) -> i64 {
    let whole = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -whole(before.duration()), whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_the_library(time: Time) -> String {
        format!("{:.3}", jiff::Timestamp::from_millisecond(time.0).unwrap())
    }

    #[test]
    fn the_edges_of_months_and_years_are_those_of_the_calendar() {
        for text in ["0000-01-01", "0000-02-29", "1600-02-29", "1900-02-28", "1969-12-31", "2000-02-29", "9998-12-31"] {
            let text = format!("{text}T23:59:59.999Z");
            let time = Time::parse(&text).unwrap();
            assert_eq!((time.to_string(), by_the_library(time)), (text.clone(), text));
            assert_eq!(time.plus(1).to_string(), by_the_library(time.plus(1)));
        }
        let others = [
            "1900-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-10T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:60:00.000Z",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01T00:00:00.00Z",
            "2026-01-01T00:00:00.000z",
            "2026-01-0:T00:00:00.000Z",
            "20260-1-01T00:00:00.000Z",
        ];
        for text in others {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_shows_times_that_can_be_written_or_none() {
        for shown in [FIRST_MS, -1, 0, 1_800_000_000_000, LAST_MS] {
            let (clock, _hand) = Clock::manual(Time(shown));
            assert_eq!(clock.now(), Ok(Time(shown)));
            assert_eq!(Time::parse(&Time(shown).to_string()), Some(Time(shown)));
        }
        let edges = ["0000-01-01T00:00:00.000Z", "9999-12-30T21:59:59.999Z"];
        assert_eq!([FIRST_MS, LAST_MS].map(|it| Time(it).to_string()), edges);
        // A deadline may lie behind that.
        assert_eq!(Time(LAST_MS).plus(i64::MAX).to_string(), edges[1]);
        for shown in [i64::MIN, FIRST_MS - 1, LAST_MS + 1, i64::MAX] {
            let (clock, _hand) = Clock::manual(Time(shown));
            let said = clock.now().unwrap_err().to_string();
            assert!(said.starts_with("nothing was written: the clock shows a time "), "{shown}: {said}");
        }
        let year = std::time::Duration::from_secs(366 * 86_400);
        assert!(Time::shown(since_epoch(UNIX_EPOCH + 8_100 * year)).is_err());
        assert!(Time::shown(since_epoch(UNIX_EPOCH - 2_100 * year)).is_err());
        assert!(Clock::System.now().is_ok());
    }

    proptest! {
        #[test]
        fn times_are_written_and_read_as_the_library_does(ms in -63_000_000_000_000i64..253_000_000_000_000) {
            let text = Time(ms).to_string();
            prop_assert_eq!(&text, &by_the_library(Time(ms)));
            prop_assert_eq!(Time::parse(&text), Some(Time(ms)));
        }
    }
}
