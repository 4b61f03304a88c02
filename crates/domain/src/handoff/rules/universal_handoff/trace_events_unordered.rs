use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The events of a trace stand in the order of their times. Two may have the same time.
    ///
    /// ## Why
    /// The trace is read from the top to see how the handoff came this far. An event that stands above an earlier one
    /// tells another story than its own time does. No repair is offered: to sort them is to vouch for the times.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"tracing": {"events": [
    ///   {"timestamp": "2026-02-07T18:00:00Z", "event_type": "transmitted", "workflow": "skill-editor"},
    ///   {"timestamp": "2026-02-07T15:00:00Z", "event_type": "created", "workflow": "skill-editor"}
    /// ]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"tracing": {"events": [
    ///   {"timestamp": "2026-02-07T15:00:00Z", "event_type": "created", "workflow": "skill-editor"},
    ///   {"timestamp": "2026-02-07T18:00:00Z", "event_type": "transmitted", "workflow": "skill-editor"}
    /// ]}}}
    /// ```
    pub static TRACE_EVENTS_UNORDERED: UniversalHandoff = {
        id: "trace-events-unordered",
        code: SchemaInvalid,
        severity: Error,
        summary: "the events of a trace are not in the order of their times",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let events = it.record.handoff.events();
    let Some(before) = events.windows(2).position(|pair| pair[1].timestamp < pair[0].timestamp) else { return };
    let list = Pointer::at("/handoff/tracing/events");
    let event = &events[before + 1];
    let message = format!("event `{}` at {} stands below a later one", event.event_type, event.timestamp.as_str());
    let help = "find out whether a clock was wrong or an event was moved, and have the trace written as it happened";
    report.add(list.clone().item(before + 1), message, help).label(list.item(before), "this one is later");
}
