//! The rules of validation: a folder for each contract, a file for each rule.

pub mod promise;
pub mod validation_request;
pub mod validation_response;
