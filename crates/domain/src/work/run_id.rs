//! What a run id should look like.

use crate::ids::RunId;
use countersign_contract::Report;
use countersign_contract::diagnostic::Pointer;

/// Reports a run id that is not a UUID of version 4.
pub(crate) fn check(run_id: &RunId, report: &mut Report) {
    if !run_id.is_v4() {
        let message = format!("run id `{run_id}` is not a UUID of version 4");
        report.add(Pointer::at("/run_id"), message, "make run ids at random, with a UUID library");
    }
}
