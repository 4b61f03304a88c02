use crate::plan::payload::{Judge, Plan};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every agent that a task or a gate names is described under `agents`.
    ///
    /// ## Why
    /// Nobody would do the work, or look at it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "tester", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"gates": {"validate": ["builtin", "tester"]}}
    /// ```
    /// ```json rejected
    /// {"gates": {"judge": "tester"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"gates": {"validate": ["builtin", "person"], "judge": "optional"}}
    /// ```
    pub static PLAN_AGENT_UNKNOWN: Plan = {
        id: "plan-agent-unknown",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a task or a gate names an agent that the plan does not have",
        check: check,
    }
}

/// Names that stand for no agent.
const OF_GATES: [&str; 4] = ["builtin", "person", "none", "optional"];

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let known = |name: &str| it.record.agents.iter().any(|(known, _)| known == name);
    let help = "describe it under `agents`, or name one that is there";
    for (index, task) in it.record.tasks.iter().enumerate().filter(|(_, task)| task.agent.is_given()) {
        if !known(task.agent.as_str()) {
            let message =
                format!("{} is for agent `{}`, which the plan does not have", task.id, show(task.agent.as_str()));
            report.add(Pointer::at("/tasks").item(index).key("agent"), message, help);
        }
    }
    let Some(gates) = &it.record.gates else { return };
    for name in gates.validate.iter().flat_map(|names| names.iter()).map(|name| name.as_str()) {
        if !known(name) && !OF_GATES[..2].contains(&name) {
            let message = format!("the validator `{}` is no agent of the plan", show(name));
            report.add(Pointer::at("/gates/validate"), message, help);
        }
    }
    if let Some(Judge::Named(name)) = &gates.judge
        && !known(name.as_str())
        && !OF_GATES[1..].contains(&name.as_str())
    {
        let message = format!("the judge `{}` is no agent of the plan", show(name.as_str()));
        report.add(Pointer::at("/gates/judge"), message, help);
    }
}
