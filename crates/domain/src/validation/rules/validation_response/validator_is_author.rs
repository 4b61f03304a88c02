use super::request_of;
use crate::validation::payload::ValidationResponse;
use crate::work::authorship::same_person;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The author of the work is not its validator.
    ///
    /// ## Why
    /// Work is not done because who did it says so. Where the request names the author in `x_author`, the response has
    /// to name its validator, and that has to be someone else.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {"x_author": "worker-7"}
    /// ```
    /// ```json rejected
    /// {"validator_id": "Worker-7"}
    /// ```
    /// ```json with validation_request
    /// {"x_author": "worker-7"}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {"x_author": "worker-7"}
    /// ```
    /// ```json accepted
    /// {"validator_id": "s3-validator-checkout"}
    /// ```
    pub static VALIDATOR_IS_AUTHOR: ValidationResponse = {
        id: "validator-is-author",
        code: MissingValidator,
        severity: Error,
        summary: "nobody but the author of the work is seen to have validated it",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(request) = request_of(it) else { return };
    let Some(author) = &request.x_author else { return };
    let place = || Pointer::at("/validator_id");
    match &it.record.validator_id {
        None => {
            let message = "the request names the author of the work, and no validator is named";
            report.add(place(), message, "add `validator_id` with the name of who looked");
        }
        Some(validator) if same_person(validator.as_str(), author.as_str()) => {
            let message = format!("validator `{}` is the author of the work", show(validator.as_str()));
            report.add(place(), message, "have someone else validate the work");
        }
        Some(_) => {}
    }
}
