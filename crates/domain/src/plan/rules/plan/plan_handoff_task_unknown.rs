use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};
use std::collections::HashSet;

rule! {
    /// A handoff goes from one task of the plan to another one.
    ///
    /// ## Why
    /// It is made when the first one is done and given to the agent of the second one. Without either of them it would never
    /// be made, or never arrive; a task that hands over to itself would wait for itself.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoffs": [{"from": "T-1", "to": "T-9"}]}
    /// ```
    /// ```json rejected
    /// {"handoffs": [{"from": "T-1", "to": "T-1"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    pub static PLAN_HANDOFF_TASK_UNKNOWN: Plan = {
        id: "plan-handoff-task-unknown",
        code: DependencyNotMet,
        severity: Error,
        summary: "a handoff does not go from one task of the plan to another",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let known: HashSet<&str> = it.record.tasks.iter().map(|task| task.id.as_str()).collect();
    for (index, edge) in it.record.edges().iter().enumerate() {
        let at = Pointer::at("/handoffs").item(index);
        for (key, task) in [("from", &edge.from), ("to", &edge.to)] {
            if !known.contains(task.as_str()) {
                let message = format!("{task} is not in the plan");
                report.add(at.clone().key(key), message, "name a task of the plan, or leave the handoff out");
            }
        }
        if edge.from == edge.to {
            let message = format!("{} hands over to itself", edge.from);
            report.add(at.key("to"), message, "name another task; a task knows what it did itself");
        }
    }
}
