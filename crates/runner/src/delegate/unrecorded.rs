//! What is answered where an action was tried and what came of it cannot be recorded: that it was tried, and that a person must
//! look. An instruction that was acted on has an answer, whatever the platform says.

use super::now;
use countersign_contract::diagnostic::Code;
use countersign_engine::Failure;
use serde_json::{Value, json};

/// The answer in place of one that was refused for what is in it. None, if it was refused for another reason.
pub(super) fn instead_of(acted: &Value, refused: &Failure) -> Option<Value> {
    let code = match refused {
        Failure::Malformed(decision) => decision.code.unwrap_or(Code::SchemaInvalid),
        Failure::Refused(refusal) => refusal.code,
        _ => return None,
    };
    // Somebody else acts or answers, or the ledger itself is at fault: other words would not help.
    let of_others = [
        Code::ConcurrencyConflict,
        Code::InvalidTransition,
        Code::AuthorizationMissing,
        Code::DependencyNotMet,
        Code::IntegrityMismatch,
        Code::LedgerInconsistent,
    ];
    if of_others.contains(&code) {
        return None;
    }
    let (request, at) = (&acted["platform_request"], now());
    let answered = match acted["status"].as_str() {
        Some("SUCCESS") => "it was tried and is said to be done",
        _ => "it was tried and is said not to be done",
    };
    let message = format!(
        "nobody knows whether it was done: {answered}, but what the platform answered cannot be recorded ({code})",
    );
    Some(json!({
        "status": "FAILURE",
        "doubt": "unknown",
        "platform_request": {
            "ENDPOINT": request["ENDPOINT"], "METHOD": request["METHOD"], "PARAMETERS": {}, "TIMESTAMP_UTC": at,
        },
        "failure_details": {
            "ERROR_TYPE": "API_ERROR", "ERROR_CODE": "UNRECORDED", "ERROR_MESSAGE": message,
            "REMEDIATION_GUIDANCE": "a person must look at the platform whether it was done; if it was not, give it again \
                                     under a new instruction id",
            "RETRY_ALLOWED": "NO",
        },
        "resulting_state": "whether what was asked for was done is not known",
    }))
}
