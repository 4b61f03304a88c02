use crate::handoff::location;
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A file that the target is to read lies where it will still be: not in a temporary place.
    ///
    /// ## Why
    /// Systems empty `/tmp` and its like without asking. A target that begins later finds nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"payload": {"references": {"files": [{"path": "/tmp/session-17/plan.md"}]}}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"payload": {"references": {"files": [{"path": "/srv/sessions/session-17/plan.md"}]}}}}
    /// ```
    pub static HANDOFF_FILE_TEMPORARY: UniversalHandoff = {
        id: "handoff-file-temporary",
        code: CorrelationMismatch,
        severity: Note,
        summary: "a file that the handoff refers to lies in a temporary place",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let payload = &it.record.handoff.payload;
    let message =
        |path: &str| format!("file `{}` lies in a temporary place and may be gone when it is looked for", show(path));
    let help = "move it to a place that lasts";
    for (index, file) in payload.files().iter().enumerate() {
        if location::is_temporary(file.path.as_str()) {
            let pointer = Pointer::at("/handoff/payload/references/files").item(index).key("path");
            report.add(pointer, message(file.path.as_str()), help);
        }
    }
    for (index, made) in payload.artifacts().iter().enumerate() {
        if location::is_temporary(made.path.as_str()) {
            let pointer = Pointer::at("/handoff/payload/session/artifacts").item(index).key("path");
            report.add(pointer, message(made.path.as_str()), help);
        }
    }
}
