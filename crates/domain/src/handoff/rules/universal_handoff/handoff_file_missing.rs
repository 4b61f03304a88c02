use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The files that a handoff refers to are there. Judged only for files that were looked for.
    ///
    /// ## Why
    /// A reference is a promise that the target can read more when it needs to. It is a warning, because the file may
    /// be there for the target, on another machine, and not here.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"files": {"docs/plan.md": false}}
    /// ```
    /// ```json rejected
    /// {"handoff": {"payload": {"references": {"files": [{"path": "docs/plan.md"}]}}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"files": {"docs/plan.md": true}}
    /// ```
    /// ```json accepted
    /// {"handoff": {"payload": {"references": {"files": [{"path": "docs/plan.md"}]}}}}
    /// ```
    pub static HANDOFF_FILE_MISSING: UniversalHandoff = {
        id: "handoff-file-missing",
        code: CorrelationMismatch,
        severity: Warning,
        summary: "a file that the handoff refers to is not there",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    if it.outside.files.is_empty() {
        return;
    }
    let payload = &it.record.handoff.payload;
    let missing = |path: &str| it.outside.files.get(path) == Some(&false);
    let message = |path: &str| format!("file `{}` is not there", show(path));
    let help = "correct the path, or make the file before handing over";
    for (index, file) in payload.files().iter().enumerate().filter(|(_, file)| missing(file.path.as_str())) {
        let pointer = Pointer::at("/handoff/payload/references/files").item(index).key("path");
        report.add(pointer, message(file.path.as_str()), help);
    }
    for (index, made) in payload.artifacts().iter().enumerate().filter(|(_, made)| missing(made.path.as_str())) {
        let pointer = Pointer::at("/handoff/payload/session/artifacts").item(index).key("path");
        report.add(pointer, message(made.path.as_str()), help);
    }
}
