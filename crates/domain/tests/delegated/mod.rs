//! Documents of delegation made from their smallest examples, and the check of them.

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checked, Checker, Form, Outside, Request, Set, Settings, check, prove};
use serde_json::Value;

pub const INSTRUCTION: &str = "delegation_instruction";
pub const RESPONSE: &str = "delegation_response";
pub const ENTRY: &str = "audit_entry";

/// An example changed by a merge patch, with its hashes renewed.
pub fn patched(contract: &str, patch: &Value) -> String {
    let contract = countersign_domain::contract(contract).unwrap();
    let mut document = (contract.example)();
    prove::merge(&mut document, patch);
    (contract.seal)(&mut document);
    document.to_string()
}

/// What comes of a document that is checked with others.
pub fn checked(contract: &str, text: &str, others: &Set) -> Checked {
    let settings = Settings::default();
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    let source = Source { name: "document", text };
    let request =
        Request { form: Some(Form::Json), contract: Some(contract), others, ..Request::alone(source, &outside) };
    check(&checker, &request)
}
