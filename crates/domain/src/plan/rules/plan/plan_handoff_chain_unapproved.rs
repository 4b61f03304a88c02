use crate::handoff::route::UNAPPROVED_MAX;
use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff that ends a chain of more than five tasks was agreed to by a person.
    ///
    /// ## Why
    /// With every step something of the beginning is lost. The handoff would be refused when it is sent, with the work before
    /// it done; whoever writes the plan can say now whether the chain is meant.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "a", "agent": "coder", "lock_scope": ["a"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "b", "agent": "coder", "lock_scope": ["b"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-3", "title": "c", "agent": "coder", "lock_scope": ["c"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-4", "title": "d", "agent": "coder", "lock_scope": ["d"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-5", "title": "e", "agent": "coder", "lock_scope": ["e"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-6", "title": "f", "agent": "coder", "lock_scope": ["f"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-7", "title": "g", "agent": "coder", "lock_scope": ["g"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [
    ///   {"from": "T-1", "to": "T-2"}, {"from": "T-2", "to": "T-3"}, {"from": "T-3", "to": "T-4"}, {"from": "T-4", "to": "T-5"},
    ///   {"from": "T-5", "to": "T-6"}, {"from": "T-6", "to": "T-7"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "a", "agent": "coder", "lock_scope": ["a"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "b", "agent": "coder", "lock_scope": ["b"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-3", "title": "c", "agent": "coder", "lock_scope": ["c"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-4", "title": "d", "agent": "coder", "lock_scope": ["d"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-5", "title": "e", "agent": "coder", "lock_scope": ["e"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-6", "title": "f", "agent": "coder", "lock_scope": ["f"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-7", "title": "g", "agent": "coder", "lock_scope": ["g"], "acceptance": [{"text": "holds", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [
    ///   {"from": "T-1", "to": "T-2"}, {"from": "T-2", "to": "T-3"}, {"from": "T-3", "to": "T-4"}, {"from": "T-4", "to": "T-5"},
    ///   {"from": "T-5", "to": "T-6"}, {"from": "T-6", "to": "T-7", "approved": true}
    /// ]}
    /// ```
    pub static PLAN_HANDOFF_CHAIN_UNAPPROVED: Plan = {
        id: "plan-handoff-chain-unapproved",
        code: CircularHandoff,
        severity: Error,
        summary: "a long chain of handoffs was agreed to by nobody",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, edge) in it.record.edges().iter().enumerate().filter(|(_, edge)| edge.approved != Some(true)) {
        // Of tasks that wait for each other another rule speaks.
        let Some(length) = it.record.chain_length(&edge.from).filter(|length| *length > UNAPPROVED_MAX) else {
            continue;
        };
        let message =
            format!("the handoff {} goes on from a chain of {length} tasks, and nobody agreed to it", edge.says());
        let help = "write `approved: true` if it is meant, or let an earlier task hand over";
        report.add(Pointer::at("/handoffs").item(index), message, help);
    }
}
