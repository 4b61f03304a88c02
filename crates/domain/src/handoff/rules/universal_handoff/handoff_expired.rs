use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff is acted on before it expires. Judged only where the time now is given.
    ///
    /// ## Why
    /// Its source said until when its content holds. Past that, the target would work from a state that its source no
    /// longer stands for.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"now": "2026-02-08T18:30:00Z"}
    /// ```
    /// ```json rejected
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z", "expires_at": "2026-02-08T18:30:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"now": "2026-02-08T18:29:59Z"}
    /// ```
    /// ```json accepted
    /// {"handoff": {"timestamp": "2026-02-07T18:30:00Z", "expires_at": "2026-02-08T18:30:00Z"}}
    /// ```
    pub static HANDOFF_EXPIRED: UniversalHandoff = {
        id: "handoff-expired",
        code: SchemaInvalid,
        severity: Error,
        summary: "a handoff has expired",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let (Some(expires_at), Some(now)) = (&it.record.handoff.expires_at, it.outside.now) else { return };
    if expires_at.instant() <= now {
        report.add(
            Pointer::at("/handoff/expires_at"),
            format!("the handoff expired at {}", expires_at.as_str()),
            "have its source make it again from the present state",
        );
    }
}
