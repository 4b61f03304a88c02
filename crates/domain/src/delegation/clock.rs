//! Times of different clocks.

use countersign_contract::Timestamp;

/// Whether a time lies before another. Clocks that tell whole seconds stand beside clocks that tell more, so that times
/// within one second are in no order.
pub fn before(one: &Timestamp, other: &Timestamp) -> bool {
    one.instant().as_second() < other.instant().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_within_one_second_are_in_no_order() {
        let time = |text| Timestamp::parse(text).unwrap_or_else(|| unreachable!("{text}"));
        let (whole, fine) = (time("2025-12-25T10:30:00Z"), time("2025-12-25T10:30:00.9Z"));
        assert!(!before(&whole, &fine) && !before(&fine, &whole));
        assert!(before(&fine, &time("2025-12-25T10:30:01Z")));
    }
}
