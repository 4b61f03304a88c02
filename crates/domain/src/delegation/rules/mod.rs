//! The rules of delegation: a folder for each contract, a file for each rule.

pub mod audit_entry;
pub mod delegation_instruction;
pub mod delegation_response;
