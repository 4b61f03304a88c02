use crate::plan::payload::{Check, Plan};
use crate::validation::evidence::EvidenceKind;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Where a criterion asks for more than somebody's statement, one of its checks gives that kind of evidence or one that
    /// says more.
    ///
    /// ## Why
    /// Weaker evidence never stands in for stronger, and what agents and persons say is a statement, so the criterion could
    /// never be met.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "evidence": "test", "check": {"file": {"path": "billing/round.py"}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"gates": {"validate": "person"}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "evidence": "test"}]}
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
    /// ```json accepted
    /// {"gates": {"validate": "person"}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "evidence": "statement"}]}
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
            let Some(asked) = wanted.evidence else { continue };
            let mut given = wanted.check.iter().flat_map(|checks| checks.iter()).flat_map(Check::kinds);
            let by_word = asked == EvidenceKind::Statement && wanted.check.is_none();
            if by_word || given.any(|kind| kind.is_enough_for(asked)) {
                continue;
            }
            let number = criterion + 1;
            let message = format!(
                "criterion {number} of {} asks for evidence of kind {asked}, and no check gives it",
                planned.id
            );
            let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("evidence");
            report.add(at, message, "add a check of that kind, or ask for less");
        }
    }
}
