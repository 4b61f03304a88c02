//! The contracts of validation, one file each, and the small forms they are made of.

mod forms;
mod measured;
mod promise;
mod validation_request;
mod validation_response;

pub use forms::{CommitHash, CriterionId, PrdId, PromiseCriterionId, PromiseId, ValidationTaskId, WebAddress};
pub use measured::{Measured, Seconds};
pub use promise::{EvidenceType, Ownership, Promise, PromiseCriterionStatus, PromiseStatus, PromisedCriterion};
pub use validation_request::{ClaimedEvidence, RequestedCriterion, Services, ValidationRequest, ValidationType};
pub use validation_response::{
    ApiResponse, CriterionResult, EvidenceCollected, FileCheck, HttpMethod, Screenshot, TestResults, ValidationResponse,
};
