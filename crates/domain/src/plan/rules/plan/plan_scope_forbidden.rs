use crate::plan::payload::Plan;
use crate::work::places::Placed;
use crate::work::scope::{contains, overlap};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The lock scope and the forbidden scope of a task do not overlap, and neither reaches into `.countersign`.
    ///
    /// ## Why
    /// A worker that keeps to both could do nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "forbidden_scope": "billing/vendor"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": [".countersign/x"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "forbidden_scope": "vendor"}
    /// ]}
    /// ```
    pub static PLAN_SCOPE_FORBIDDEN: Plan = {
        id: "plan-scope-forbidden",
        code: ScopeViolation,
        severity: Error,
        summary: "a task may not change what it holds",
        check: check,
    }
}

/// What belongs to the ledger alone.
const RESERVED: &str = ".countersign";

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        // What leads nowhere is for another rule, and would overlap with everything here.
        for resource in task.lock_scope.iter().filter(|it| it.is_usable()) {
            let at = || Pointer::at("/tasks").item(index).key("lock_scope");
            let forbidden = task.forbidden_scope.iter().flat_map(|scope| scope.iter()).filter(|it| it.is_usable());
            let forbidden = forbidden.map(Placed::place).find(|place| overlap(place, resource.place()));
            if let Some(place) = forbidden {
                let held = show(resource.as_str());
                let message = format!("{} holds `{held}`, and may not change `{}`", task.id, show(place));
                report.add(at(), message, "narrow the lock scope, or leave the other out of the forbidden scope");
            }
            if contains(RESERVED, resource.place()) {
                let message = format!("{} holds `{}`, which belongs to the ledger", task.id, show(resource.as_str()));
                report.add(at(), message, "leave it out");
            }
        }
    }
}
