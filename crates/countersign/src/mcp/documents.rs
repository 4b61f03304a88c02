//! `check`, `fix` and `explain` as tools: what the verbs do, with a document that comes in the call.

use super::Shared;
use super::answer::{Said, with_place};
use crate::checking;
use crate::company::{Company, Given, Together};
use crate::explaining;
use crate::project::Project;
use crate::repairing::{Repairs, left, printable};
use crate::shelf::Shelf;
use crate::world;
use countersign_contract::{
    Checked, Checker, Int, Json, List, Map, Request, Settings, Shape, Text, check, redact_value, shape,
};
use countersign_diagnostic::render::text::{self, Look};
use countersign_diagnostic::{Decision, Source};
use serde_json::{Value, json};
use std::path::Path;

shape! {
    /// Check a document.
    pub closed struct CheckAsked {
        /// The document: an object, or its text in JSON, YAML, Markdown or JSON Lines. Places are told in the text as it is
        /// given; an object is written out first.
        pub document: Json,
        /// What it is called; the ending of the name tells its form.
        pub name: Option<Text<1, 200>>,
        /// Its contract; told from its keys, if it is not named.
        pub contract: Option<String>,
        /// Documents that it is checked against.
        pub with: Option<List<Json>>,
        /// An earlier copy of it, for what may only grow or change in order.
        pub against: Option<Json>,
        /// Whether unknown fields are errors.
        pub strict: Option<bool>,
    }
}

shape! {
    /// What was checked.
    pub struct CheckShown {
        /// What the document is called.
        pub name: String,
        /// Its contract, if it could be told.
        pub contract: Option<String>,
        /// The version of that.
        pub version: Option<String>,
    }
}

shape! {
    /// Repair a document.
    pub closed struct FixAsked {
        /// The document: an object, or its text in JSON, YAML, Markdown or JSON Lines.
        pub document: Json,
        /// What it is called; the ending of the name tells its form.
        pub name: Option<Text<1, 200>>,
        /// Its contract; told from its keys, if it is not named.
        pub contract: Option<String>,
        /// Documents that it is checked against.
        pub with: Option<List<Json>>,
        /// How many tokens a handoff may have; at most the configured limit.
        pub max_tokens: Option<Int<1>>,
    }
}

shape! {
    /// A document that was repaired, as far as it could be.
    pub struct FixShown {
        /// What it is called.
        pub name: String,
        /// Its text; absent, if it may hold a secret that was not found.
        pub document: Option<String>,
        /// Whether that is another than was given.
        pub changed: bool,
        /// What was done, in order.
        pub changes: List<String>,
        /// What was taken out, by pointer. Write it to `kept_at` before you use the document.
        pub kept: Option<Map<Json>>,
        /// Where the document says that it is to be found.
        pub kept_at: Option<String>,
    }
}

shape! {
    /// Explain a code or a rule.
    pub closed struct ExplainAsked {
        /// A code such as SCOPE_VIOLATION, or the id of a rule.
        pub what: Text<1, 200> = "LOCK_CONFLICT",
    }
}

shape! {
    /// What a code or a rule means.
    pub struct ExplainShown {
        /// The explanation.
        pub text: String,
    }
}

/// Checks a document.
pub fn check_tool(shared: &Shared, arguments: &str) -> Said {
    let asked: CheckAsked = match read(&shared.project, "check", arguments) {
        Ok(asked) => asked,
        Err(said) => return said,
    };
    let project = &shared.project;
    if let Some(said) = unknown_contract(asked.contract.as_deref(), project) {
        return said;
    }
    let mut settings = project.settings.clone();
    settings.strict |= asked.strict.unwrap_or(false);
    let checker = Checker { settings: &settings, ..project.checker() };
    let outside = world::outside(None);
    let given = given(asked.with.as_deref(), &checker);
    let (together, shelf) = (Together::default(), Shelf::default());
    let company = Company::new(&given, &together, &[], &checker, &shelf, 0);
    let (name, text) = (name_of(asked.name.as_ref()), text_of(&asked.document));
    let older = asked.against.as_ref().map(text_of);
    let source = Source { name: &name, text: &text };
    let request = Request {
        contract: asked.contract.as_deref(),
        against: older.as_deref().map(|text| Source { name: "the earlier copy", text }),
        others: &company,
        ..Request::alone(source, &outside)
    };
    let checked = checking::checked(&checker, project, &request, Path::new(""));
    let details = &checked.decision.details;
    let shown = CheckShown { name: name.clone(), contract: details.contract.clone(), version: details.version.clone() };
    decided(&checked, source, &shown)
}

/// Repairs a document.
pub fn fix_tool(shared: &Shared, arguments: &str) -> Said {
    let asked: FixAsked = match read(&shared.project, "fix", arguments) {
        Ok(asked) => asked,
        Err(said) => return said,
    };
    let project = &shared.project;
    if let Some(said) = unknown_contract(asked.contract.as_deref(), project) {
        return said;
    }
    let settings = with_tokens(&project.settings, asked.max_tokens);
    let checker = Checker { settings: &settings, ..project.checker() };
    let outside = world::outside(None);
    let given = given(asked.with.as_deref(), &checker);
    let (together, shelf) = (Together::default(), Shelf::default());
    let company = Company::new(&given, &together, &[], &checker, &shelf, 0);
    let contract = asked.contract.as_deref();
    let document = Path::new("");
    let repairs = Repairs { project, checker: &checker, outside: &outside, company: &company, contract, document };
    let (name, original) = (name_of(asked.name.as_ref()), text_of(&asked.document));
    let before = check(&checker, &repairs.request(Source { name: &name, text: &original }, &outside));
    let (text, mut changes) = repairs.take_answer(&name, &original, &before);
    let source = Source { name: &name, text: &text };
    let outside = repairs.with_names_taken(source);
    let fixed = repairs.fix(source, None, &outside, &mut |_, _| None);
    changes.extend(fixed.changes.iter().cloned());
    let (shown, said) = printable(&fixed);
    let mut kept = Value::Object(fixed.kept.clone());
    redact_value(&mut kept);
    let kept = kept.as_object().filter(|kept| !kept.is_empty()).cloned();
    let answer = FixShown {
        name: name.clone(),
        document: (!shown.is_empty()).then(|| shown.into_owned()),
        changed: fixed.text != original,
        changes: changes.into(),
        kept: kept.map(|kept| kept.into_iter().map(|(at, value)| (at, Json::from(value))).collect()),
        kept_at: fixed.kept_at.clone(),
    };
    let decided = decided(&fixed.checked, Source { name: &name, text: &fixed.text }, &answer);
    let doubt = repairs.doubt(source).filter(|_| !fixed.checked.told);
    let said: Vec<String> = said.map(str::to_owned).into_iter().chain(left(&fixed)).chain(doubt).collect();
    if said.is_empty() { decided } else { decided.with("note", said.join("\n")) }
}

/// Explains a code or a rule.
pub fn explain_tool(shared: &Shared, arguments: &str) -> Said {
    let asked: ExplainAsked = match read(&shared.project, "explain", arguments) {
        Ok(asked) => asked,
        Err(said) => return said,
    };
    match explaining::explain(asked.what.as_str(), str::to_owned) {
        Ok(text) => Said::done(json!(ExplainShown { text }), Vec::new()),
        Err(why) => Said::refused("MISSING_REQUIRED_INPUT", &why, "name a code or a rule that there is", &[]),
    }
}

pub(super) fn read<T: Shape>(project: &Project, name: &str, arguments: &str) -> Result<T, Said> {
    // How long the document may be is for its check to say.
    let size_max = project.settings.size_max.max(arguments.len());
    let settings = Settings { size_max, ..project.settings.clone() };
    let asked = check::read(&Checker { settings: &settings, ..project.checker() }, Source { name, text: arguments });
    asked.map_err(|decision| Said::failed(countersign_engine::Failure::Malformed(decision)))
}

fn unknown_contract(name: Option<&str>, project: &Project) -> Option<Said> {
    let name = name?;
    let known: Vec<&str> = countersign_domain::contracts()
        .iter()
        .map(|it| it.name)
        .chain(project.foreign.iter().map(|it| it.name.as_str()))
        .collect();
    if known.contains(&name) {
        return None;
    }
    let reason = format!("there is no contract `{}`", countersign_contract::show(name));
    let help = format!("known are {}", known.join(", "));
    Some(Said::refused("MISSING_REQUIRED_INPUT", &reason, &help, &[]))
}

pub(super) fn with_tokens(settings: &Settings, max: Option<Int<1>>) -> Settings {
    let max = max.and_then(|max| usize::try_from(max.get()).ok()).unwrap_or(usize::MAX);
    Settings { tokens_max: settings.tokens_max.min(max), ..settings.clone() }
}

fn given(documents: Option<&[Json]>, checker: &Checker<'_>) -> Given {
    let mut given = Given::default();
    let outside = world::outside(None);
    for (number, document) in documents.unwrap_or_default().iter().enumerate() {
        given.add(&format!("with[{number}]"), &text_of(document), checker, &outside);
    }
    given
}

fn name_of(name: Option<&Text<1, 200>>) -> String {
    name.map_or("document", |name| name.as_str()).to_owned()
}

/// A document that came as a text is that text; any other is written out.
fn text_of(document: &Json) -> String {
    match document.to_value() {
        Value::String(text) => text,
        value => format!("{value:#}\n"),
    }
}

/// What was decided about a document. That it may not pass is an answer, not a refusal of the call.
fn decided(checked: &Checked, source: Source<'_>, answer: &impl serde::Serialize) -> Said {
    let decision: &Decision = &checked.decision;
    let mut findings: Vec<_> = decision.details.diagnostics.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let findings = findings.into_iter().map(|finding| with_place(finding, source)).collect();
    let rendered = checking::findings(checked, source, Look::default()) + &text::verdict(decision);
    Said::done(json!(answer), findings)
        .with("allow", decision.allow)
        .with("code", decision.code_str())
        .with("reason", decision.reason.as_str())
        .with("rendered", rendered)
}
