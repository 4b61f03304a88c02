//! The contracts of validation, one file each, and the small forms they are made of.

mod evidence;
mod forms;
mod promise;
mod seconds;
mod validation_request;
mod validation_response;

pub use evidence::Evidence;
pub use forms::{CommitHash, CriterionId, PrdId, PromiseCriterionId, PromiseId, ValidationTaskId, WebAddress};
pub use promise::{EvidenceType, Ownership, Promise, PromiseCriterionStatus, PromiseStatus, PromisedCriterion};
pub use seconds::Seconds;
pub use validation_request::{ClaimedEvidence, RequestedCriterion, Services, ValidationRequest, ValidationType};
pub use validation_response::{
    ApiResponse, CriterionResult, EvidenceCollected, FileCheck, HttpMethod, Screenshot, TestResults, ValidationResponse,
};
