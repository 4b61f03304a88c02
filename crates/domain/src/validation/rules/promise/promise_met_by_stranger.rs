use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// While someone owns a promise, its criteria are met by them.
    ///
    /// ## Why
    /// Only the owner changes a promise. Who met a criterion before the present owner took it cannot be judged from
    /// one copy and is not questioned.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-9"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T18:35:00Z",
    ///    "met_by": "worker-9"}
    /// ]}
    /// ```
    pub static PROMISE_MET_BY_STRANGER: Promise = {
        id: "promise-met-by-stranger",
        code: AuthorizationMissing,
        severity: Error,
        summary: "a criterion was met by someone who did not own the promise",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let ownership = &it.record.ownership;
    let (Some(owner), Some(since)) = (&ownership.owned_by, &ownership.owned_since) else { return };
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate() {
        let (Some(by), Some(at)) = (&criterion.met_by, &criterion.met_at) else { continue };
        if at > since && by != owner {
            let (by, owner) = (show(by.as_str()), show(owner.as_str()));
            let found = report.add(
                Pointer::at("/acceptance_criteria").item(index).key("met_by"),
                format!("criterion `{}` was met by `{by}` while `{owner}` owned the promise", criterion.id),
                "let the owner meet it, or have the promise released and adopted first",
            );
            found.label(Pointer::at("/ownership/owned_by"), "it was owned by another since then");
        }
    }
}
