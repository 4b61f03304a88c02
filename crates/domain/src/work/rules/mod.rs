//! The rules of the operator workflow: a folder for each contract, a file for each rule.

pub mod worklog_entry;
