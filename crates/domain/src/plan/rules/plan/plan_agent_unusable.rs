use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An agent is one of three: a program, a known agent, or a peer that claims tasks itself. A program is an argument
    /// vector whose first part is a program, not an option.
    ///
    /// ## Why
    /// A run would find out only when the task is due.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"agents": {"coder": {"command": null}}}
    /// ```
    /// ```json rejected
    /// {"agents": {"coder": {"peer": true}}}
    /// ```
    /// ```json rejected
    /// {"agents": {"coder": {"command": "--yes"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"agents": {"coder": {"command": null, "preset": "claude"}}}
    /// ```
    pub static PLAN_AGENT_UNUSABLE: Plan = {
        id: "plan-agent-unusable",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an agent cannot be started",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (name, agent) in it.record.agents.iter() {
        let ways = [agent.command.is_some(), agent.preset.is_some(), agent.peer == Some(true)];
        let first = agent.command.as_ref().and_then(|command| command.first());
        let option = first.is_some_and(|it| it.as_str().starts_with('-'));
        let message = match ways.into_iter().filter(|way| *way).count() {
            0 => format!("nothing says how agent `{}` is started", show(name)),
            1 if option => format!("the program of agent `{}` begins like an option", show(name)),
            1 => continue,
            _ => format!("agent `{}` is described in several ways", show(name)),
        };
        let help = "give it one of `command`, `preset` and `peer: true`";
        report.add(Pointer::at("/agents").key(name), message, help);
    }
}
