//! What a requester asks an executor to do on a platform.

use super::authority::{AuditContext, Completed, GovernanceStatus, QaStatus, Requester, YesNo, names_evidence};
use super::ids::InstructionId;
use crate::delegation::action::Action;
use crate::delegation::rules;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Contract, Rule, Text, Timestamp, Version, shape};

shape! {
    /// One platform action, asked for by an agent or a person who may not act there, with the authority for it.
    pub struct DelegationInstruction {
        /// The version of this contract.
        pub version as "DELEGATION_INSTRUCTION_VERSION": Version<1, 0, 2>,
        /// The id, which no other instruction has.
        pub instruction_id as "INSTRUCTION_ID": InstructionId,
        /// When it was given.
        pub timestamp as "TIMESTAMP_UTC": Timestamp = "2025-12-25T10:30:00Z",
        /// Who asks.
        pub requester as "REQUESTER": Requester,
        /// What is to be done.
        pub action as "ACTION": Action,
        /// What permits it.
        pub authorization as "AUTHORIZATION": Authorization,
        /// What should come of it.
        pub expected_outcome as "EXPECTED_OUTCOME": ExpectedOutcome,
        /// Why.
        pub audit_context as "AUDIT_CONTEXT": AuditContext,
    }
}

shape! {
    /// What permits an action, and what shows it.
    pub struct Authorization {
        /// Whether the rules of the house are kept.
        pub governance_status as "GOVERNANCE_STATUS": GovernanceStatus,
        /// The file that shows it, relative to the repository.
        pub governance_evidence as "GOVERNANCE_EVIDENCE": Text = ".governance/compliance-check.md",
        /// What the tests say.
        pub qa_status as "QA_STATUS": QaStatus,
        /// The file that shows it, relative to the repository, or `NOT_APPLICABLE`.
        pub qa_evidence as "QA_EVIDENCE": Text = ".qa/results-2025-12-25.json",
        /// Whether a person approved the action.
        pub human_approval as "HUMAN_APPROVAL": YesNo,
        /// Where the approval is to be found. Needed when a person approved.
        pub human_approval_evidence as "HUMAN_APPROVAL_EVIDENCE": Option<Text> = "owner's comment on pull request 42",
        /// Whether an escalation was brought to its end.
        pub escalation_completed as "ESCALATION_COMPLETED": Completed = "NOT_APPLICABLE",
        /// Where its resolution is to be found. Needed when one was.
        pub escalation_evidence as "ESCALATION_EVIDENCE": Option<Text>,
    }
}

shape! {
    /// What should come of an action.
    pub struct ExpectedOutcome {
        /// The state that should result.
        pub description as "DESCRIPTION": Text = "pull request 42 is closed",
        /// How to tell that it worked.
        pub success_criteria as "SUCCESS_CRITERIA": Text = "the state of pull request 42 is closed",
        /// What the requester does if it did not.
        pub failure_handling as "FAILURE_HANDLING": Text = "escalate to the owner of the repository",
    }
}

impl Authorization {
    /// The files that show it, each with its place in the instruction.
    pub fn evidence_files(&self) -> [(&'static str, &Text); 2] {
        [
            ("/AUTHORIZATION/GOVERNANCE_EVIDENCE", &self.governance_evidence),
            ("/AUTHORIZATION/QA_EVIDENCE", &self.qa_evidence),
        ]
    }
}

impl Contract for DelegationInstruction {
    const NAME: &'static str = "delegation_instruction";
    const VERSION: &'static str = "1.0";
    const DOMAIN: &'static str = "delegation";
    const SUMMARY: &'static str =
        "A platform action that one agent asks another to carry out, with the authority for it";
    const MARKS: &'static [&'static str] = &["DELEGATION_INSTRUCTION_VERSION"];
    const CONTEXT_DESPITE: &'static [Code] = &[Code::AuthorizationMissing];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::delegation_instruction::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.version.as_str())
    }

    /// The files of evidence that it names.
    fn files(&self) -> Vec<String> {
        let named = self.authorization.evidence_files().into_iter().map(|(_, path)| path);
        named.filter(|path| names_evidence(Some(path))).map(|path| path.as_str().to_owned()).collect()
    }

    fn names(&self) -> Vec<String> {
        vec![self.instruction_id.to_string()]
    }
}
