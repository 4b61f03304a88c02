use crate::work::payload::OrchestratorOutput;
use crate::work::run_id;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A run id is a UUID of version 4.
    ///
    /// ## Why
    /// Run ids are made by whoever starts a run, without asking anybody. Only random ones are sure not to meet.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"run_id": "00000000-0000-0000-0000-000000000001", "assignments": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"run_id": "9b2f6c1e-2d4a-4e0b-8a57-3c1d5e7f9a01", "assignments": []}
    /// ```
    pub static OUTPUT_RUN_ID_NOT_V4: OrchestratorOutput = {
        id: "output-run-id-not-v4",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the run id is not a UUID of version 4",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    run_id::check(&it.record.run_id, report);
}
