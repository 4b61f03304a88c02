use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Contract, Links, Report, Subject, rule};

rule! {
    /// No task waits, by whatever way round, for itself.
    ///
    /// ## Why
    /// None of them would ever begin.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-2"},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-1"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-1"}
    /// ], "handoffs": [{"from": "T-2", "to": "T-1"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-1"}
    /// ]}
    /// ```
    pub static PLAN_DEPENDENCIES_CIRCULAR: Plan = {
        id: "plan-dependencies-circular",
        code: DependencyNotMet,
        severity: Error,
        summary: "tasks of a plan wait for each other",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let mut links = Links::default();
    for task in it.record.tasks.iter() {
        for dependency in it.record.needs(task).into_iter().filter(|id| **id != task.id) {
            links.add(Plan::NAME, task.id.as_str(), dependency.as_str());
        }
    }
    let circle = |index: usize| links.circle(Plan::NAME, it.record.tasks[index].id.as_str());
    if let Some((index, circle)) = (0..it.record.tasks.len()).find_map(|index| Some((index, circle(index)?))) {
        let message = format!("these tasks wait for each other: {}", circle.join(", "));
        let help = "leave one of the dependencies or handoffs out";
        let at = Pointer::at("/tasks").item(index);
        let named = it.record.tasks[index].depends_on.is_some();
        report.add(if named { at.key("depends_on") } else { at }, message, help);
    }
}
