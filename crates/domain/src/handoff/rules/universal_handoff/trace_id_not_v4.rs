use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The trace id is a UUID of version 4: drawn at random.
    ///
    /// ## Why
    /// One id ties every handoff of a chain together, and nobody hands ids out. Only one that was drawn at random is
    /// sure not to be somebody else's; one typed by hand or counted up is not. It is not replaced by a repair,
    /// because the handoffs before this one carry it too.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"trace_id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"trace_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4"}}
    /// ```
    pub static TRACE_ID_NOT_V4: UniversalHandoff = {
        id: "trace-id-not-v4",
        code: SchemaInvalid,
        severity: Error,
        summary: "a trace id is not a UUID of version 4",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let trace_id = &it.record.handoff.trace_id;
    if !trace_id.is_v4() {
        report.add(
            Pointer::at("/handoff/trace_id"),
            format!("trace id `{}` is not a UUID of version 4", trace_id.as_str()),
            "use the id that the workflow at the start of the chain drew with a UUID generator",
        );
    }
}
