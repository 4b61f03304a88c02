use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

/// How far two clocks may be apart.
const SKEW_SECONDS_MAX: i64 = 30;

rule! {
    /// A handoff, and what it says has happened to it, lie in the past. Judged only where the time now is given;
    /// clocks may be 30 seconds apart.
    ///
    /// ## Why
    /// A time that has not come yet was not read from a clock. Order and expiry, which rest on it, would then mean
    /// nothing.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"now": "2026-02-07T18:00:00Z"}
    /// ```
    /// ```json rejected
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"now": "2026-02-07T18:29:45Z"}
    /// ```
    /// ```json accepted
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z"}}
    /// ```
    pub static HANDOFF_TIME_IN_FUTURE: UniversalHandoff = {
        id: "handoff-time-in-future",
        code: SchemaInvalid,
        severity: Error,
        summary: "a handoff or an event of its trace lies in the future",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    const HELP: &str = "write the time at which it happened, in UTC";
    let Some(now) = it.outside.now else { return };
    let in_future = |time: jiff::Timestamp| time.as_second().saturating_sub(now.as_second()) > SKEW_SECONDS_MAX;
    let handoff = &it.record.handoff;
    if in_future(handoff.timestamp.instant()) {
        let message = format!("the handoff was made at {}, which has not come yet", handoff.timestamp.as_str());
        report.add(Pointer::at("/handoff/timestamp"), message, HELP);
    }
    for (index, event) in handoff.events().iter().enumerate() {
        if in_future(event.timestamp.instant()) {
            let pointer = Pointer::at("/handoff/tracing/events").item(index).key("timestamp");
            let message =
                format!("event `{}` is at {}, which has not come yet", event.event_type, event.timestamp.as_str());
            report.add(pointer, message, HELP);
        }
    }
}
