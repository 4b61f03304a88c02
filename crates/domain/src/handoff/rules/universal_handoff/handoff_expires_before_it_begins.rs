use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff expires after it was made.
    ///
    /// ## Why
    /// One of the two times is wrong, and nobody can tell whether it may still be acted on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z", "expires_at": "2026-02-07T18:30:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z", "expires_at": "2026-02-08T18:30:00Z"}}
    /// ```
    pub static HANDOFF_EXPIRES_BEFORE_IT_BEGINS: UniversalHandoff = {
        id: "handoff-expires-before-it-begins",
        code: SchemaInvalid,
        severity: Error,
        summary: "a handoff expires at or before the time it was made",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let Some(expires_at) = &handoff.expires_at else { return };
    if *expires_at <= handoff.timestamp {
        let message =
            format!("it expires at {}, which is not after {}", expires_at.as_str(), handoff.timestamp.as_str());
        report
            .add(Pointer::at("/handoff/expires_at"), message, "correct the time that is wrong")
            .label(Pointer::at("/handoff/timestamp"), "made at this time");
    }
}
