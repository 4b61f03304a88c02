//! What is kept of a platform action, for ever.

use super::as_given::{AsGiven, Word};
use super::authority::{AuditContext, AuthorizationLevel, Completed, GovernanceStatus, QaStatus, YesNo};
use super::ids::{AuditEntryId, InstructionId, Repository, ResponseId};
use super::resource::{HttpStatus, HttpsUrl, ResourceType};
use super::text_or::TextOr;
use crate::delegation::action::ActionType;
use crate::delegation::rules;
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{
    Contract, Form, Int, JsonObject, Kin, Name, Nullable, Outside, Rule, Text, Timestamp, Untrusted, Version,
    canonical, choice, pattern, sha256_hex, shape,
};

choice! {
    /// How a request is sent.
    pub enum Method {
        /// Reads.
        Get = "GET",
        /// Makes.
        Post = "POST",
        /// Puts in place.
        Put = "PUT",
        /// Changes.
        Patch = "PATCH",
        /// Removes.
        Delete = "DELETE",
    }
}

choice! {
    /// Whether someone has checked an entry.
    pub enum VerificationStatus {
        /// Nobody has yet.
        Unverified = "UNVERIFIED",
        /// It was checked and holds.
        Verified = "VERIFIED",
    }
}

pattern! {
    /// A SHA-256 in 64 lower-case hexadecimal digits, without a prefix.
    pub struct Checksum {
        pattern: r"^[0-9a-f]{64}$",
        example: "cb26015adb1b6e02b6be72f0d32be4604ed63c1a09e9e1eca9effa915d6d0d24",
        says: "a SHA-256 in 64 lower-case hexadecimal digits",
        test: |text| text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
    }
}

shape! {
    /// One platform action: who asked, who acted, on what authority, what was sent, what came back. It is never
    /// changed; an entry that corrects it names it.
    pub struct AuditEntry {
        /// The version of this contract.
        pub version as "PLATFORM_ACTION_AUDIT_VERSION": Version<1, 0, 2>,
        /// The id, which no other entry has.
        pub audit_entry_id as "AUDIT_ENTRY_ID": AuditEntryId,
        /// When the entry was written.
        pub timestamp as "TIMESTAMP_UTC": Timestamp = "2025-12-25T10:30:14Z",
        /// Which action.
        pub action as "ACTION": AuditedAction,
        /// Who asked.
        pub requester as "REQUESTER": AuditedRequester,
        /// Who acted.
        pub executor as "EXECUTOR": AuditedExecutor,
        /// On what authority.
        pub authorization_evidence as "AUTHORIZATION_EVIDENCE": AuthorizationEvidence,
        /// What was sent to the platform. Not there if nothing was.
        pub platform_request as "PLATFORM_REQUEST": Option<PlatformRequest> = PlatformRequest::example(),
        /// What the platform answered. Not there if it did not.
        pub platform_response as "PLATFORM_RESPONSE": Option<PlatformResponse> = PlatformResponse::example(),
        /// What came of it.
        pub outcome as "OUTCOME": Outcome,
        /// Why it was asked for: the instruction's `AUDIT_CONTEXT`.
        pub governance_context as "GOVERNANCE_CONTEXT": AuditContext,
        /// What makes a change show.
        pub integrity as "INTEGRITY": Integrity,
    }
}

shape! {
    /// Which action an entry is about.
    pub struct AuditedAction {
        /// The action.
        pub kind as "TYPE": AsGiven<ActionType> = "CLOSE_PULL_REQUEST",
        /// The instruction that asked for it.
        pub instruction_id as "INSTRUCTION_ID": InstructionId,
        /// The response that reports it.
        pub response_id as "RESPONSE_ID": ResponseId,
    }
}

shape! {
    /// Who asked, as the instruction said. What of it could not be read stands as `NOT_GIVEN`, `NOT_TEXT` or `AS_GIVEN: …`.
    pub struct AuditedRequester {
        /// What kind of agent it is: `FOREMAN`, `HUMAN`, or a name from the configuration.
        pub agent_type as "AGENT_TYPE": AsGiven<Name> = "FOREMAN",
        /// Which one of them.
        pub agent_instance_id as "AGENT_INSTANCE_ID": AsGiven<Name> = "foreman-1",
        /// The repository in which it was to happen.
        pub repository as "REPOSITORY": AsGiven<Repository>,
        /// On what authority.
        pub level as "AUTHORIZATION_LEVEL": AsGiven<AuthorizationLevel> = "HUMAN_APPROVED",
    }
}

shape! {
    /// Who acted.
    pub struct AuditedExecutor {
        /// What kind of agent it is: `MATURION`, or a name from the configuration.
        pub agent_type as "AGENT_TYPE": Name = "MATURION",
        /// Which one of them.
        pub agent_instance_id as "AGENT_INSTANCE_ID": Name = "maturion-1",
        /// When it acted.
        pub execution_timestamp as "EXECUTION_TIMESTAMP": Timestamp = "2025-12-25T10:30:12Z",
    }
}

shape! {
    /// The authority for an action, as the instruction gave it.
    pub struct AuthorizationEvidence {
        /// Whether the rules of the house were kept.
        pub governance_status as "GOVERNANCE_STATUS": AsGiven<GovernanceStatus>,
        /// The file that shows it, relative to the repository.
        pub governance_evidence_path as "GOVERNANCE_EVIDENCE_PATH": Text = ".governance/compliance-check.md",
        /// What the tests said.
        pub qa_status as "QA_STATUS": AsGiven<QaStatus>,
        /// The file that shows it, relative to the repository, or `NOT_APPLICABLE`.
        pub qa_evidence_path as "QA_EVIDENCE_PATH": Text = ".qa/results-2025-12-25.json",
        /// Whether a person approved.
        pub human_approval as "HUMAN_APPROVAL": AsGiven<YesNo>,
        /// Where the approval is to be found. Needed when a person approved.
        pub human_approval_reference as "HUMAN_APPROVAL_REFERENCE": Option<Text> = "owner's comment on pull request 42",
        /// Whether an escalation was brought to its end.
        pub escalation_completed as "ESCALATION_COMPLETED": AsGiven<Completed> = "NOT_APPLICABLE",
        /// Where its resolution is to be found. Needed when one was.
        pub escalation_reference as "ESCALATION_REFERENCE": Option<Text>,
    }
}

shape! {
    /// What was sent to the platform.
    pub struct PlatformRequest {
        /// Where to.
        pub endpoint as "ENDPOINT": Text = "https://api.github.com/repos/acme/shop/pulls/42",
        /// How.
        pub method as "METHOD": Method = "PATCH",
        /// With what, as a text or an object, with secrets redacted.
        pub parameters as "PARAMETERS": TextOr<JsonObject> = json!({"state": "closed"}),
        /// When.
        pub timestamp as "TIMESTAMP_UTC": Timestamp = "2025-12-25T10:30:11Z",
    }
}

shape! {
    /// What the platform answered.
    pub struct PlatformResponse {
        /// The HTTP status.
        pub status_code as "STATUS_CODE": HttpStatus = 200,
        /// What became of the request, in a word: that of the response.
        pub status as "STATUS": Name = "SUCCESS",
        /// Where the resource is. Needed when the action succeeded.
        pub resource_url as "RESOURCE_URL": Option<HttpsUrl> = "https://github.com/acme/shop/pull/42",
        /// The platform's own id for it.
        pub resource_id as "RESOURCE_ID": Option<Name> = "PR_kwDOAB42",
        /// What kind of thing it is.
        pub resource_type as "RESOURCE_TYPE": Option<ResourceType> = "pull_request",
        /// What the platform said was wrong. Needed when the action did not succeed.
        pub error_message as "ERROR_MESSAGE": Option<Untrusted<Text>>,
        /// The platform's error code.
        pub error_code as "ERROR_CODE": Option<Name>,
        /// When the answer came.
        pub timestamp as "TIMESTAMP_UTC": Timestamp = "2025-12-25T10:30:12Z",
    }
}

shape! {
    /// What came of an action.
    pub struct Outcome {
        /// The state that resulted, in words.
        pub resulting_state as "RESULTING_STATE": Text = "pull request 42 is closed",
        /// The platform's id for the resource. Needed when the action succeeded.
        pub resource_id as "RESOURCE_ID": Option<Name> = "PR_kwDOAB42",
        /// What kind of thing it is. Needed when the action succeeded.
        pub resource_type as "RESOURCE_TYPE": Option<ResourceType> = "pull_request",
        /// Its number. Needed for issues and pull requests.
        pub resource_number as "RESOURCE_NUMBER": Option<Int<1>> = 42,
        /// Whether what was asked for was done.
        pub success as "SUCCESS": YesNo,
        /// Anything else worth knowing.
        pub completion_notes as "COMPLETION_NOTES": Option<Untrusted<Text>>,
    }
}

shape! {
    /// What makes a change to an entry show.
    pub struct Integrity {
        /// The SHA-256 of the canonical form (RFC 8785) of the whole entry without `CHECKSUM`, `SUPERSEDED_BY` and
        /// `VERIFICATION_STATUS`.
        pub checksum as "CHECKSUM": Checksum,
        /// Always true.
        pub immutable as "IMMUTABLE": bool,
        /// The entry that this one corrects.
        pub supersedes as "SUPERSEDES": Option<AuditEntryId>,
        /// The entry that corrects this one; null while there is none.
        pub superseded_by as "SUPERSEDED_BY": Nullable<AuditEntryId>,
        /// Who wrote the entry.
        pub created_by as "CREATED_BY": Name = "maturion-1",
        /// Whether someone has checked it.
        pub verification_status as "VERIFICATION_STATUS": VerificationStatus,
    }
}

/// The members of `INTEGRITY` that the checksum does not cover: itself, and what may change later.
const UNCOVERED: [&str; 3] = ["CHECKSUM", "SUPERSEDED_BY", "VERIFICATION_STATUS"];

/// The checksum that an entry should carry.
pub fn checksum(mut entry: Value) -> String {
    if let Some(Value::Object(integrity)) = entry.get_mut("INTEGRITY") {
        for member in UNCOVERED {
            integrity.shift_remove(member);
        }
    }
    sha256_hex(canonical(&entry).as_bytes())
}

impl AuditEntry {
    /// What of the instruction could not be read, each with its place.
    pub fn unread(&self) -> Vec<(&'static str, &str)> {
        fn at<'a, T: Word>(pointer: &'static str, it: &'a AsGiven<T>) -> Option<(&'static str, &'a str)> {
            it.known().is_none().then(|| (pointer, it.as_written()))
        }
        let (requester, evidence) = (&self.requester, &self.authorization_evidence);
        let all = [
            at("/ACTION/TYPE", &self.action.kind),
            at("/REQUESTER/AGENT_TYPE", &requester.agent_type),
            at("/REQUESTER/AGENT_INSTANCE_ID", &requester.agent_instance_id),
            at("/REQUESTER/REPOSITORY", &requester.repository),
            at("/REQUESTER/AUTHORIZATION_LEVEL", &requester.level),
            at("/AUTHORIZATION_EVIDENCE/GOVERNANCE_STATUS", &evidence.governance_status),
            at("/AUTHORIZATION_EVIDENCE/QA_STATUS", &evidence.qa_status),
            at("/AUTHORIZATION_EVIDENCE/HUMAN_APPROVAL", &evidence.human_approval),
            at("/AUTHORIZATION_EVIDENCE/ESCALATION_COMPLETED", &evidence.escalation_completed),
        ];
        all.into_iter().flatten().collect()
    }
}

impl Contract for AuditEntry {
    const NAME: &'static str = "audit_entry";
    const VERSION: &'static str = "1.0";
    const DOMAIN: &'static str = "delegation";
    const SUMMARY: &'static str = "What is kept of a delegated platform action, sealed with a checksum";
    const MARKS: &'static [&'static str] = &["PLATFORM_ACTION_AUDIT_VERSION"];
    const HAS_PAST: bool = true;
    const FORMS: &'static [Form] = &[Form::Json, Form::Yaml, Form::Markdown];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::audit_entry::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.version.as_str())
    }

    fn names(&self) -> Vec<String> {
        vec![self.audit_entry_id.to_string()]
    }

    fn kin(&self) -> Vec<Kin> {
        let mut kin = vec![
            Kin::required("delegation_instruction", self.action.instruction_id.as_str()),
            Kin::required("delegation_response", self.action.response_id.as_str()),
        ];
        let corrected = self.integrity.supersedes.iter();
        kin.extend(corrected.map(|id| Kin::optional("audit_entry", id.as_str())));
        kin
    }

    /// A new entry has no successor and has not been checked by anyone.
    fn default_for(pointer: &str, _: &Value, _: &Outside) -> Option<Value> {
        match pointer {
            "/INTEGRITY/SUPERSEDED_BY" => Some(Value::Null),
            "/INTEGRITY/VERIFICATION_STATUS" => Some(VerificationStatus::Unverified.as_str().into()),
            _ => None,
        }
    }

    fn seal(document: &mut Value) {
        if document.pointer("/INTEGRITY/CHECKSUM").is_none() {
            return;
        }
        let sealed = checksum(document.clone());
        if let Some(place) = document.pointer_mut("/INTEGRITY/CHECKSUM") {
            *place = sealed.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_contract::Shape as _;

    #[test]
    fn the_example_is_sealed_as_it_stands() {
        let mut sealed = AuditEntry::example();
        AuditEntry::seal(&mut sealed);
        assert_eq!(sealed, AuditEntry::example());
    }

    #[test]
    fn the_seal_covers_all_but_three_members() {
        let base = checksum(AuditEntry::example());
        let changed = |pointer: &str| {
            let mut entry = AuditEntry::example();
            if let Some(place) = entry.pointer_mut(pointer) {
                *place = "other".into();
            }
            checksum(entry) != base
        };
        assert!(changed("/OUTCOME/SUCCESS") && changed("/INTEGRITY/CREATED_BY") && changed("/INTEGRITY/IMMUTABLE"));
        for member in UNCOVERED {
            assert!(!changed(&format!("/INTEGRITY/{member}")), "{member}");
        }
    }
}
