use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff goes from the work of an agent to the work of an agent.
    ///
    /// ## Why
    /// It is made from the result of a task, and read by the agent of another. An action on a platform has neither; what came of
    /// it is in its audit entry.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml"}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml"},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml",
    ///    "depends_on": ["T-1"]}
    /// ]}
    /// ```
    pub static PLAN_HANDOFF_OF_ACTION: Plan = {
        id: "plan-handoff-of-action",
        code: DependencyNotMet,
        severity: Error,
        summary: "a handoff goes to or from an action on a platform",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, edge) in it.record.edges().iter().enumerate() {
        for (end, id) in [("from", &edge.from), ("to", &edge.to)] {
            if it.record.tasks.iter().any(|task| task.id == *id && task.is_delegate()) {
                let message = format!("{id} is an action on a platform, which neither gives nor reads a handoff");
                let help = "say with `depends_on` which comes first, and hand over between the tasks of agents";
                report.add(Pointer::at("/handoffs").item(index).key(end), message, help);
            }
        }
    }
}
