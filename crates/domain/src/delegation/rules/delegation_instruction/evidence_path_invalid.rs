use crate::delegation::evidence_path;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Files of evidence are named by clean paths relative to the repository: no `..`, no leading slash, no drive,
    /// no address.
    ///
    /// ## Why
    /// The path is opened by whoever checks the evidence. One that leads out of the repository shows something else
    /// there than it did here.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION": {"GOVERNANCE_EVIDENCE": "../other/compliance-check.md"}}
    /// ```
    /// ```json rejected
    /// {"AUTHORIZATION": {"QA_EVIDENCE": "./.qa/results.json"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"QA_EVIDENCE": ".qa/results.json"}}
    /// ```
    pub static EVIDENCE_PATH_INVALID: DelegationInstruction = {
        id: "evidence-path-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "a file of evidence is not a clean relative path",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    for (pointer, path) in it.record.authorization.evidence_files() {
        evidence_path::check(path.as_str(), pointer, report);
    }
}
