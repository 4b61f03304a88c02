//! Repairing a document: the repairs of rules first, then the rungs of its contract's ladder, at most three attempts.

use crate::check::{Checked, Checker, Request, check, check_for};
use crate::comments::{comments, passages};
use crate::contract::ContractInfo;
use crate::document::{Document, Form};
use crate::outside::{Outside, Settings};
use crate::{FINDINGS_MAX, redact_value, scan, show};
use countersign_diagnostic::{Decision, Diagnostic, Repair, Severity, Source};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ops::Range;

mod seal;
mod splice;
mod write;

pub use seal::seal;
pub use write::write;

/// How often a document is repaired before a person is asked.
pub const ATTEMPTS_MAX: usize = 3;

/// How many findings one attempt mends: far more than are listed for a reader, and few enough to hold and to place.
const REPAIRS_MAX: usize = 50_000;

/// A step of a contract's ladder: changes a document so that it may pass, losing nothing that it does not keep.
#[derive(Debug, Clone, Copy)]
pub struct Rung {
    /// What it is called in the list of changes.
    pub name: &'static str,
    /// Whether it belongs to the repairs of rules, and is climbed in the same attempt as they are.
    pub mends: bool,
    /// Whether it may help: looks at what the check of the document found.
    pub helps: fn(&Decision) -> bool,
    /// Changes the document, and says what was done, one clause for each change.
    pub climb: fn(&mut Value, &mut Climb<'_>) -> Vec<String>,
}

/// What a rung has to work with.
pub struct Climb<'a> {
    /// Everything that is taken out, by pointer. It is written to `kept_at` before the document is.
    pub kept: &'a mut Map<String, Value>,
    /// Where what is taken out will be found; a rung that takes something out leaves a reference to it.
    pub kept_at: Option<String>,
    /// Shortens a text to about so many characters, if a summariser was given.
    pub summarize: &'a mut dyn FnMut(&str, usize) -> Option<String>,
    /// What the door saw of the world.
    pub outside: &'a Outside,
    /// The settings.
    pub settings: &'a Settings,
}

impl std::fmt::Debug for Climb<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Climb").field("kept", &self.kept).field("kept_at", &self.kept_at).finish_non_exhaustive()
    }
}

/// A document that was repaired, as far as it could be.
#[derive(Debug)]
pub struct Fixed {
    /// The text to write, in the form of the original. Equal to the original when nothing was changed.
    pub text: String,
    /// What was done, in order.
    pub changes: Vec<String>,
    /// What was taken out, by pointer, and must be written before the document is. Empty when nothing was.
    pub kept: Map<String, Value>,
    /// Where the document says that `kept` is to be found.
    pub kept_at: Option<String>,
    /// The check of the repaired document.
    pub checked: Checked,
    /// How many attempts were made.
    pub attempts: usize,
    /// How many repairs were left undone, since lines of a log are not changed for less than an error.
    pub left: usize,
}

/// Repairs a document. `kept_at` overrides where what is taken out will be found.
pub fn fix(
    checker: &Checker<'_>,
    request: &Request<'_>,
    kept_at: Option<&str>,
    summarize: &mut dyn FnMut(&str, usize) -> Option<String>,
) -> Fixed {
    let form = request.form();
    let mut text = request.source.text.to_owned();
    let mut changes = Vec::new();
    let mut kept = Map::new();
    let mut kept_path = None;
    let mut checked = check_text(checker, request, &text, form);
    let mut attempts = 0;
    let mut rung = 0;
    let mut climb = |step: &Rung, document: &mut Value| {
        let mut climb = Climb {
            kept: &mut kept,
            // Everything that is taken out goes to one place, however many rungs it takes.
            kept_at: kept_at.map(str::to_owned).or_else(|| kept_path.clone()),
            summarize: &mut *summarize,
            outside: request.outside,
            settings: checker.settings,
        };
        let done = (step.climb)(document, &mut climb);
        kept_path = climb.kept_at.or_else(|| kept_path.take());
        done
    };
    while attempts < ATTEMPTS_MAX && needs_repair(&checked.decision, form) {
        let Some(mut document) = read(&text, form, checker) else { break };
        let Some(contract) = checked.contract else {
            // Of a contract that is not ours only this is known to be right.
            changes.extend(redact(&mut document, &mut text, form));
            text = write(&document, &text, form);
            checked = check_text(checker, request, &text, form);
            attempts += 1;
            break;
        };
        let original = document.clone();
        attempts += 1;
        let before = changes.len();
        changes.extend(redact(&mut document, &mut text, form));
        changes.extend(repair(&mut document, &checked.decision, form, &contract, request.outside));
        let helps = |step: &&Rung| (step.helps)(&checked.decision);
        let (mending, climbing): (Vec<&Rung>, Vec<&Rung>) = (contract.rungs)().iter().partition(|step| step.mends);
        changes.extend(mending.into_iter().filter(helps).flat_map(|step| climb(step, &mut document)));
        // A rung is for what repairs cannot mend; the first attempt belongs to the repairs alone where there are any.
        if changes.len() == before || attempts > 1 {
            // One that finds nothing to do leaves the attempt to the next.
            for step in climbing.into_iter().skip(rung) {
                rung += 1;
                let done = if helps(&step) { climb(step, &mut document) } else { Vec::new() };
                if !done.is_empty() {
                    changes.extend(done);
                    break;
                }
            }
        }
        if changes.len() == before {
            break;
        }
        seal::seal(&contract, &original, &mut document);
        text = write(&document, &text, form);
        checked = check_text(checker, request, &text, form);
    }
    let findings = &checked.decision.details.diagnostics;
    let left = findings.iter().filter(|it| it.repair.is_some() && !is_to_mend(it, form)).count();
    if findings.len() > FINDINGS_MAX {
        let source = Source { name: request.source.name, text: &text };
        checked = check(checker, &Request { source, form: Some(form), ..*request });
    }
    let kept_at = kept_path.filter(|_| !kept.is_empty());
    Fixed { text, changes, kept, kept_at, checked, attempts, left }
}

/// Takes every secret out, whether or not a finding lists it, before anything of the document is kept elsewhere.
fn redact(document: &mut Value, text: &mut String, form: Form) -> Vec<String> {
    let redacted = redact_value(document).into_iter();
    let mut done: Vec<String> = redacted.map(|pointer| format!("{pointer}: redact the secret")).collect();
    done.extend(redact_comments(text, form));
    let body = crate::front_matter(text).filter(|_| form == Form::Markdown).map(|front| front.end);
    if let Some(body) = body
        && let Some(redacted) = scan::redact(&text[body..])
    {
        text.replace_range(body.., &redacted);
        done.push("below the front matter: redact the secret".to_owned());
    }
    done
}

/// A comment goes where the document goes.
fn redact_comments(text: &mut String, form: Form) -> Vec<String> {
    // Keys first, which go over many lines. What is left is looked at line by line.
    let keys = |document: &Document<'_>| passages(document).into_iter().flat_map(|it| keys_in(document, it)).collect();
    let others = |document: &Document<'_>| {
        let redacted = |place: Range<usize>| scan::redact(&document.text()[place.clone()]).map(|it| (place, it));
        comments(document).into_iter().filter_map(redacted).collect()
    };
    let mut done = edit(text, form, keys);
    done += edit(text, form, others);
    vec!["in a comment: redact the secret".to_owned(); done]
}

type Edits = Vec<(Range<usize>, String)>;

/// The private keys in comments that follow each other, and what stands in their place then.
fn keys_in(document: &Document<'_>, within: Range<usize>) -> Edits {
    let secrets = scan::secrets(&document.text()[within.clone()]).into_iter();
    let keys = secrets.filter(|it| it.kind == scan::PRIVATE_KEY);
    let place = |range: Range<usize>| within.start + range.start..within.start + range.end;
    keys.map(|it| (place(it.range), format!("[REDACTED:{}]", it.kind))).collect()
}

/// Changes a text by what was found in it, and says how much that was.
fn edit(text: &mut String, form: Form, find: impl FnOnce(&Document<'_>) -> Edits) -> usize {
    let Ok(document) = crate::parse(text, form, crate::SIZE_MAX_LIMIT) else { return 0 };
    let edits = find(&document);
    drop(document);
    let count = edits.len();
    *text = write::apply(text, edits);
    count
}

/// Errors want mending; so does a warning or a note whose rule knows how.
fn needs_repair(decision: &Decision, form: Form) -> bool {
    let mut findings = decision.details.diagnostics.iter();
    findings.any(|it| it.severity == Severity::Error || (it.repair.is_some() && is_to_mend(it, form)))
}

/// JSON Lines is how logs are written, which only grow: a line that was changed for a trifle would be refused beside an
/// earlier copy. Errors have to go all the same, and secrets.
fn is_to_mend(finding: &Diagnostic, form: Form) -> bool {
    form != Form::JsonLines || finding.severity == Severity::Error || finding.rule == crate::rules::SECRET_IN_TEXT.id
}

fn check_text(checker: &Checker<'_>, request: &Request<'_>, text: &str, form: Form) -> Checked {
    let source = Source { name: request.source.name, text };
    check_for(checker, &Request { source, form: Some(form), ..*request }, REPAIRS_MAX)
}

fn read(text: &str, form: Form, checker: &Checker<'_>) -> Option<Value> {
    crate::parse(text, form, checker.settings.size_max).ok().map(|document| document.root().to_value())
}

/// Does every repair that the findings offer, those deepest in the document first so that the place of one is not moved
/// by another, and fills in the contract's defaults for what is missing.
fn repair(
    document: &mut Value,
    decision: &Decision,
    form: Form,
    contract: &ContractInfo,
    outside: &Outside,
) -> Vec<String> {
    let mut repairs: Vec<Repair> = Vec::new();
    for finding in decision.details.diagnostics.iter().filter(|it| is_to_mend(it, form)) {
        if finding.rule == crate::rules::SECRET_IN_TEXT.id {
            continue;
        }
        if let Some(repair) = &finding.repair {
            repairs.push(repair.clone());
        } else if finding.rule == crate::rules::FIELD_MISSING.id
            && let Some(value) = (contract.default_for)(finding.pointer.as_str(), document, outside)
        {
            let field = finding.pointer.last().unwrap_or_default();
            // Some defaults are always the same and some follow from the rest; what is added says it for both.
            let summary = match &value {
                Value::Object(_) | Value::Array(_) => format!("add `{field}`"),
                Value::String(text) => format!("add `{field}`: `{}`", show(text)),
                scalar => format!("add `{field}`: `{scalar}`"),
            };
            repairs.push(Repair::add(finding.pointer.clone(), value, summary));
        }
    }
    // Later places first: taking an item out of a list moves those behind it.
    repairs.reverse();
    let mut done = Vec::new();
    let mut touched: HashSet<String> = HashSet::new();
    for repair in repairs {
        let path = repair.patch.first().map(|edit| edit.path().to_string()).unwrap_or_default();
        // Two repairs of one place are not both right; the next attempt sees whether the other is still wanted.
        if touched.contains(&path) || !repair.apply(document) {
            continue;
        }
        done.push(format!("{}: {}", if path.is_empty() { "/" } else { &path }, repair.summary));
        touched.insert(path);
    }
    done.reverse();
    done
}
