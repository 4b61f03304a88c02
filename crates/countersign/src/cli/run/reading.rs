//! A plan as it is checked before anything is done with it, in whichever form it is written.

use crate::checking;
use crate::cli::asking::Here;
use crate::cli::output;
use crate::world::outside;
use countersign_contract::{Checked, Contract, Form, Request};
use countersign_diagnostic::{Severity, Source};
use countersign_domain::plan::payload::Plan;
use std::path::Path;

/// A plan where it is read from its text.
pub fn source(text: &str) -> Source<'_> {
    Source { name: "the plan", text }
}

/// Everything that is found in the text of a plan, and in all that it refers to. It lies at the root of the project, whatever
/// file it came from.
pub fn checked(here: &Here<'_>, text: &str) -> Checked {
    let seen = outside(None);
    let request =
        Request { form: Some(Form::of_text(text)), contract: Some(Plan::NAME), ..Request::alone(source(text), &seen) };
    let document = here.project.root.as_deref().unwrap_or(Path::new("")).join("plan");
    checking::checked(&here.project.checker(), here.project, &request, &document)
}

/// The plan, if it may pass.
pub fn plan(checked: &Checked) -> Option<&Plan> {
    let plan = checked.records.first().and_then(|record| record.downcast_ref::<Plan>());
    plan.filter(|_| checked.decision.allow)
}

/// Says what a plan that passes had better be changed in, its instructions included: once it is begun, it is too late.
pub fn advise(checked: &Checked) {
    let findings = checked.decision.details.diagnostics.iter();
    for finding in findings.filter(|it| it.severity != Severity::Error && checked.decision.allow) {
        let word = finding.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
    }
}
