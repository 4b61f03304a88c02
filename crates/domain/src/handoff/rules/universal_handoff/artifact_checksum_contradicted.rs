use crate::handoff::payload::UniversalHandoff;
use crate::handoff::repeats::repeats;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// One file has one checksum.
    ///
    /// ## Why
    /// Two artifacts with the same path and different checksums cannot both be what is there. The target would take
    /// whichever it reads first for proven.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"payload": {"session": {"artifacts": [
    ///   {"name": "Plan", "path": "plan.md", "type": "specification",
    ///    "checksum": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
    ///   {"name": "Plan, reviewed", "path": "plan.md", "type": "specification",
    ///    "checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    /// ]}}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"payload": {"session": {"artifacts": [
    ///   {"name": "Plan", "path": "plan.md", "type": "specification",
    ///    "checksum": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
    ///   {"name": "Plan, reviewed", "path": "plan-2.md", "type": "specification",
    ///    "checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    /// ]}}}}
    /// ```
    pub static ARTIFACT_CHECKSUM_CONTRADICTED: UniversalHandoff = {
        id: "artifact-checksum-contradicted",
        code: IntegrityMismatch,
        severity: Error,
        summary: "two artifacts give one file different checksums",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let artifacts = it.record.handoff.payload.artifacts();
    // Most have none, and comparing all paths with each other costs more than the other rules together.
    if artifacts.iter().filter(|artifact| artifact.checksum.is_some()).count() < 2 {
        return;
    }
    for (first, second) in repeats(artifacts.iter().map(|artifact| artifact.path.as_str())) {
        let (one, other) = (&artifacts[first].checksum, &artifacts[second].checksum);
        if one.is_some() && other.is_some() && one != other {
            let list = Pointer::at("/handoff/payload/session/artifacts");
            let message = format!("file `{}` has two checksums", show(artifacts[second].path.as_str()));
            report
                .add(list.clone().item(second).key("checksum"), message, "keep the artifact that is there now")
                .label(list.item(first).key("checksum"), "the other");
        }
    }
}
