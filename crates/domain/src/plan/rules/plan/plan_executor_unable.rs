use crate::delegation::command::ExecutorKind;
use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An executor that is named for an action can carry it out. Git makes and deletes branches and tags; GitHub can do
    /// everything. A dry run does nothing, and so it is not for plans: `countersign run PLAN --dry-run` shows what would
    /// be done.
    ///
    /// ## Why
    /// The action would be answered as invalid, its id would be used up, and the task would never be done.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate", "executor": "git",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"PR_NUMBER": 4, "COMMENT_BODY": "ready"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}]}
    /// ```
    ///
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate", "executor": "dry-run",
    ///  "instruction": "instructions/branch.yaml"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": {"DELEGATION_INSTRUCTION_VERSION": "1.0", "INSTRUCTION_ID": "DI-2025-12-25-001",
    ///  "TIMESTAMP_UTC": "2025-12-25T10:30:00Z", "REQUESTER": {"AGENT_TYPE": "FOREMAN",
    ///  "AGENT_INSTANCE_ID": "foreman-1", "REPOSITORY": "acme/shop", "AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///  "ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"PR_NUMBER": 4, "COMMENT_BODY": "ready"}},
    ///  "AUTHORIZATION": {"GOVERNANCE_STATUS": "COMPLIANT", "GOVERNANCE_EVIDENCE": ".governance/check.md",
    ///  "QA_STATUS": "GREEN", "QA_EVIDENCE": ".qa/ok.json", "HUMAN_APPROVAL": "NO",
    ///  "ESCALATION_COMPLETED": "NOT_APPLICABLE"}, "EXPECTED_OUTCOME": {"DESCRIPTION": "it is there",
    ///  "SUCCESS_CRITERIA": "it is found", "FAILURE_HANDLING": "escalate"},
    ///  "AUDIT_CONTEXT": {"REQUIREMENT_ID": "R-1", "BUILD_PHASE": "release", "GOVERNANCE_RULE": "G-1",
    ///  "REASON": "a release"}}}]}
    /// ```
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate", "executor": "git",
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
    ///  "REASON": "a release"}}}]}
    /// ```
    pub static PLAN_EXECUTOR_UNABLE: Plan = {
        id: "plan-executor-unable",
        code: DependencyNotMet,
        severity: Error,
        summary: "an executor cannot carry the action out",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let Some(executor) = task.executor.filter(|_| task.is_delegate()) else { continue };
        if executor == ExecutorKind::DryRun {
            let message = format!("{} is for a dry run, which does nothing, so that it is never done", task.id);
            let help = "leave `executor` out, and look at the plan with `countersign run PLAN --dry-run`";
            report.add(Pointer::at("/tasks").item(index).key("executor"), message, help);
        }
        let Some(written) = task.instructed() else { continue };
        let action = written.record.action.kind();
        if !executor.can(action) {
            let message = format!("{} is for {}, which cannot {}", task.id, executor.as_str(), action.as_str());
            let help = "leave `executor` out, or name github";
            report.add(Pointer::at("/tasks").item(index).key("executor"), message, help);
        }
    }
}
