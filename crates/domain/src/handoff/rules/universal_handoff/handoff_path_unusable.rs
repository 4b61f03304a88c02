use crate::handoff::location;
use crate::handoff::payload::UniversalHandoff;
use crate::paths::climbs_out;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A path can be used by the target as it is written: it holds no invisible character and does not climb out of
    /// where it starts.
    ///
    /// ## Why
    /// The target opens these paths in another process, perhaps with other rights. A path with a line break or a
    /// change of direction in it names another file than the one that is seen, and one that climbs out reaches what
    /// nobody handed over.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"payload": {"session": {"artifacts":
    ///   [{"name": "Plan", "path": "../../etc/passwd", "type": "specification"}]}}}}
    /// ```
    /// ```json rejected
    /// {"handoff": {"source": {"session_path": "/srv/sessions\n/17"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"payload": {"session": {"artifacts":
    ///   [{"name": "Plan", "path": "plans/../plan.md", "type": "specification"}]}}}}
    /// ```
    pub static HANDOFF_PATH_UNUSABLE: UniversalHandoff = {
        id: "handoff-path-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a path cannot be used by the target",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    judge(handoff.source.session_path.as_str(), || Pointer::at("/handoff/source/session_path"), report);
    for (index, artifact) in handoff.payload.artifacts().iter().enumerate() {
        let place = || Pointer::at("/handoff/payload/session/artifacts").item(index).key("path");
        judge(artifact.path.as_str(), place, report);
    }
    for (index, file) in handoff.payload.files().iter().enumerate() {
        let place = || Pointer::at("/handoff/payload/references/files").item(index).key("path");
        judge(file.path.as_str(), place, report);
    }
}

fn judge(path: &str, place: impl Fn() -> Pointer, report: &mut Report) {
    if location::is_usable(path) {
        return;
    }
    let (why, help) = if climbs_out(path) {
        ("climbs out of where it starts", "write the path from the root, or from the session's directory")
    } else {
        ("holds an invisible character", "write the path without it")
    };
    report.add(place(), format!("path `{}` {why}", show(path)), help);
}
