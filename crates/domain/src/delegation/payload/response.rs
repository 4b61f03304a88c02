//! What an executor answers to an instruction.

use super::authority::YesNo;
use super::ids::{AuditEntryId, InstructionId, ResponseId};
use super::resource::{HttpStatus, HttpsUrl, ResourceType};
use crate::delegation::rules;
use countersign_contract::serde_json::Value;
use countersign_contract::{
    Contract, Int, Kin, List, Name, Outside, Rule, Text, Timestamp, Untrusted, Version, choice, pattern, shape,
};

choice! {
    /// What became of an instruction.
    pub enum Status {
        /// It was carried out, and the platform confirmed it.
        Success = "SUCCESS",
        /// It was tried and failed.
        Failure = "FAILURE",
        /// It was tried and the platform's own rules forbade it.
        Blocked = "BLOCKED",
        /// It was not tried, because the instruction is wrong or lacks authority.
        InvalidRequest = "INVALID_REQUEST",
    }
}

choice! {
    /// What kind of failure it was.
    pub enum ErrorType {
        /// The platform answered with an error: rate limit, outage.
        ApiError = "API_ERROR",
        /// The executor may not do this.
        AuthorizationFailure = "AUTHORIZATION_FAILURE",
        /// The platform found the parameters wrong.
        ValidationFailure = "VALIDATION_FAILURE",
        /// A policy of the platform forbids it: branch protection, required checks.
        PlatformConstraint = "PLATFORM_CONSTRAINT",
    }
}

pattern! {
    /// A field of the instruction, by the names on the way to it with dots between them.
    pub struct FieldPath {
        pattern: r"^[A-Za-z0-9_-]+(\[[0-9]+\])*(\.[A-Za-z0-9_-]+(\[[0-9]+\])*)*$",
        example: "ACTION.PARAMETERS.HEAD_BRANCH",
        says: "a field with dots between its names, such as ACTION.PARAMETERS.HEAD_BRANCH",
        test: |text| text.split('.').all(is_step),
    }
}

pattern! {
    /// A number of seconds, written as a text.
    pub struct Seconds {
        pattern: r"^(0|[1-9][0-9]{0,8})$",
        example: "60",
        says: "whole seconds in quotes, such as \"60\"",
        test: |text| {
            let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
            digits && (text == "0" || !text.starts_with('0'))
        },
    }
}

fn is_step(step: &str) -> bool {
    let (name, indexes) = step.split_once('[').map_or((step, None), |(name, rest)| (name, Some(rest)));
    let named = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'));
    let indexed = indexes.is_none_or(|indexes| {
        indexes.strip_suffix(']').is_some_and(|indexes| {
            indexes.split("][").all(|index| !index.is_empty() && index.bytes().all(|it| it.is_ascii_digit()))
        })
    });
    named && indexed
}

shape! {
    /// What became of one instruction, with what shows it. Nobody goes on without it.
    pub struct DelegationResponse {
        /// The version of this contract.
        pub version as "DELEGATION_RESPONSE_VERSION": Version<1, 0, 2>,
        /// The id, which no other response has.
        pub response_id as "RESPONSE_ID": ResponseId,
        /// The instruction that is answered.
        pub instruction_id as "INSTRUCTION_ID": InstructionId,
        /// When it was answered; not before the instruction was given.
        pub timestamp as "TIMESTAMP_UTC": Timestamp = "2025-12-25T10:30:15Z",
        /// What became of it.
        pub status as "STATUS": Status,
        /// What the platform holds now. There when, and only when, the action succeeded.
        pub platform_evidence as "PLATFORM_EVIDENCE": Option<PlatformEvidence> = PlatformEvidence::example(),
        /// What went wrong. There when, and only when, the action failed or was blocked.
        pub failure_details as "FAILURE_DETAILS": Option<FailureDetails>,
        /// What is wrong with the instruction. There when, and only when, the request is invalid.
        pub validation_errors as "VALIDATION_ERRORS": Option<List<ValidationError>>,
        /// The entry in the audit trail.
        pub audit_entry_id as "AUDIT_ENTRY_ID": AuditEntryId,
        /// The file of that entry, relative to the repository.
        pub audit_entry_path as "AUDIT_ENTRY_PATH": Text = ".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md",
        /// Who carried it out.
        pub executor as "EXECUTOR": Executor,
    }
}

shape! {
    /// What the platform holds after an action that succeeded.
    pub struct PlatformEvidence {
        /// What kind of thing was made or changed.
        pub resource_type as "RESOURCE_TYPE": ResourceType = "pull_request",
        /// The platform's own id for it.
        pub resource_id as "RESOURCE_ID": Name = "PR_kwDOAB42",
        /// Its number. Needed for issues and pull requests.
        pub resource_number as "RESOURCE_NUMBER": Option<Int<1>> = 42,
        /// Where it is.
        pub resource_url as "RESOURCE_URL": HttpsUrl,
        /// The state it is in now, such as `open`, `closed` or `merged`.
        pub resource_state as "RESOURCE_STATE": Name = "closed",
        /// When it was made. Needed if the action made it.
        pub created_at as "CREATED_AT": Option<Timestamp>,
        /// When it was changed. Needed if the action changed it.
        pub updated_at as "UPDATED_AT": Option<Timestamp> = "2025-12-25T10:30:12Z",
        /// The HTTP status that the platform answered with.
        pub api_response_status as "API_RESPONSE_STATUS": HttpStatus = 200,
    }
}

shape! {
    /// What went wrong, and what can be done about it.
    pub struct FailureDetails {
        /// What kind of failure it was.
        pub error_type as "ERROR_TYPE": ErrorType,
        /// The platform's error code, or the HTTP status, as a text.
        pub error_code as "ERROR_CODE": Name = "503",
        /// What the platform or the executor said.
        pub error_message as "ERROR_MESSAGE": Untrusted<Text> = "the service is not available",
        /// What to do about it.
        pub remediation_guidance as "REMEDIATION_GUIDANCE": Untrusted<Text> = "try again in a minute",
        /// Whether the requester should try again.
        pub retry_allowed as "RETRY_ALLOWED": YesNo,
        /// After how many seconds.
        pub retry_after as "RETRY_AFTER": Option<Seconds>,
    }
}

shape! {
    /// One thing that is wrong with an instruction.
    pub struct ValidationError {
        /// Which field.
        pub field as "FIELD": FieldPath,
        /// What is wrong with it.
        pub error as "ERROR": Untrusted<Text> = "the branch does not exist",
        /// What it should be.
        pub expected as "EXPECTED": Untrusted<Text> = "a branch of the repository",
    }
}

shape! {
    /// Who carried out an action.
    pub struct Executor {
        /// What kind of agent it is: `MATURION`, or a name from the configuration.
        pub agent_type as "AGENT_TYPE": Name = "MATURION",
        /// Which one of them.
        pub agent_instance_id as "AGENT_INSTANCE_ID": Name = "maturion-1",
        /// How long it took from receiving the instruction to answering, in milliseconds.
        pub execution_duration_ms as "EXECUTION_DURATION_MS": Int<0> = 2341,
    }
}

/// A part of a response that depends on its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether it is there.
    pub there: bool,
    /// Whether nothing is in it, so that it says as little as one that is not there.
    pub empty: bool,
    /// Whether the status calls for it.
    pub wanted: bool,
}

impl DelegationResponse {
    /// The parts that depend on the status. A status calls for exactly one of them.
    pub fn sections(&self) -> [Section; 3] {
        let empty = self.validation_errors.as_ref().is_some_and(|errors| errors.is_empty());
        let section =
            |name, there, wanted| Section { name, there, empty: empty && name == "VALIDATION_ERRORS", wanted };
        let status = self.status;
        [
            section("PLATFORM_EVIDENCE", self.platform_evidence.is_some(), status == Status::Success),
            section(
                "FAILURE_DETAILS",
                self.failure_details.is_some(),
                matches!(status, Status::Failure | Status::Blocked),
            ),
            section("VALIDATION_ERRORS", self.validation_errors.is_some(), status == Status::InvalidRequest),
        ]
    }
}

impl DelegationResponse {
    /// Whether it declines the time at which the instruction says that it was given.
    pub fn declines_the_time(&self) -> bool {
        let named = |error: &ValidationError| error.field.as_str() == "TIMESTAMP_UTC";
        self.status == Status::InvalidRequest && self.validation_errors.iter().flat_map(|it| it.iter()).any(named)
    }
}

impl Contract for DelegationResponse {
    const NAME: &'static str = "delegation_response";
    const VERSION: &'static str = "1.0";
    const DOMAIN: &'static str = "delegation";
    const SUMMARY: &'static str = "What became of a delegated platform action, with the evidence for it";
    const MARKS: &'static [&'static str] = &["DELEGATION_RESPONSE_VERSION"];
    const HAS_PAST: bool = true;

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::delegation_response::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.version.as_str())
    }

    /// The audit entry that it names.
    fn files(&self) -> Vec<String> {
        vec![self.audit_entry_path.as_str().to_owned()]
    }

    fn names(&self) -> Vec<String> {
        // By the id of its instruction too, since an instruction has one answer.
        vec![self.response_id.to_string(), self.instruction_id.to_string()]
    }

    fn kin(&self) -> Vec<Kin> {
        vec![
            Kin::required("delegation_instruction", self.instruction_id.as_str()),
            Kin::required("audit_entry", self.audit_entry_id.as_str()),
        ]
    }

    /// Where an audit entry is kept follows from its id.
    fn default_for(pointer: &str, document: &Value, _: &Outside) -> Option<Value> {
        let id = document.get("AUDIT_ENTRY_ID").and_then(Value::as_str).and_then(AuditEntryId::parse);
        id.filter(|_| pointer == "/AUDIT_ENTRY_PATH").map(|id| id.path().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_with_dots() {
        let cases = [
            ("AUTHORIZATION", true),
            ("ACTION.PARAMETERS.LABELS[0]", true),
            ("A[0][1].B", true),
            ("/ACTION/TYPE", false),
            ("ACTION..TYPE", false),
            ("ACTION.", false),
            ("A[].B", false),
            ("A[0", false),
            ("A[0]x", false),
            ("the action", false),
        ];
        for (text, good) in cases {
            assert_eq!(FieldPath::parse(text).is_some(), good, "{text}");
        }
    }
}
