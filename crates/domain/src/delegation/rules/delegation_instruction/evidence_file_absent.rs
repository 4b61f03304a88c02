use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The files of evidence that an instruction names are there when it is checked in their repository.
    ///
    /// ## Why
    /// Evidence that cannot be opened shows nothing. It is a warning, because the instruction may be checked
    /// elsewhere than in the repository it speaks of.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"files": {".governance/compliance-check.md": true, ".qa/results-2025-12-25.json": false}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"files": {".governance/compliance-check.md": true, ".qa/results-2025-12-25.json": true}}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static EVIDENCE_FILE_ABSENT: DelegationInstruction = {
        id: "evidence-file-absent",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "a file of evidence is not there",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    for (pointer, path) in it.record.authorization.evidence_files() {
        if it.outside.files.get(path.as_str()) == Some(&false) {
            let message = format!("`{}` is not there", show(path.as_str()));
            report.add(Pointer::at(pointer), message, "name a file that is in the repository");
        }
    }
}
