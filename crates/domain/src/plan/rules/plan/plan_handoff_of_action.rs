use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff goes to the work of an agent. An action on a platform may hand over how it was answered, but takes nothing.
    ///
    /// ## Why
    /// An action is carried out exactly as its instruction stands, which a person may have approved. Nobody reads anything before
    /// it is, so that nothing that is handed to it could change it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml"}
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
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Make the branch", "kind": "delegate", "instruction": "instructions/branch.yaml"},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2"}]}
    /// ```
    pub static PLAN_HANDOFF_OF_ACTION: Plan = {
        id: "plan-handoff-of-action",
        code: DependencyNotMet,
        severity: Error,
        summary: "a handoff goes to an action on a platform",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, edge) in it.record.edges().iter().enumerate() {
        let to = &edge.to;
        if it.record.tasks.iter().any(|task| task.id == *to && task.is_delegate()) {
            let message =
                format!("{to} is an action on a platform, which is carried out as it stands and reads no handoff");
            let help = "say with `depends_on` which comes first, and hand over to the tasks of agents";
            report.add(Pointer::at("/handoffs").item(index).key("to"), message, help);
        }
    }
}
