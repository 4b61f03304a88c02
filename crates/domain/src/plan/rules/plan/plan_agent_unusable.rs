use crate::plan::payload::{Agent, Judge, Plan};
use crate::validation::row::{BUILTIN, ENDPOINT, NONE, PERSON};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An agent is one of three: a program, a known agent, or a peer that claims tasks itself. A program is an argument
    /// vector whose first part is a program, not an option. Its name is not one of the words that gates have, what it is
    /// handed of the environment does not begin with `COUNTERSIGN_`, and one that judges can be started.
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
    /// ```json rejected
    /// {"agents": {"builtin": {"command": ["agent"]}}}
    /// ```
    /// ```json rejected
    /// {"agents": {"coder": {"environment": ["COUNTERSIGN_TOKEN"]}}}
    /// ```
    /// ```json rejected
    /// {"agents": {"arbiter": {"peer": true, "role": "judge"}}, "gates": {"judge": "arbiter"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"agents": {"coder": {"command": null, "preset": "claude"}}}
    /// ```
    /// ```json accepted
    /// {"agents": {"coder": {"environment": ["API_TOKEN"]}, "helper": {"peer": true}}}
    /// ```
    pub static PLAN_AGENT_UNUSABLE: Plan = {
        id: "plan-agent-unusable",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an agent cannot be started",
        check: check,
    }
}

/// What gates call others than agents.
const WORDS: [&str; 5] = [BUILTIN, PERSON, NONE, ENDPOINT, "optional"];

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (name, agent) in it.record.agents.iter() {
        if let Some((message, help)) = fault(name, agent).or_else(|| unheard(it.record, name, agent)) {
            report.add(Pointer::at("/agents").key(name), message, help);
        }
    }
}

/// Why an agent cannot be started, and what to do.
fn fault(name: &str, agent: &Agent) -> Option<(String, &'static str)> {
    let (shown, one) = (show(name), "give it one of `command`, `preset` and `peer: true`");
    let ways = [agent.command.is_some(), agent.preset.is_some(), agent.peer == Some(true)];
    let first = agent.command.as_ref().and_then(|command| command.first());
    match ways.into_iter().filter(|way| *way).count() {
        0 => return Some((format!("nothing says how agent `{shown}` is started"), one)),
        1 if first.is_some_and(|it| it.as_str().starts_with('-')) => {
            return Some((format!("the program of agent `{shown}` begins like an option"), one));
        }
        1 => {}
        _ => return Some((format!("agent `{shown}` is described in several ways"), one)),
    }
    if WORDS.contains(&name) {
        let message = format!("an agent is called `{shown}`, which means somebody else at the gates");
        return Some((message, "give it another name"));
    }
    let mut handed = agent.environment.iter().flat_map(|names| names.iter()).map(|it| it.as_str());
    let own = handed.find(|it| it.to_ascii_uppercase().starts_with("COUNTERSIGN_"))?;
    let message = format!("agent `{shown}` cannot be handed `{}`: those come from its task", show(own));
    Some((message, "take it out of its `environment`"))
}

/// Why nobody would hear an agent that judges, and what to do. A peer that validates speaks for itself; a judge is asked.
fn unheard(plan: &Plan, name: &str, agent: &Agent) -> Option<(String, &'static str)> {
    let judge = plan.gates.as_ref().and_then(|gates| gates.judge.as_ref());
    let judges = matches!(judge, Some(Judge::Named(judge)) if judge.as_str() == name);
    let message = || format!("`{}` is a peer, and nobody can start it to judge", show(name));
    let help = "give it a `command` or a `preset`, or let `person` or an endpoint judge; a peer can validate";
    (agent.peer == Some(true) && judges).then(|| (message(), help))
}
