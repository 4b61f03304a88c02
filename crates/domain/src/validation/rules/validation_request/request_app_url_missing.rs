use crate::validation::payload::{ValidationRequest, ValidationType};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request for validation in a browser says where the application runs.
    ///
    /// ## Why
    /// A validator that has to guess the address looks at the wrong application, or answers BLOCKED. It is a warning,
    /// because the address may be known to the validator from elsewhere.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"validation_type": "browser", "services": {"api_url": "http://localhost:8000"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"validation_type": "both", "services": {"app_url": "http://localhost:3000"}}
    /// ```
    /// ```json accepted
    /// {"validation_type": "code"}
    /// ```
    pub static REQUEST_APP_URL_MISSING: ValidationRequest = {
        id: "request-app-url-missing",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "a request for browser validation does not say where the application runs",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let services = it.record.services.as_ref();
    let told = services.is_some_and(|services| services.app_url.is_some());
    if it.record.validation_type != ValidationType::Code && !told {
        let found = report.add(
            Pointer::at("/services/app_url"),
            "browser validation is asked for, but not where the application runs",
            "add `services.app_url`",
        );
        found.label(Pointer::at("/validation_type"), "asked for here");
    }
}
