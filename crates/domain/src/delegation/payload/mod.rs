//! The contracts of delegation, one file each, and the parts they share.

mod as_given;
mod audit_entry;
mod authority;
mod ids;
mod instruction;
mod resource;
mod response;
mod text_or;

pub use as_given::{AsGiven, NOT_GIVEN, NOT_TEXT, Unread, Word, unread};
pub use audit_entry::{
    AuditEntry, AuditedAction, AuditedExecutor, AuditedRequester, AuthorizationEvidence, Integrity, Outcome,
    PlatformRequest, PlatformResponse, checksum,
};
pub use authority::{AuditContext, AuthorizationLevel, Completed, GovernanceStatus, QaStatus, Requester, YesNo};
pub(crate) use authority::{NOT_APPLICABLE, is_evidence, names_evidence};
pub use ids::{
    AuditEntryId, InstructionId, Repository, ResponseId, date_in_id, date_of_time, is_real_date, number_in_id,
};
pub use instruction::{Authorization, DelegationInstruction, ExpectedOutcome};
pub use resource::{HttpStatus, HttpsUrl, ResourceType, is_success};
pub use response::{
    DelegationResponse, ErrorType, Executor, FailureDetails, FieldPath, PlatformEvidence, Section, Status,
    ValidationError,
};
pub use text_or::TextOr;
