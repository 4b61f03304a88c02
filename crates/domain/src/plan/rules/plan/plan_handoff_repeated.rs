use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};
use std::collections::HashSet;

rule! {
    /// Between two tasks there is one handoff.
    ///
    /// ## Why
    /// Two would say the same twice, or the one not what the other says.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}, {"from": "T-1", "to": "T-2", "max_tokens": 900}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "max_tokens": 900}]}
    /// ```
    pub static PLAN_HANDOFF_REPEATED: Plan = {
        id: "plan-handoff-repeated",
        code: SchemaInvalid,
        severity: Error,
        summary: "two handoffs go from the same task to the same task",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let mut seen = HashSet::new();
    for (index, edge) in it.record.edges().iter().enumerate() {
        if !seen.insert((edge.from.as_str(), edge.to.as_str())) {
            let message = format!("the handoff {} stands in the plan twice", edge.says());
            report.add(Pointer::at("/handoffs").item(index), message, "leave one of them out");
        }
    }
}
