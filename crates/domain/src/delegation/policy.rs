//! Who may have what done: the one table of the ways in which an action can lack authority.
//!
//! What an action needs by default is a column of the table of actions; what can stand against it in one instruction is
//! here. An instruction has the authority it needs when no row of [`TABLE`] speaks against it. Each row is one rule of
//! instructions, and what is asked of responses and audit entries is asked of the same rows.

use super::action::{Action, ActionType};
use super::payload::{
    AuditEntry, AuthorizationLevel, Completed, DelegationInstruction, GovernanceStatus, QaStatus, YesNo, names_evidence,
};

/// What an action is asked for with, as far as authority goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The action.
    pub action: ActionType,
    /// The action that it comes to: an update that closes is a closing.
    pub amounts_to: ActionType,
    /// The authority that is claimed.
    pub level: AuthorizationLevel,
    /// Whether the rules of the house are kept.
    pub governance: GovernanceStatus,
    /// What the tests say.
    pub qa: QaStatus,
    /// Whether a person approved, and it is said where.
    pub approved: bool,
    /// Whether an escalation was resolved, and it is said where.
    pub escalated: bool,
}

/// A way to lack authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The action needs more authority than is claimed.
    Level,
    /// A person's approval is claimed, and there is none with evidence.
    Approval,
    /// An override without a person's approval.
    Override,
    /// A merge while the tests are not green.
    Qa,
    /// A resolved escalation is claimed, and there is none with evidence.
    Escalation,
    /// The rules of the house stop everything but asking for help.
    Governance,
}

/// One row: what is lacking, and when.
#[derive(Debug)]
pub struct Row {
    /// What is lacking.
    pub lack: Lack,
    /// Whether it is, for a claim.
    pub applies: fn(&Claim) -> bool,
}

/// Every way to lack authority.
pub static TABLE: &[Row] = &[
    Row { lack: Lack::Level, applies: |claim| claim.level < claim.needs() },
    Row { lack: Lack::Approval, applies: |claim| claim.level == AuthorizationLevel::HumanApproved && !claim.approved },
    Row { lack: Lack::Override, applies: |claim| claim.governance == GovernanceStatus::Override && !claim.approved },
    Row {
        lack: Lack::Qa,
        applies: |claim| {
            claim.action == ActionType::MergePullRequest
                && matches!(claim.qa, QaStatus::Red | QaStatus::Amber)
                && claim.governance != GovernanceStatus::Override
        },
    },
    Row {
        lack: Lack::Escalation,
        // An escalation begins with an issue, which cannot wait for its own resolution.
        applies: |claim| {
            claim.level == AuthorizationLevel::EscalationResolved
                && !claim.escalated
                && claim.action != ActionType::CreateGithubIssue
        },
    },
    Row {
        lack: Lack::Governance,
        applies: |claim| {
            let asks_for_help = matches!(claim.action, ActionType::CreateGithubIssue | ActionType::CommentOnIssue);
            claim.governance == GovernanceStatus::Blocked && !(asks_for_help && (claim.approved || claim.escalated))
        },
    },
];

impl Claim {
    /// The claim of an instruction.
    pub fn of_instruction(instruction: &DelegationInstruction) -> Self {
        let DelegationInstruction { requester, authorization, action, .. } = instruction;
        Self {
            action: Action::kind(action),
            amounts_to: action.amounts_to(),
            level: requester.level,
            governance: authorization.governance_status,
            qa: authorization.qa_status,
            approved: authorization.human_approval == YesNo::Yes
                && names_evidence(authorization.human_approval_evidence.as_ref()),
            escalated: authorization.escalation_completed == Completed::Yes
                && names_evidence(authorization.escalation_evidence.as_ref()),
        }
    }

    /// The claim on record in an audit entry. It does not say whether an update was a closing, which needs no more than
    /// an update does. None, if what was claimed could not be read.
    pub fn of_entry(entry: &AuditEntry) -> Option<Self> {
        let evidence = &entry.authorization_evidence;
        let action = *entry.action.kind.known()?;
        Some(Self {
            action,
            amounts_to: action,
            level: *entry.requester.level.known()?,
            governance: *evidence.governance_status.known()?,
            qa: *evidence.qa_status.known()?,
            approved: evidence.human_approval.is(&YesNo::Yes)
                && names_evidence(evidence.human_approval_reference.as_ref()),
            escalated: evidence.escalation_completed.is(&Completed::Yes)
                && names_evidence(evidence.escalation_reference.as_ref()),
        })
    }

    /// The least authority that the action needs.
    pub fn needs(&self) -> AuthorizationLevel {
        self.action.info().needs.max(self.amounts_to.info().needs)
    }

    /// Whether the policy wants a person to have approved it: the action is more than an agent may do by itself, or rules of
    /// the house are set aside for it.
    pub fn asks_a_person(&self) -> bool {
        self.needs() > AuthorizationLevel::Autonomous || self.governance != GovernanceStatus::Compliant
    }

    /// Whether this is lacking.
    pub fn lacks(&self, lack: Lack) -> bool {
        TABLE.iter().any(|row| row.lack == lack && (row.applies)(self))
    }

    /// Whether nothing is lacking.
    pub fn is_authorized(&self) -> bool {
        !TABLE.iter().any(|row| (row.applies)(self))
    }
}

impl Lack {
    /// What is lacking, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Lack::Level => "the authorization level is too low for the action",
            Lack::Approval => "no person's approval is shown",
            Lack::Override => "no person approved the override",
            Lack::Qa => "the tests are not green",
            Lack::Escalation => "the escalation is not resolved",
            Lack::Governance => "governance is blocked",
        }
    }
}

/// The first thing that a claim lacks.
pub fn first_lack(claim: &Claim) -> Option<Lack> {
    TABLE.iter().find(|row| (row.applies)(claim)).map(|row| row.lack)
}
