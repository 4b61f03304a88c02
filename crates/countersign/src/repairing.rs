//! Repairing one document, for every door. Nothing is written here.

use crate::cli::output;
use crate::company::Company;
use crate::project::Project;
use crate::world;
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::{Checked, Checker, Contract, Form, Outside, Request, check, parse};
use countersign_diagnostic::Source;
use countersign_domain::handoff::payload::UniversalHandoff;
use countersign_domain::handoff::{budget, noting};
use countersign_domain::validation::payload::ValidationRequest;
use countersign_domain::validation::tolerant;
use countersign_runner::handoff::kept;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What documents are repaired with.
pub struct Repairs<'a> {
    /// The project.
    pub project: &'a Project,
    /// What they are checked with.
    pub checker: &'a Checker<'a>,
    /// The world.
    pub outside: &'a Outside,
    /// The documents given with them.
    pub company: &'a Company<'a>,
    /// The contract by name; none means to tell from their keys.
    pub contract: Option<&'a str>,
    /// Where the document lies; empty for one that lies nowhere.
    pub document: &'a Path,
}

impl Repairs<'_> {
    /// Brings a validator's loose answer into the form of a validation response. The ladder of that contract does the
    /// same, but only for what has the marks of a response, and without the request; here is what is left: answers whose
    /// contract cannot be told, and those that nothing but the request can complete.
    pub fn take_answer<'t>(&self, name: &str, original: &'t str, before: &Checked) -> (Cow<'t, str>, Vec<String>) {
        let request = self.company.given_only::<ValidationRequest>();
        let incomplete =
            before.contract.is_some_and(|it| it.name == "validation_response") && before.records.is_empty();
        let form = Form::of_name(name).unwrap_or_else(|| Form::of_text(original));
        let answer = (!before.told || (incomplete && request.is_some()))
            .then(|| parse(original, form, self.checker.settings.size_max).ok())
            .flatten()
            .and_then(|it| tolerant::repair_answer(&it.root().to_value(), request.as_deref(), self.outside.now));
        match answer {
            Some((answer, done)) => (countersign_contract::fix::write(&answer, original, form).into(), done),
            None => (original.into(), Vec::new()),
        }
    }

    /// What about a validator's loose answer only a person can decide, where its request was given.
    pub fn doubt(&self, source: Source<'_>) -> Option<String> {
        let request = self.company.given_only::<ValidationRequest>()?;
        tolerant::doubt(&self.value(source), &request)
    }

    /// The world with those of the names for what is taken out that are taken.
    pub fn with_names_taken(&self, source: Source<'_>) -> Outside {
        kept::with_names_taken(self.outside, &self.value(source), self.document, self.project.root.as_deref())
    }

    /// The file that the document refers to for what earlier repairs took out of it, if more can be added to it.
    pub fn kept_before(&self, source: Source<'_>) -> Option<(String, PathBuf)> {
        let size_max = self.checker.settings.size_max;
        kept::before(&self.value(source), self.document, self.project.root.as_deref(), size_max)
    }

    /// The document, as far as it can be read.
    fn value(&self, source: Source<'_>) -> Value {
        let form = self.request(source, self.outside).form();
        parse(source.text, form, self.checker.settings.size_max).map_or(Value::Null, |it| it.root().to_value())
    }

    /// Repairs a document. `kept_at` overrides where what is taken out will be found.
    pub fn fix(
        &self,
        source: Source<'_>,
        kept_at: Option<&str>,
        outside: &Outside,
        summarize: &mut dyn FnMut(&str, usize) -> Option<String>,
    ) -> Fixed {
        let fixed = fix(self.checker, &self.request(source, outside), kept_at, summarize);
        // What it refers to counts as it does in a check; which files these are is known once it can be read. The file with
        // what is taken out is there before the document is.
        let seen = world::look_for_files(&fixed.checked, outside, self.document, self.project).map(|mut seen| {
            seen.files.extend(fixed.kept_at.iter().map(|kept_at| (kept_at.clone(), true)));
            seen
        });
        let Some(outside) = seen.as_ref() else { return self.noted(fixed, source.name, outside) };
        let checked = check(self.checker, &self.request(Source { text: &fixed.text, ..source }, outside));
        self.noted(Fixed { checked, ..fixed }, source.name, outside)
    }

    /// A handoff has a place for what was done to it, its trace, and says how many tokens it has: after a repair both are
    /// right, the number exactly. Other contracts have no such place. What has no room, or would be found wrong, is left
    /// out: first what was done, then that something was.
    fn noted(&self, fixed: Fixed, name: &str, outside: &Outside) -> Fixed {
        let of_handoff = fixed.checked.contract.is_some_and(|it| it.name == UniversalHandoff::NAME);
        if fixed.changes.is_empty() || !of_handoff || !fixed.checked.decision.allow {
            return fixed;
        }
        let source = Source { name, text: &fixed.text };
        let (value, settings) = (self.value(source), self.checker.settings);
        let form = self.request(source, outside).form();
        let now = outside.now;
        let in_full = || now.map(|now| (json!(fixed.changes), now));
        let in_number = || now.map(|now| (json!(fixed.changes.len()), now));
        for how in [in_full(), in_number(), None] {
            let mut value = value.clone();
            match how {
                None => budget::state_count(&mut value, settings),
                Some((how, now)) => {
                    if !noting::note_repairs(&mut value, how, now, settings) {
                        continue;
                    }
                }
            }
            let text = countersign_contract::fix::write(&value, &fixed.text, form);
            let source = Source { name, text: &text };
            let checked = check(self.checker, &self.request(source, outside));
            let findings = |checked: &Checked| checked.decision.details.diagnostics.len();
            if checked.decision.allow && findings(&checked) <= findings(&fixed.checked) {
                return Fixed { text, checked, ..fixed };
            }
        }
        fixed
    }

    /// A document to check in this company.
    pub fn request<'r>(&'r self, source: Source<'r>, outside: &'r Outside) -> Request<'r> {
        Request { source, form: None, contract: self.contract, against: None, others: self.company, outside }
    }
}

/// What is to be said of repairs that were left undone.
pub fn left(fixed: &Fixed) -> Option<String> {
    let (many, lines) = (fixed.left, "a worklog only grows, and its lines are changed for errors alone");
    (many > 0).then(|| format!("left as they are: {many} warnings and notes; {lines}"))
}

/// The repaired document as it may be shown, and what is to be said of that. A secret that no repair could take out, such
/// as one in a key, is covered.
pub fn printable(fixed: &Fixed) -> (Cow<'_, str>, Option<&'static str>) {
    if output::may_hide_secret(&fixed.text, &fixed.checked) {
        let why =
            "the document is not shown: it may hold a secret that was not found; correct what is said below first";
        return (Cow::Borrowed(""), Some(why));
    }
    let shown = output::masked(&fixed.text, &fixed.checked.decision);
    let covered = shown != fixed.text;
    let why = "warning: a secret that is still in the document is shown as asterisks; take it out by hand";
    (shown, covered.then_some(why))
}
