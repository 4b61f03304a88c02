//! The primary codes of decisions, in the order in which they outrank each other.

use std::fmt;

/// What a refusal is filed under. The order of the variants is the order of precedence: where a document has several
/// errors, the decision carries the code that stands first here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The document names a version that this program does not know.
    UnknownSchemaVersion,
    /// A required field is absent, or a required text or list is empty.
    MissingRequiredInput,
    /// Any other fault of shape: syntax, type, range, format, unknown field.
    SchemaInvalid,
    /// Control text inside data, or a secret.
    UntrustedContextBlock,
    /// A change or a claim outside what the task may touch.
    ScopeViolation,
    /// Two tasks want the same resource.
    LockConflict,
    /// A task starts before what it needs is done.
    DependencyNotMet,
    /// A state change that the life of a task does not allow.
    InvalidTransition,
    /// Two writers started from different versions.
    ConcurrencyConflict,
    /// A worker was silent for too long.
    TaskTimeout,
    /// Work is called done without what shows it.
    AcceptanceFailed,
    /// The operator ledger contradicts itself.
    LedgerInconsistent,
    /// Nobody independent can check the work.
    MissingValidator,
    /// A verdict does not follow from its results.
    NonCompliant,
    /// Documents that should belong together do not.
    CorrelationMismatch,
    /// A delegated action without the authority it needs.
    AuthorizationMissing,
    /// A handoff is longer than its budget.
    TokenLimitExceeded,
    /// A handoff goes in a circle.
    CircularHandoff,
    /// A hash, checksum, size or count does not match its content.
    IntegrityMismatch,
}

impl Code {
    /// Every code, in order of precedence.
    pub const ALL: &'static [Code] = &[
        Code::UnknownSchemaVersion,
        Code::MissingRequiredInput,
        Code::SchemaInvalid,
        Code::UntrustedContextBlock,
        Code::ScopeViolation,
        Code::LockConflict,
        Code::DependencyNotMet,
        Code::InvalidTransition,
        Code::ConcurrencyConflict,
        Code::TaskTimeout,
        Code::AcceptanceFailed,
        Code::LedgerInconsistent,
        Code::MissingValidator,
        Code::NonCompliant,
        Code::CorrelationMismatch,
        Code::AuthorizationMissing,
        Code::TokenLimitExceeded,
        Code::CircularHandoff,
        Code::IntegrityMismatch,
    ];

    /// What stands in a decision that allows.
    pub const OK: &'static str = "OK";

    /// The wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::UnknownSchemaVersion => "UNKNOWN_SCHEMA_VERSION",
            Code::MissingRequiredInput => "MISSING_REQUIRED_INPUT",
            Code::SchemaInvalid => "SCHEMA_INVALID",
            Code::UntrustedContextBlock => "UNTRUSTED_CONTEXT_BLOCK",
            Code::ScopeViolation => "SCOPE_VIOLATION",
            Code::LockConflict => "LOCK_CONFLICT",
            Code::DependencyNotMet => "DEPENDENCY_NOT_MET",
            Code::InvalidTransition => "INVALID_TRANSITION",
            Code::ConcurrencyConflict => "CONCURRENCY_CONFLICT",
            Code::TaskTimeout => "TASK_TIMEOUT",
            Code::AcceptanceFailed => "ACCEPTANCE_FAILED",
            Code::LedgerInconsistent => "LEDGER_INCONSISTENT",
            Code::MissingValidator => "MISSING_VALIDATOR",
            Code::NonCompliant => "NON_COMPLIANT",
            Code::CorrelationMismatch => "CORRELATION_MISMATCH",
            Code::AuthorizationMissing => "AUTHORIZATION_MISSING",
            Code::TokenLimitExceeded => "TOKEN_LIMIT_EXCEEDED",
            Code::CircularHandoff => "CIRCULAR_HANDOFF",
            Code::IntegrityMismatch => "INTEGRITY_MISMATCH",
        }
    }

    /// What the code means and what its reader should do, for `countersign explain`.
    pub fn meaning(self) -> &'static str {
        match self {
            Code::UnknownSchemaVersion => {
                "The document names a contract version that this program does not know. A newer minor version is read \
                 with a warning; another major version is refused, because its fields may mean something else. \
                 Write the version that this program knows, or use a newer program."
            }
            Code::MissingRequiredInput => {
                "A required field is absent, or a required text or list is empty. Fill it in; `countersign example` \
                 shows the smallest valid document of each contract."
            }
            Code::SchemaInvalid => {
                "The document is not of its contract's shape: it is not JSON or YAML, breaks a parsing limit, or has a \
                 value of the wrong type, range or format, or a field that the contract does not know."
            }
            Code::UntrustedContextBlock => {
                "Text that is data contains something that would act as control: fields of a contract, words that try \
                 to change role, scope or output, or a secret. Remove it; `countersign fix` writes secrets out as \
                 redactions."
            }
            Code::ScopeViolation => {
                "A task touches, or would have to touch, something outside its lock scope or inside its forbidden scope."
            }
            Code::LockConflict => {
                "The task wants a resource that another task holds. Two resources conflict when they are equal or one \
                 contains the other. Wait for the other task, or choose a narrower scope."
            }
            Code::DependencyNotMet => "A task would start before the tasks it depends on are done.",
            Code::InvalidTransition => {
                "The life of a task does not allow this change of state: done, failed and canceled are final."
            }
            Code::ConcurrencyConflict => {
                "The document was made from another version of the ledger than the current one. Read again and redo it."
            }
            Code::TaskTimeout => "A worker was silent for longer than its timeout; its locks were released.",
            Code::AcceptanceFailed => {
                "Work is called done, but a criterion failed, has no evidence, or none was answered at all."
            }
            Code::LedgerInconsistent => "The operator ledger contradicts itself or what it is given with.",
            Code::MissingValidator => "Nobody but the author of the work is there to check it.",
            Code::NonCompliant => "A verdict does not follow from the results it is given for.",
            Code::CorrelationMismatch => {
                "Documents that should belong together do not: ids, coverage, order in time, or kind of resource."
            }
            Code::AuthorizationMissing => {
                "A delegated action lacks the authority it needs. Have a person approve it and name the evidence."
            }
            Code::TokenLimitExceeded => {
                "A handoff is longer than its token budget. `countersign fix` compresses it step by step and keeps \
                 what it takes out."
            }
            Code::CircularHandoff => {
                "A handoff goes back to where it came from, or its chain is too long, without the reason or approval \
                 that would make it deliberate."
            }
            Code::IntegrityMismatch => "A hash, checksum, size or count does not match the content it is given for.",
        }
    }

    /// The code with this wire form.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_of_precedence_and_complete() {
        assert!(Code::ALL.is_sorted());
        assert_eq!(Code::ALL.last().map(|it| *it as usize), Some(Code::ALL.len() - 1));
        assert!(Code::ALL.iter().all(|code| Code::parse(code.as_str()) == Some(*code)));
    }
}
