use crate::plan::payload::Plan;
use crate::work::redundant_entry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No entry of a task's lock scope lies inside another one.
    ///
    /// ## Why
    /// The wider entry already allows what the narrower one says. Often the narrow one was meant and the wide one
    /// slipped in.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing", "billing/round.py"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing/parse.py", "billing/round.py"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    pub static PLAN_SCOPE_REDUNDANT: Plan = {
        id: "plan-scope-redundant",
        code: SchemaInvalid,
        severity: Warning,
        summary: "an entry of a lock scope lies inside another",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        redundant_entry::check(&task.lock_scope, || Pointer::at("/tasks").item(index).key("lock_scope"), report);
    }
}
