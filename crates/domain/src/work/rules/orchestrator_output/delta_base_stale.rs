use crate::work::payload::OrchestratorOutput;
use crate::work::replay::{Replay, bundle};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A turn that names the version of the ledger it was made from changes rows of that version only. The version is
    /// `x_base_version`, in the turn and in the handoff bundle that shows the ledger.
    ///
    /// ## Why
    /// Somebody else has changed the ledger since. What the turn takes for granted may not be so any more.
    ///
    /// ## Rejected
    /// ```json with handoff_bundle
    /// {"x_base_version": 7}
    /// ```
    /// ```json rejected
    /// {"x_base_version": 6}
    /// ```
    ///
    /// ## Accepted
    /// ```json with handoff_bundle
    /// {"x_base_version": 7}
    /// ```
    /// ```json accepted
    /// {"x_base_version": 7}
    /// ```
    pub static DELTA_BASE_STALE: OrchestratorOutput = {
        id: "delta-base-stale",
        code: ConcurrencyConflict,
        severity: Error,
        summary: "the turn was made from another version of the ledger",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let Some(base) = it.record.base_version else { return };
    let Some(bundle) = bundle(it) else { return };
    let Some(current) = bundle.base_version.filter(|current| *current != base) else { return };
    let replay = Replay::new(it.record, Some(&bundle));
    if it.record.ledger_delta.iter().any(|delta| replay.row(&delta.task_id).is_some()) {
        let message =
            format!("the turn was made from version {} of the ledger, which is at {}", base.get(), current.get());
        report.add(Pointer::at("/x_base_version"), message, "read the ledger again and make the turn anew");
    }
}
