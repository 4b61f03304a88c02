use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A file that is not there has no size and holds nothing.
    ///
    /// ## Why
    /// Who says that a file is missing and that it holds what was expected has not looked at it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"evidence_collected": {"file_checks": [{"path": "src/cart.rs", "exists": false, "contains_expected": true}]}}
    /// ```
    /// ```json rejected
    /// {"evidence_collected": {"file_checks": [{"path": "src/cart.rs", "exists": false, "size_bytes": 812}]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"evidence_collected": {"file_checks": [
    ///   {"path": "src/cart.rs", "exists": true, "size_bytes": 812, "contains_expected": true},
    ///   {"path": "src/old_cart.rs", "exists": false, "size_bytes": 0}
    /// ]}}
    /// ```
    pub static FILE_CHECK_CONTRADICTORY: ValidationResponse = {
        id: "file-check-contradictory",
        code: IntegrityMismatch,
        severity: Error,
        summary: "a file that is not there is said to have content",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    for (index, file) in it.record.file_checks().iter().enumerate() {
        let sized = file.size_bytes.is_some_and(|size| size.get() > 0);
        if file.exists || !(sized || file.contains_expected == Some(true)) {
            continue;
        }
        let place = Pointer::at("/evidence_collected/file_checks").item(index);
        let field = if sized { "size_bytes" } else { "contains_expected" };
        let found = report.add(
            place.clone().key(field),
            format!("`{}` is said not to exist, yet to have content", show(file.path.as_str())),
            "look at the file again and report what is there",
        );
        found.label(place.key("exists"), "said not to exist here");
    }
}
