use crate::delegation::parties;
use crate::delegation::payload::DelegationResponse;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The executor is `MATURION`, or of a kind that the configuration names.
    ///
    /// ## Why
    /// Only an agent that is trusted with the platform can say what happened there.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"EXECUTOR": {"AGENT_TYPE": "FOREMAN"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"EXECUTOR": {"AGENT_TYPE": "MATURION"}}
    /// ```
    pub static EXECUTOR_UNKNOWN: DelegationResponse = {
        id: "executor-unknown",
        code: SchemaInvalid,
        severity: Error,
        summary: "the kind of executor is not known",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    parties::check_executor(it.record.executor.agent_type.as_str(), it.settings, report);
}
