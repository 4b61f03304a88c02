//! The whole road of a check, with every contract there is.

use crate::{SIZE_MAX, text};
use countersign_contract::diagnostic::{Decision, Severity, Source, render};
use countersign_contract::{Checker, Form, Outside, Request, Settings};
use countersign_domain::contracts;
use serde_json::Value;

/// A check and a repair of the input, in the form it seems to have: as whatever contract it shows itself to be, and as
/// one that it is told to be.
pub fn check(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let chosen = bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let named = contracts().get(chosen % contracts().len().max(1)).map(|contract| contract.name);
    let settings = Settings { strict: chosen & 1 == 1, size_max: SIZE_MAX, ..Settings::default() };
    let checker = Checker { contracts: contracts(), foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    for contract in [None, named] {
        let request = Request {
            form: Some(Form::of_text(text)),
            contract,
            ..Request::alone(Source { name: "input", text }, &outside)
        };
        let decision = countersign_contract::check(&checker, &request).decision;
        holds(text, &decision);
        let again = countersign_contract::check(&checker, &request).decision;
        assert_eq!(format!("{decision:?}"), format!("{again:?}"), "two checks of one input differ");
        fix_holds(&checker, &request);
    }
}

fn holds(text: &str, decision: &Decision) {
    for finding in &decision.details.diagnostics {
        let message = &finding.message;
        assert!(!message.is_empty() && !message.contains('\n'), "a message is one sentence: {message:?}");
        if let Some(span) = finding.span.clone() {
            assert!(
                text.get(span.clone()).is_some(),
                "{}: span {span:?} of {} bytes cuts a letter",
                finding.rule,
                text.len()
            );
        }
    }
    let errors = decision.details.diagnostics.iter().any(|it| it.severity == Severity::Error);
    assert_eq!(decision.allow, !errors, "the decision does not follow from the findings");
    let line = render::json::decision(decision, Source { name: "input", text });
    assert!(!line.contains('\n') && serde_json::from_str::<Value>(&line).is_ok(), "a decision is one line of JSON");
}

/// What was repaired and passes is not repaired again.
fn fix_holds(checker: &Checker<'_>, request: &Request<'_>) {
    let mut summarize = |_: &str, _: usize| None;
    let fixed = countersign_contract::fix::fix(checker, request, None, &mut summarize);
    holds(&fixed.text, &fixed.checked.decision);
    if !fixed.checked.decision.allow {
        return;
    }
    let request = Request { source: Source { name: "input", text: &fixed.text }, ..*request };
    let again = countersign_contract::fix::fix(checker, &request, None, &mut summarize);
    assert_eq!(again.text, fixed.text, "a repaired document that passes is repaired again: {:?}", again.changes);
}
