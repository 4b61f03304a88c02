//! What a validator answers, and whether it may pass.

use super::output;
use crate::company::{Company, Given, Together};
use crate::project::Project;
use crate::repairing::Repairs;
use crate::shelf::Shelf;
use crate::world::{self, Around};
use anyhow::bail;
use countersign_contract::{Checked, Checker, Outside, check, parse, rules, show};
use countersign_diagnostic::{Diagnostic, Severity, Source};
use countersign_runner::run::Mends;
use serde_json::{Value, json};

/// What answers are called in what is said of them.
const NAME: &str = "the answer";

/// Answers to one request.
pub struct Answers<'a> {
    project: &'a Project,
    checker: Checker<'a>,
    outside: Outside,
    given: Given,
    validator: &'a str,
}

impl<'a> Answers<'a> {
    /// Answers to the request with this text.
    pub fn to(project: &'a Project, name: &str, request: &str, validator: &'a str) -> Self {
        let (checker, outside) = (project.checker(), world::outside(None));
        let mut given = Given::default();
        given.add(name, request, &checker, &outside);
        Self { project, checker, outside, given, validator }
    }

    /// A validator's answer as a response that may pass. A loose one is repaired as `fix` would, and that is said.
    pub fn take(&self, answer: &str) -> Result<Value, String> {
        let (response, changes) = self.mended(answer)?;
        if !changes.is_empty() {
            output::say("the validator's answer was not in the form of a response, and was repaired:");
            changes.iter().for_each(|change| output::say(&format!("  {change}")));
        }
        Ok(self.of_whom(response))
    }

    /// The same, with what was done to it.
    pub fn mended(&self, answer: &str) -> Result<(Value, Vec<String>), String> {
        let (together, shelf) = (Together::default(), Shelf::default());
        let company = Company::new(&self.given, &together, &[], &self.checker, &shelf, 0);
        let repairs = Repairs {
            project: self.project,
            checker: &self.checker,
            outside: &self.outside,
            company: &company,
            contract: None,
            document: std::path::Path::new(""),
        };
        let checked = |text: &str| check(&self.checker, &repairs.request(Source { name: NAME, text }, &self.outside));
        let before = checked(answer);
        if let Some(response) = self.response(&before, answer) {
            return Ok((response, Vec::new()));
        }
        let (text, mut changes) = repairs.take_answer(NAME, answer, &before);
        let text = match self.named(&text) {
            Some(named) => {
                changes.push(format!("set `validator_id` to `{}`, who was asked", self.validator));
                named
            }
            None => text.into_owned(),
        };
        let fixed = repairs.fix(Source { name: NAME, text: &text }, None, &self.outside, &mut |_, _| None);
        changes.extend(fixed.changes.iter().cloned());
        match self.response(&fixed.checked, &fixed.text) {
            Some(response) => Ok((response, changes)),
            None => Err(repairs
                .doubt(Source { name: NAME, text: answer })
                .filter(|_| !fixed.checked.told)
                .unwrap_or_else(|| why_not(&fixed.checked))),
        }
    }

    /// Says so, if an answer comes under another name than that of whom we asked. The response has the latter.
    fn of_whom(&self, response: Value) -> Value {
        let named = response["validator_id"].as_str().filter(|named| *named != self.validator);
        if let Some(named) = named {
            let (named, validator) = (show(named), self.validator);
            output::say(&format!("the answer names `{named}`; the response names `{validator}`, who was asked"));
        }
        response
    }

    /// The response that a text is, if it may pass.
    fn response(&self, checked: &Checked, text: &str) -> Option<Value> {
        let ours = checked.contract.is_some_and(|contract| contract.name == "validation_response");
        if !ours || !checked.decision.allow {
            return None;
        }
        let form = countersign_contract::Form::of_text(text);
        Some(parse(text, form, self.checker.settings.size_max).ok()?.root().to_value())
    }

    /// A response that does not say whose it is, with the name of whom we asked.
    fn named(&self, text: &str) -> Option<String> {
        let form = countersign_contract::Form::of_text(text);
        let mut value = parse(text, form, self.checker.settings.size_max).ok()?.root().to_value();
        let members = value.as_object_mut()?;
        if !members.contains_key("criteria_results") || members.contains_key("validator_id") {
            return None;
        }
        members.insert("validator_id".to_owned(), json!(self.validator));
        Some(value.to_string())
    }

    /// The finished response, if it may pass. Outputs that others could take for instructions are left out of it.
    pub fn passed(&self, mut response: Value) -> anyhow::Result<Value> {
        let (together, shelf) = (Together::default(), Shelf::default());
        let company = Company::new(&self.given, &together, &[], &self.checker, &shelf, 0);
        let repairs = Repairs {
            project: self.project,
            checker: &self.checker,
            outside: &self.outside,
            company: &company,
            contract: Some("validation_response"),
            document: std::path::Path::new(""),
        };
        let checked = |response: &Value| {
            let text = response.to_string();
            check(&self.checker, &repairs.request(Source { name: NAME, text: &text }, &self.outside))
        };
        let mut found = checked(&response);
        if acts(&found) && without_outputs(&mut response) {
            output::say("what programs wrote is left out of the response: it could be taken for instructions");
            found = checked(&response);
        }
        if !found.decision.allow {
            bail!("there is no response that may pass: {}", why_not(&found));
        }
        Ok(response)
    }
}

/// In a run, answers of validators are mended in the same way.
impl Mends for Around<'_> {
    fn mend(&self, request: &Value, validator: &str, answer: &str) -> Result<(Value, Vec<String>), String> {
        Answers::to(self.project, "request.json", &request.to_string(), validator).mended(answer)
    }
}

/// Whether something in a document could be taken for instructions.
fn acts(checked: &Checked) -> bool {
    let mut findings = checked.decision.details.diagnostics.iter();
    findings.any(|it| it.rule == rules::CONTROL_IN_UNTRUSTED_TEXT.id)
}

/// Takes the texts of programs and servers out of a response. Says whether there were any.
fn without_outputs(response: &mut Value) -> bool {
    let Some(collected) = response.get_mut("evidence_collected") else { return false };
    let mut taken = false;
    if let Some(tests) = collected.get_mut("test_results").and_then(Value::as_object_mut) {
        taken |= tests.remove("output_snippet").is_some();
    }
    for answer in collected.get_mut("api_responses").and_then(Value::as_array_mut).into_iter().flatten() {
        taken |= answer.as_object_mut().is_some_and(|answer| answer.remove("response_snippet").is_some());
    }
    taken
}

fn why_not(checked: &Checked) -> String {
    let errors = checked.decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    let said = |it: &Diagnostic| match it.pointer.to_string() {
        pointer if pointer.is_empty() => it.message.clone(),
        pointer => format!("{pointer}: {}", it.message),
    };
    let errors: Vec<String> = errors.take(5).map(said).collect();
    if errors.is_empty() { "it is no validation response".to_owned() } else { errors.join("; ") }
}
