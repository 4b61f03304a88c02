use crate::plan::payload::{Agent, Judge, Plan};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// No agent that does tasks is a validator or the judge, under its own name or under another with the same program, or as
    /// the same known agent with the same model.
    ///
    /// ## Why
    /// The author of the work can never be its validator.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"gates": {"validate": "coder"}}
    /// ```
    /// ```json rejected
    /// {"agents": {"coder": {"command": ["agent"]}, "critic": {"command": ["agent"], "role": "validator"}}, "gates": {"validate": "critic"}}
    /// ```
    /// ```json rejected
    /// {"agents": {"coder": {"command": null, "preset": "claude"}, "critic": {"preset": "claude", "role": "validator"}}, "gates": {"validate": "critic"}}
    /// ```
    /// ```json rejected
    /// {"gates": {"judge": "coder"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"agents": {"critic": {"command": ["critic"], "role": "validator"}}, "gates": {"validate": "critic"}}
    /// ```
    /// ```json accepted
    /// {"agents": {"coder": {"command": null, "preset": "claude", "model": "small"},
    ///             "critic": {"preset": "claude", "model": "large", "role": "validator"}}, "gates": {"validate": "critic"}}
    /// ```
    pub static PLAN_VALIDATOR_IS_AUTHOR: Plan = {
        id: "plan-validator-is-author",
        code: MissingValidator,
        severity: Error,
        summary: "somebody would validate their own work",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let Some(gates) = &it.record.gates else { return };
    let find = |name: &str| it.record.agents.iter().find(|(known, _)| known == name).map(|(_, agent)| agent);
    let validators = gates.validate.iter().flat_map(|names| names.iter()).map(|name| (name.as_str(), "validate"));
    let judge = match &gates.judge {
        Some(Judge::Named(name)) => Some((name.as_str(), "judge")),
        _ => None,
    };
    for (name, gate) in validators.chain(judge) {
        let Some(agent) = find(name) else { continue };
        let same = |other: &Agent| {
            let program = agent.command.is_some() && agent.command == other.command;
            let known = agent.preset.is_some() && agent.preset == other.preset && agent.model == other.model;
            (program || known) && agent.environment == other.environment
        };
        let author = it.record.tasks.iter().find(|task| {
            let other = task.agent.as_str();
            other == name || find(other).is_some_and(same)
        });
        if let Some(task) = author {
            let message = format!("`{}` does {}, and would look at its own work", show(name), task.id);
            let help = "name somebody else: another agent, another model, `builtin` or `person`";
            report.add(Pointer::at("/gates").key(gate), message, help);
        }
    }
}
