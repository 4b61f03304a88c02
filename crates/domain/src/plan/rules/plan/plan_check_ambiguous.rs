use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A check has exactly one of its kinds.
    ///
    /// ## Why
    /// What it shows would depend on who reads it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "check": {"timeout": "5m"}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "check": {"test": ["pytest"], "port": 80}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "check": [{"test": ["pytest"]}, {"port": 80}]}]}
    /// ]}
    /// ```
    pub static PLAN_CHECK_AMBIGUOUS: Plan = {
        id: "plan-check-ambiguous",
        code: SchemaInvalid,
        severity: Error,
        summary: "a check is of no kind, or of several",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            for check in wanted.check.iter().flat_map(|checks| checks.iter()) {
                let kinds = check.kinds();
                if kinds.len() == 1 {
                    continue;
                }
                let words: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
                let message = if kinds.is_empty() {
                    "this check checks nothing".to_owned()
                } else {
                    format!("this check is of several kinds: {}", words.join(", "))
                };
                let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("check");
                report.add(at, message, "give it one kind; several checks stand in a list");
            }
        }
    }
}
