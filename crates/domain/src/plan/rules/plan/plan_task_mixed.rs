use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task is the work of an agent or an action on a platform, and has the fields of one of them.
    ///
    /// ## Why
    /// An action is carried out once, by whoever carries the run out; it has no agent, holds no files, and is done when the
    /// platform has answered. What an agent does is not approved beforehand, but goes through gates.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml", "agent": "coder"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml", "acceptance": [{"text": "tests pass",
    ///  "check": {"test": ["pytest"]}}]}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml", "timeout": "20m"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "approval": "person"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}],
    ///  "instruction": "instructions/branch.yaml"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}, {"id": "T-2",
    ///  "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml",
    ///  "approval": "person", "executor": "git", "priority": "high"}]}
    /// ```
    pub static PLAN_TASK_MIXED: Plan = {
        id: "plan-task-mixed",
        code: SchemaInvalid,
        severity: Error,
        summary: "a task has fields of the other kind",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let (foreign, help): (Vec<(&'static str, bool)>, &str) = if task.is_delegate() {
            let fields = vec![
                ("agent", task.agent.is_given()),
                ("lock_scope", task.lock_scope.is_given()),
                ("forbidden_scope", task.forbidden_scope.is_some()),
                ("acceptance", task.acceptance.is_given()),
                ("timeout", task.timeout.is_some()),
                ("heartbeat", task.heartbeat.is_some()),
            ];
            (fields, "leave it out: an action is done when the platform has answered")
        } else {
            let fields = vec![
                ("instruction", task.instruction.is_some()),
                ("executor", task.executor.is_some()),
                ("approval", task.approval.is_some()),
            ];
            (fields, "leave it out, or say `kind: delegate`")
        };
        for (field, _) in foreign.iter().filter(|(_, given)| *given) {
            let kind = if task.is_delegate() { "an action on a platform" } else { "the work of an agent" };
            let message = format!("{} is {kind}, which has no `{field}`", task.id);
            report.add(Pointer::at("/tasks").item(index).key(field), message, help);
        }
    }
}
