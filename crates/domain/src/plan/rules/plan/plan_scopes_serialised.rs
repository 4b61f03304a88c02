use crate::plan::order::collide;
use crate::plan::payload::{Plan, PlannedTask};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Tasks that do not depend on each other and want the same files are done one after the other.
    ///
    /// ## Why
    /// It is no fault, but the plan will take longer than it looks.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing/round.py"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing2"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    pub static PLAN_SCOPES_SERIALISED: Plan = {
        id: "plan-scopes-serialised",
        code: ScopeViolation,
        severity: Note,
        summary: "tasks that could go on together must wait for each other",
        check: check,
    }
}

/// How many pairs are named.
const NAMED_MAX: usize = 20;

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let tasks = &it.record.tasks;
    let direct = |one: &PlannedTask, other: &PlannedTask| it.record.needs(one).iter().any(|id| **id == other.id);
    let mut named = 0;
    for (later, task) in tasks.iter().enumerate() {
        for earlier in tasks[..later].iter().filter(|earlier| collide(task, earlier)) {
            if direct(task, earlier) || direct(earlier, task) || named == NAMED_MAX {
                continue;
            }
            named += 1;
            let message =
                format!("{} and {} want the same files, and will not go on beside each other", earlier.id, task.id);
            let help = "narrow their scopes, or say with `depends_on` which comes first";
            report.add(Pointer::at("/tasks").item(later).key("lock_scope"), message, help);
        }
    }
}
