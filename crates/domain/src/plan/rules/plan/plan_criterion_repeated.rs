use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};
use std::collections::HashMap;

rule! {
    /// No two criteria of a task have the same words.
    ///
    /// ## Why
    /// A worker answers to each criterion by its words, and nobody could tell to which of the two.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "tests pass", "check": {"test": ["pytest"]}}, {"text": "tests pass", "check": {"test": ["tox"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "tests pass", "check": [{"test": ["pytest"]}, {"test": ["tox"]}]}]}
    /// ]}
    /// ```
    pub static PLAN_CRITERION_REPEATED: Plan = {
        id: "plan-criterion-repeated",
        code: SchemaInvalid,
        severity: Error,
        summary: "two criteria of a task have the same words",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        let at = |criterion: usize| Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("text");
        let mut known: HashMap<String, usize> = HashMap::new();
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            let words = wanted.text.inspect(|text| text.trim().to_owned());
            let Some(first) = known.get(&words).copied() else {
                known.insert(words, criterion);
                continue;
            };
            let other = report.place(at(first));
            let message = format!("{} has the criterion `{}` already", planned.id, show(&words));
            let help = "say it once, with all of its checks, or in other words";
            report.add(at(criterion), message, help).label(other, "the first one");
        }
    }
}
