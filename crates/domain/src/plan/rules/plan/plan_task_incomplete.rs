use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task of an agent has an agent, a scope and criteria; an action on a platform has an instruction.
    ///
    /// ## Why
    /// Nobody would know what is to be done, or when it is.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "lock_scope": ["billing"],
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder",
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"]}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///  "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}, {"id": "T-2",
    ///  "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml"}]}
    /// ```
    pub static PLAN_TASK_INCOMPLETE: Plan = {
        id: "plan-task-incomplete",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a task lacks what tasks of its kind need",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let needed: &[(&str, bool)] = if task.is_delegate() {
            &[("instruction", task.instruction.is_some())]
        } else {
            &[
                ("agent", task.agent.is_given()),
                ("lock_scope", task.lock_scope.is_given()),
                ("acceptance", task.acceptance.is_given()),
            ]
        };
        for (field, _) in needed.iter().filter(|(_, given)| !given) {
            let message = format!("{} has no `{field}`", task.id);
            let help = if task.is_delegate() {
                "write the instruction into the plan, or name the file that has it"
            } else {
                "add it; an action on a platform has `kind: delegate` and an `instruction` instead"
            };
            report.add(Pointer::at("/tasks").item(index), message, help);
        }
    }
}
