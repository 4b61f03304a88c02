//! Times of different clocks.

use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Timestamp};

/// Whether a time lies before another. Clocks that tell whole seconds stand beside clocks that tell more, so that times
/// within one second are in no order.
pub fn before(one: &Timestamp, other: &Timestamp) -> bool {
    one.instant().as_second() < other.instant().as_second()
}

/// Says so where a time of one document lies after one that should follow it. Times that are not there are in order.
pub(crate) fn check_order(times: &[(&'static str, Option<&Timestamp>)], report: &mut Report) {
    let mut latest: Option<(&'static str, &Timestamp)> = None;
    for (pointer, time) in times {
        let Some(time) = time else { continue };
        if let Some((earlier, bound)) = latest
            && before(time, bound)
        {
            let message = format!("`{}` should not be after `{}`", bound.as_str(), time.as_str());
            report
                .add(Pointer::at(earlier), message, "write the times as they were")
                .label(Pointer::at(*pointer), "should come later");
        } else {
            latest = Some((pointer, time));
        }
    }
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
