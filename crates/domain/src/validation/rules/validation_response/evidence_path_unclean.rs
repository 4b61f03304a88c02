use crate::paths::{self, Reach};
use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The paths of screenshots and of files that were looked at are plain: no `..`, no hidden characters, no leading
    /// hyphen.
    ///
    /// ## Why
    /// A reader opens what the evidence names. A path that climbs leads to a file that was not part of what was looked
    /// at.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"evidence_collected": {"screenshots": [{"path": "evidence/../../private.png"}]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"evidence_collected": {
    ///   "screenshots": [{"path": "evidence/checkout.png"}],
    ///   "file_checks": [{"path": "src/checkout.rs", "exists": true}]
    /// }}
    /// ```
    pub static EVIDENCE_PATH_UNCLEAN: ValidationResponse = {
        id: "evidence-path-unclean",
        code: SchemaInvalid,
        severity: Error,
        summary: "a path in the evidence is not plain",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    for (index, shot) in it.record.screenshots().iter().enumerate() {
        check_path(shot.path.as_str(), "screenshots", index, report);
    }
    for (index, file) in it.record.file_checks().iter().enumerate() {
        check_path(file.path.as_str(), "file_checks", index, report);
    }
}

fn check_path(path: &str, list: &str, index: usize, report: &mut Report) {
    if let Some(fault) = paths::fault(path, Reach::Anywhere) {
        report.add(
            Pointer::at("/evidence_collected").key(list).item(index).key("path"),
            format!("path `{}` {fault}", show(path)),
            "write the path as the file lies, without `..`",
        );
    }
}
