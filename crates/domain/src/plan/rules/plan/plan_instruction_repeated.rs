use crate::delegation::trying::id_of_try;
use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};
use std::collections::BTreeMap;

rule! {
    /// Each instruction of a plan has an id of its own, with a number of at most six digits.
    ///
    /// ## Why
    /// An instruction is acted on once for its id. Tries after the first have longer numbers, which are made from it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "CREATE_BRANCH", "PARAMETERS": {"BRANCH_NAME": "release/1",
    ///  "SOURCE_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}, {"id": "T-2", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "CREATE_BRANCH", "PARAMETERS": {"BRANCH_NAME": "release/2",
    ///  "SOURCE_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-1000001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "CREATE_BRANCH", "PARAMETERS": {"BRANCH_NAME": "release/2",
    ///  "SOURCE_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "CREATE_BRANCH", "PARAMETERS": {"BRANCH_NAME": "release/1",
    ///  "SOURCE_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}, {"id": "T-2", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-002",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "CREATE_BRANCH", "PARAMETERS": {"BRANCH_NAME": "release/2",
    ///  "SOURCE_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}]}
    /// ```
    pub static PLAN_INSTRUCTION_REPEATED: Plan = {
        id: "plan-instruction-repeated",
        code: CorrelationMismatch,
        severity: Error,
        summary: "an instruction has no id of its own",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let mut seen = BTreeMap::new();
    for (index, task) in it.record.tasks.iter().enumerate() {
        let Some(written) = task.instructed() else { continue };
        let id = written.record.instruction_id.as_str();
        let at = Pointer::at("/tasks").item(index).key("instruction").key("INSTRUCTION_ID");
        if id_of_try(id, 1).is_none() {
            let message = format!("the number of {id} has more than six digits");
            report.add(at, message, "give it a number of at most six digits");
        } else if let Some(other) = seen.insert(id, &task.id) {
            let message = format!("{} and {other} are both instructed as {id}", task.id);
            report.add(at, message, "give each instruction an id of its own");
        }
    }
}
