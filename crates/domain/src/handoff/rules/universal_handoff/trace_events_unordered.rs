use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::serde_json::Value;
use countersign_contract::{Cursor, Report, Subject, rule};

rule! {
    /// The events of a trace stand in the order of their times. Two may have the same time.
    ///
    /// ## Why
    /// The trace is read from the top to see how the handoff came this far. An event that stands above an earlier one
    /// tells another story than its own time does.
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
    let found = report.add(list.clone().item(before + 1), message, "put the events in the order of their times");
    found.label(list.clone().item(before), "this one is later");
    let written: Vec<Value> = it
        .root
        .get("handoff")
        .and_then(|handoff| handoff.get("tracing")?.get("events"))
        .map(|events| events.items().map(Cursor::to_value).collect())
        .unwrap_or_default();
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by_key(|index| events[*index].timestamp.instant());
    let sorted: Vec<Value> = order.iter().filter_map(|index| written.get(*index).cloned()).collect();
    found.repair(Repair::replace(list, sorted, "sort the events by their times"));
}
