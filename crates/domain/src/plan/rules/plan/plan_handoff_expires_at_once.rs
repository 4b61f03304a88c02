use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff can be received for some time after it was made.
    ///
    /// ## Why
    /// One that expires when it is made can never be received, and its target would wait for a person every time.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "expires": "0s"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "expires": "0h0m"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "expires": "2h"}]}
    /// ```
    pub static PLAN_HANDOFF_EXPIRES_AT_ONCE: Plan = {
        id: "plan-handoff-expires-at-once",
        code: SchemaInvalid,
        severity: Error,
        summary: "a handoff expires the moment it is made",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, edge) in it.record.edges().iter().enumerate() {
        if edge.expires.as_ref().is_some_and(|span| span.seconds() == 0) {
            let message =
                format!("the handoff {} expires the moment it is made, and can never be received", edge.says());
            let help = "name a time such as 2h, or leave it out if it does not expire";
            report.add(Pointer::at("/handoffs").item(index).key("expires"), message, help);
        }
    }
}
