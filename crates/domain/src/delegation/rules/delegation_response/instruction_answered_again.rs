use crate::delegation::payload::DelegationResponse;
use crate::rewriting::{differs_from_older, has_rival};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An instruction is carried out once and has one response. Whoever sends it again gets that response, word for
    /// word; no other names its `INSTRUCTION_ID` or bears its `RESPONSE_ID`. Members of your own are part of a response.
    ///
    /// ## Why
    /// A second response means that the action was carried out twice, or that what came of it was told otherwise
    /// afterwards. A retry is a new instruction, with authority of its own.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json rejected
    /// {"RESPONSE_ID": "DR-2025-12-25-002"}
    /// ```
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json rejected
    /// {"INSTRUCTION_ID": "DI-2025-12-25-007"}
    /// ```
    /// ```json against
    /// {"x_attempt": 1}
    /// ```
    /// ```json rejected
    /// {"x_attempt": 2}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {"RESPONSE_ID": "DR-2025-12-25-002", "INSTRUCTION_ID": "DI-2025-12-25-007"}
    /// ```
    pub static INSTRUCTION_ANSWERED_AGAIN: DelegationResponse = {
        id: "instruction-answered-again",
        code: InvalidTransition,
        severity: Error,
        summary: "an instruction has two different responses",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let help = "keep the first response; what is to be tried again is a new instruction";
    let (response, instruction) = (it.record.response_id.as_str(), it.record.instruction_id.as_str());
    if differs_from_older(it) {
        let message = format!("`{instruction}` was answered before, and this response differs");
        report.add(Pointer::root(), message, help);
    } else if has_rival(it, instruction) {
        let message = format!("`{instruction}` has another response among the documents given, and the two differ");
        report.add(Pointer::at("/INSTRUCTION_ID"), message, help);
    } else if has_rival(it, response) {
        let message = format!("another response given with it is `{response}` too, and the two differ");
        report.add(Pointer::at("/RESPONSE_ID"), message, help);
    }
}
