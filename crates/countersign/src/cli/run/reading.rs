//! A plan as it is checked before anything is done with it, in whichever form it is written.

use crate::cli::asking::Here;
use crate::world::outside;
use countersign_contract::{Checked, Contract, Form, Request, check};
use countersign_diagnostic::Source;
use countersign_domain::plan::payload::Plan;

/// A plan where it is read from its text.
pub fn source(text: &str) -> Source<'_> {
    Source { name: "the plan", text }
}

/// Everything that is found in the text of a plan.
pub fn checked(here: &Here<'_>, text: &str) -> Checked {
    let outside = outside(None);
    let request = Request {
        form: Some(Form::of_text(text)),
        contract: Some(Plan::NAME),
        ..Request::alone(source(text), &outside)
    };
    check(&here.project.checker(), &request)
}

/// The plan, if it may pass.
pub fn plan(checked: &Checked) -> Option<&Plan> {
    let plan = checked.records.first().and_then(|record| record.downcast_ref::<Plan>());
    plan.filter(|_| checked.decision.allow)
}
