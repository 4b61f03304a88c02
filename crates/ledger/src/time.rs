//! Time as the ledger writes it, and the clock it is read from.
//!
//! Order is the sequence, never time. A clock may stand still, jump or go back, and only deadlines notice.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Milliseconds since 1970-01-01T00:00:00Z. Written as RFC 3339 with three decimals and `Z`, and read from nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The same, some milliseconds later.
    pub fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// Reads what [`Time`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let time = Self(text.parse::<jiff::Timestamp>().ok()?.as_millisecond());
        (time.to_string() == text).then_some(time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nearest = |clamped: i64| jiff::Timestamp::from_millisecond(clamped).unwrap_or_default();
        let first = jiff::Timestamp::MIN.as_millisecond();
        let last = jiff::Timestamp::MAX.as_millisecond();
        write!(out, "{:.3}", nearest(self.0.clamp(first, last)))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
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
    pub fn now(&self) -> Time {
        match self {
            Clock::System => Time(jiff::Timestamp::now().as_millisecond()),
            Clock::Manual(hand) => Time(hand.load(Ordering::SeqCst)),
        }
    }
}
