//! What an answer needs of an instruction. Its id must be readable, or there is nobody to answer to; of the rest the audit entry
//! keeps what was given, and says of what could not be read that it could not.

use super::compose;
use crate::delegation::action::ActionType;
use crate::delegation::parties;
use crate::delegation::payload::{
    AuthorizationLevel, Completed, GovernanceStatus, InstructionId, NOT_GIVEN, NOT_TEXT, QaStatus, Repository, YesNo,
    unread,
};
use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Name, Shape, Timestamp, check};
use serde_json::{Value, json};

/// What stands among the facts of an event for a word of an instruction that could not be read.
const UNREAD: &str = "UNREAD";

/// What an answer needs of an instruction.
pub(super) struct Header {
    pub(super) id: InstructionId,
    /// When it was given, if that can be read.
    pub(super) given: Option<Timestamp>,
    /// What is to be done, if that can be read.
    pub(super) action: Option<ActionType>,
    /// Where, if that can be read.
    repository: Option<Repository>,
    /// What goes into the audit entry.
    pub(super) kept: Value,
}

impl Header {
    /// Reads as much as can be. None, if the id cannot.
    pub(super) fn read(value: &Value, checker: &Checker<'_>) -> Option<Self> {
        let text = |name: &str| value[name].as_str().unwrap_or_default();
        let reader = Reader { checker };
        Some(Self {
            id: InstructionId::parse(text("INSTRUCTION_ID"))?,
            given: Timestamp::parse(text("TIMESTAMP_UTC")),
            action: value["ACTION"]["TYPE"].as_str().and_then(ActionType::parse),
            repository: reader.read::<Repository>(&value["REQUESTER"]["REPOSITORY"]),
            kept: reader.kept(value),
        })
    }

    /// What is to be done, as a fact: a word that is known, or that there is none.
    pub(super) fn action_word(&self) -> &str {
        self.action.map_or(UNREAD, ActionType::as_str)
    }

    /// Where, as a fact.
    pub(super) fn repository_word(&self) -> &str {
        self.repository.as_ref().map_or(UNREAD, Repository::as_str)
    }
}

/// Reads parts of an instruction, each by itself.
struct Reader<'a> {
    checker: &'a Checker<'a>,
}

impl Reader<'_> {
    fn read<T: Shape>(&self, value: &Value) -> Option<T> {
        let text = value.to_string();
        check::read(self.checker, Source { name: "part", text: &text }).ok()
    }

    /// A value as it is, if it is a `T`; otherwise what is said of one that could not be read.
    fn word<T: Shape>(&self, value: &Value) -> Value {
        match self.read::<T>(value) {
            Some(_) => value.clone(),
            None => json!(unread(value)),
        }
    }

    /// A text as it is, whatever it says; otherwise that there is none.
    fn text(&self, value: &Value) -> String {
        match value {
            Value::String(text) if !text.trim().is_empty() => text.clone(),
            Value::Null | Value::String(_) => NOT_GIVEN.to_owned(),
            _ => NOT_TEXT.to_owned(),
        }
    }

    /// The kind of an agent: a name that is known here.
    fn kind_of_agent(&self, value: &Value) -> Value {
        let known = value.as_str().is_some_and(|name| parties::is_requester(name, self.checker.settings));
        if known { value.clone() } else { json!(unread(value)) }
    }

    fn kept(&self, value: &Value) -> Value {
        let (requester, context) = (&value["REQUESTER"], &value["AUDIT_CONTEXT"]);
        json!({
            "ACTION_TYPE": self.word::<ActionType>(&value["ACTION"]["TYPE"]),
            "REQUESTER": {
                "AGENT_TYPE": self.kind_of_agent(&requester["AGENT_TYPE"]),
                "AGENT_INSTANCE_ID": self.word::<Name>(&requester["AGENT_INSTANCE_ID"]),
                "REPOSITORY": self.word::<Repository>(&requester["REPOSITORY"]),
                "AUTHORIZATION_LEVEL": self.word::<AuthorizationLevel>(&requester["AUTHORIZATION_LEVEL"]),
            },
            "AUTHORIZATION_EVIDENCE": self.evidence(&value["AUTHORIZATION"]),
            "GOVERNANCE_CONTEXT": {
                "REQUIREMENT_ID": self.text(&context["REQUIREMENT_ID"]),
                "BUILD_PHASE": self.text(&context["BUILD_PHASE"]),
                "GOVERNANCE_RULE": self.text(&context["GOVERNANCE_RULE"]),
                "REASON": self.text(&context["REASON"]),
            },
        })
    }

    /// The authority that an instruction shows, as an entry keeps it. Where it shows none, the entry says so.
    fn evidence(&self, given: &Value) -> Value {
        let governance = self.word::<GovernanceStatus>(&given["GOVERNANCE_STATUS"]);
        let qa = self.word::<QaStatus>(&given["QA_STATUS"]);
        let approval = self.word::<YesNo>(&given["HUMAN_APPROVAL"]);
        let completed = self.word::<Completed>(&given["ESCALATION_COMPLETED"]);
        let text = |name: &str| given[name].as_str().filter(|text| !text.trim().is_empty());
        let tested = qa != QaStatus::NotApplicable.as_str();
        let (approved, escalated) = (approval == YesNo::Yes.as_str(), completed == Completed::Yes.as_str());
        json!({
            "GOVERNANCE_STATUS": governance,
            "GOVERNANCE_EVIDENCE_PATH": compose::evidence_path(text("GOVERNANCE_EVIDENCE"), true),
            "QA_STATUS": qa,
            "QA_EVIDENCE_PATH": compose::evidence_path(text("QA_EVIDENCE"), tested),
            "HUMAN_APPROVAL": approval,
            "HUMAN_APPROVAL_REFERENCE": compose::reference(text("HUMAN_APPROVAL_EVIDENCE"), approved),
            "ESCALATION_COMPLETED": completed,
            "ESCALATION_REFERENCE": compose::reference(text("ESCALATION_EVIDENCE"), escalated),
        })
    }
}
