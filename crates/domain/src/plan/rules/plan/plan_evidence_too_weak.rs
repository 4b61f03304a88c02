use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Where a criterion says which kind of evidence it asks for, one of its checks gives that kind or one that says more.
    ///
    /// ## Why
    /// Weaker evidence never stands in for stronger, so the criterion could never be met.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "evidence": "test", "check": {"file": {"path": "billing/round.py"}}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "evidence": "command", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    pub static PLAN_EVIDENCE_TOO_WEAK: Plan = {
        id: "plan-evidence-too-weak",
        code: AcceptanceFailed,
        severity: Error,
        summary: "no check of a criterion gives the evidence that it asks for",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            let (Some(asked), Some(checks)) = (wanted.evidence, &wanted.check) else { continue };
            if checks.iter().flat_map(|check| check.kinds()).any(|kind| kind.is_enough_for(asked)) {
                continue;
            }
            let number = criterion + 1;
            let message = format!(
                "criterion {number} of {} asks for evidence of kind {asked}, and no check gives it",
                planned.id
            );
            let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("evidence");
            report.add(at, message, "add a check of that kind");
        }
    }
}
