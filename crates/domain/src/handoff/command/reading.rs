//! Reading the document of a handoff that came with a command.

use crate::deciding::{Observer, Refusal};
use crate::handoff::payload::{HandoffBody, UniversalHandoff};
use countersign_contract::diagnostic::{Diagnostic, Source};
use countersign_contract::{Checked, Form, Request, check, parse, show};
use serde_json::Value;

/// A handoff that may pass, as it was read.
pub(super) struct Reading {
    checked: Checked,
    /// The document.
    pub(super) value: Value,
    /// The form in which it is written.
    pub(super) form: Form,
}

impl Reading {
    /// Checks a document as a universal handoff, with the files that it refers to looked for. Of one that is no file, the
    /// text tells the form.
    pub(super) fn of(observer: &dyn Observer, file: Option<&str>, text: &str) -> Result<Self, Refusal> {
        let file = file.unwrap_or("the handoff");
        let (outside, checker) = (observer.outside(), observer.checker());
        let request =
            Request { contract: Some("universal_handoff"), ..Request::alone(Source { name: file, text }, &outside) };
        let first = check(&checker, &request);
        let checked = match observer.look_for_files(&first, file) {
            Some(outside) => check(&checker, &Request { outside: &outside, ..request }),
            None => first,
        };
        let decision = &checked.decision;
        if let Some(code) = decision.code {
            let reason = format!("`{}`: {}", show(file), decision.reason);
            let help = "`countersign handoff check` shows everything that is wrong";
            let findings = decision.details.diagnostics.clone();
            return Err(Refusal { findings, ..Refusal::new(code, reason, help) });
        }
        let form = request.form();
        let value = parse(text, form, checker.settings.size_max).map(|it| it.root().to_value()).unwrap_or_default();
        let reading = Self { checked, value, form };
        // A document that passes as a handoff is one.
        match reading.body() {
            Some(_) => Ok(reading),
            None => Err(super::unread(format!("`{}` passes and cannot be read", show(file)))),
        }
    }

    /// The handoff.
    pub(super) fn body(&self) -> Option<&HandoffBody> {
        let record = self.checked.records.first()?.downcast_ref::<UniversalHandoff>()?;
        Some(&record.handoff)
    }

    /// What was found that is no error.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        self.checked.decision.details.diagnostics.clone()
    }
}
