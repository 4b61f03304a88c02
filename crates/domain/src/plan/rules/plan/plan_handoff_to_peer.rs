use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff goes to a task whose agent is started here.
    ///
    /// ## Why
    /// It is received, and compared with what was sent, before the agent starts, and stands in its assignment. A peer claims
    /// its tasks itself; nobody could hold it back until the handoff was there.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"agents": {"coder": {"command": ["python3", "agents/coder.py"]}, "other": {"peer": true}}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "other", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"agents": {"coder": {"command": ["python3", "agents/coder.py"]}, "other": {"peer": true}}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "other", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    pub static PLAN_HANDOFF_TO_PEER: Plan = {
        id: "plan-handoff-to-peer",
        code: DependencyNotMet,
        severity: Error,
        summary: "a handoff goes to an agent that begins its tasks itself",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, edge) in it.record.edges().iter().enumerate() {
        let Some(task) = it.record.tasks.iter().find(|task| task.id == edge.to) else { continue };
        let mut agents = it.record.agents.iter();
        if agents.any(|(name, agent)| name == task.agent.as_str() && agent.peer == Some(true)) {
            let message =
                format!("{} is done by the peer `{}`, who begins it without us", edge.to, task.agent.as_str());
            let help = "let a program or a preset do it, or have the peer read what it needs from files";
            report.add(Pointer::at("/handoffs").item(index).key("to"), message, help);
        }
    }
}
