//! Where findings are collected.

use crate::document::{Cursor, Document, Kind};
use crate::rule::RuleInfo;
use crate::{FINDINGS_MAX, rules, scan, show};
use countersign_diagnostic::{Diagnostic, Edit, Pointer, Repair, Severity};

/// The findings of one document. A rule adds to it under its own id, code and severity, so that it cannot report under
/// another's.
#[derive(Debug)]
pub struct Report {
    rule: &'static RuleInfo,
    base: Pointer,
    strict: bool,
    findings: Vec<Diagnostic>,
    /// Takes what is beyond the limit, so that a rule need not know of it.
    spare: Option<Diagnostic>,
    dropped: usize,
    untrusted: Vec<u32>,
    /// Secrets that only their key gives away; they must not be quoted.
    hidden: Vec<String>,
    elsewhere: Option<Elsewhere>,
}

/// A place by name, and what to say of a field that it does not have but another place does.
pub type Elsewhere = (&'static str, fn(&str, &str) -> Option<String>);

impl Report {
    pub(crate) fn new(strict: bool) -> Self {
        Self {
            rule: &rules::SYNTAX_INVALID,
            base: Pointer::root(),
            strict,
            findings: Vec::new(),
            spare: None,
            dropped: 0,
            untrusted: Vec::new(),
            hidden: Vec::new(),
            elsewhere: None,
        }
    }

    /// Adds a finding of the rule that is being checked. The pointer starts at the record.
    pub fn add(&mut self, pointer: Pointer, message: impl Into<String>, help: impl Into<String>) -> &mut Diagnostic {
        let pointer = pointer.below(&self.base);
        self.push(self.rule, pointer, message.into(), help.into())
    }

    /// A place of the record that is being checked, as seen from the document: what labels and repairs take.
    pub fn place(&self, pointer: Pointer) -> Pointer {
        pointer.below(&self.base)
    }

    /// Adds a finding about a place in the document, for a rule about shape.
    pub fn find(
        &mut self,
        rule: &'static RuleInfo,
        at: Cursor<'_>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(rule, at.pointer(), message.into(), help.into())
    }

    /// Adds a finding about a place that may be absent. The pointer starts at the document.
    pub(crate) fn find_at(
        &mut self,
        rule: &'static RuleInfo,
        pointer: Pointer,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Diagnostic {
        self.push(rule, pointer, message.into(), help.into())
    }

    fn push(&mut self, rule: &'static RuleInfo, pointer: Pointer, message: String, help: String) -> &mut Diagnostic {
        let diagnostic = Diagnostic {
            rule: rule.id,
            code: rule.code,
            severity: rule.severity,
            message,
            help,
            pointer,
            span: None,
            labels: Vec::new(),
            repair: None,
        };
        if self.findings.len() >= FINDINGS_MAX {
            self.dropped += 1;
            return self.spare.insert(diagnostic);
        }
        let last = self.findings.len();
        self.findings.push(diagnostic);
        &mut self.findings[last]
    }

    /// Whether this place holds a value of the kind that is wanted; says so if not.
    pub fn expect(&mut self, at: Cursor<'_>, kind: Kind) -> bool {
        if at.kind() == kind {
            return true;
        }
        self.wrong_kind(at, kind.word());
        false
    }

    /// Says that this place holds a value of another kind than the one wanted.
    pub fn wrong_kind(&mut self, at: Cursor<'_>, wanted: &str) {
        let found = at.kind().word();
        let help = match (wanted, at.kind()) {
            ("a text", Kind::Number | Kind::Bool) => format!("put it in quotes: \"{}\"", show(at.raw())),
            ("a boolean", Kind::Text) => "write true or false, without quotes".to_owned(),
            ("a number" | "a whole number", Kind::Text) => "write the number without quotes".to_owned(),
            ("a list", _) => "put it in square brackets, even if there is only one".to_owned(),
            _ => format!("write {wanted} here"),
        };
        let scalar = repaired_scalar(at, wanted);
        let wraps = wanted == "a list" && matches!(at.kind(), Kind::Text | Kind::Object);
        let found = self.find(&rules::KIND_MISMATCH, at, format!("expected {wanted}, found {found}"), help);
        let pointer = found.pointer.clone();
        if let Some(value) = scalar {
            found.repair(Repair::replace(pointer, value, format!("write it as {wanted}")));
        } else if wraps {
            let list = serde_json::Value::Array(vec![at.to_value()]);
            found.repair(Repair::replace(pointer, list, "put it in a list"));
        }
    }

    /// Says that a required member is absent.
    pub fn missing(&mut self, owner: Cursor<'_>, key: &str) {
        let pointer = owner.pointer().key(key);
        let message = format!("required field `{key}` is missing");
        self.find_at(&rules::FIELD_MISSING, pointer, message, format!("add `{key}`"));
    }

    /// Says that a required text or list is empty.
    pub fn empty(&mut self, at: Cursor<'_>, what: &str) {
        self.find(&rules::FIELD_EMPTY, at, format!("{what} is empty"), "fill it in");
    }

    /// Says that a value is not of the form that is wanted.
    pub fn bad_format(&mut self, at: Cursor<'_>, wanted: &str) -> &mut Diagnostic {
        let message = format!("`{}` is not {wanted}", show(at.raw()));
        self.find(&rules::FORMAT_INVALID, at, message, format!("write {wanted}"))
    }

    /// Says that a word is none of those that are known. The likely one is named, but only another spelling of a known
    /// word is mended: the nearest word may be the opposite one, as `COMPLIANT` is for `NON_COMPLIANT`, and a repair
    /// never decides.
    pub fn unknown_word(&mut self, at: Cursor<'_>, known: &[&str]) {
        self.say_unknown_word(at, known, false);
    }

    /// The same for a word on which nothing depends but who reads it: there the likely one is offered too.
    pub fn unknown_word_forgiving(&mut self, at: Cursor<'_>, known: &[&str]) {
        self.say_unknown_word(at, known, true);
    }

    fn say_unknown_word(&mut self, at: Cursor<'_>, known: &[&str], forgiving: bool) {
        let word = at.raw();
        if word.trim().is_empty() {
            return self.empty(at, "this text");
        }
        let folded = known.iter().find(|it| it.eq_ignore_ascii_case(word.trim())).copied();
        let near = folded.or_else(|| nearest(word, known));
        let all = known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let help = match near {
            Some(near) => format!("did you mean `{near}`? known are {all}"),
            None => format!("use one of {all}"),
        };
        let found = self.find(&rules::CHOICE_UNKNOWN, at, format!("`{}` is not a known value", show(word)), help);
        if let Some(word) = if forgiving { near } else { folded } {
            let pointer = found.pointer.clone();
            found.repair(Repair::replace(pointer, word, format!("write `{word}`")));
        }
    }

    /// Says that a number is out of its range.
    pub fn out_of_range(&mut self, at: Cursor<'_>, range: &str) -> &mut Diagnostic {
        let message = format!("{} is out of range: {range}", show(at.raw()));
        self.find(&rules::RANGE_EXCEEDED, at, message, format!("write a number that is {range}"))
    }

    /// Says that a member is not known to its contract. `x_` members are the author's own, except where the contract
    /// is closed.
    pub fn unknown_field(&mut self, key: Cursor<'_>, known: &[&str], closed: bool) {
        let name = key.raw();
        if name.starts_with("x_") && !closed {
            return;
        }
        let near = nearest(name, known);
        let elsewhere = self.elsewhere.and_then(|(here, explain)| explain(here, name));
        let help = match near {
            _ if elsewhere.is_some() => elsewhere.unwrap_or_default(),
            Some(near) => format!("did you mean `{near}`?"),
            None if closed => "remove it; this contract is closed".to_owned(),
            None => "remove it, or begin its name with `x_` to keep it as your own".to_owned(),
        };
        let rule = if closed { &rules::FIELD_NOT_ALLOWED } else { &rules::FIELD_UNKNOWN };
        let message = format!("unknown field `{}`", show(name));
        let strict = self.strict;
        let found = self.find(rule, key, message, help);
        if strict {
            found.severity = Severity::Error;
        }
    }

    /// From here on, explains unknown fields that are known elsewhere: for objects whose members depend on a word.
    pub fn explain_unknown(&mut self, elsewhere: Option<Elsewhere>) {
        self.elsewhere = elsewhere;
    }

    /// Remembers that the text here came from someone who must not be obeyed.
    pub(crate) fn mark_untrusted(&mut self, at: Cursor<'_>) {
        self.untrusted.push(at.index());
    }

    /// Remembers a secret that cannot be told by itself, so that no message quotes it.
    pub(crate) fn hide(&mut self, secret: &str) {
        self.hidden.push(secret.to_owned());
    }

    pub(crate) fn is_untrusted(&self, at: Cursor<'_>) -> bool {
        // Filled in the order of reading, which is that of the nodes only within an object read in order.
        self.untrusted.contains(&at.index())
    }

    pub(crate) fn enter(&mut self, rule: &'static RuleInfo) {
        self.rule = rule;
    }

    pub(crate) fn set_base(&mut self, base: Pointer) {
        self.base = base;
    }

    /// Has rules look at a record that stands at `pointer` inside the one being checked, then goes back to the rule and
    /// the place where it was.
    pub(crate) fn inside(&mut self, pointer: &Pointer, look: impl FnOnce(&mut Report)) {
        let rule = self.rule;
        let outer = std::mem::take(&mut self.base);
        self.base = pointer.below(&outer);
        look(self);
        self.rule = rule;
        self.base = outer;
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.dropped > 0 || self.findings.iter().any(|it| it.severity == Severity::Error)
    }

    pub(crate) fn findings_mut(&mut self) -> &mut [Diagnostic] {
        &mut self.findings
    }

    /// Everything that was found, each with its place in the source, in the order of the document.
    pub(crate) fn finish(mut self, document: Option<&Document<'_>>) -> Vec<Diagnostic> {
        if let Some(document) = document {
            for finding in &mut self.findings {
                finding.span = Some(finding.span.take().unwrap_or_else(|| document.span(&finding.pointer)));
                for label in &mut finding.labels {
                    label.span = Some(document.span(&label.pointer));
                }
            }
        }
        for finding in &mut self.findings {
            redact(&mut finding.message, &self.hidden);
            redact(&mut finding.help, &self.hidden);
            finding.labels.iter_mut().for_each(|label| redact(&mut label.text, &self.hidden));
            if let Some(hidden) = scan::redact(finding.pointer.as_str()) {
                // A key that is a secret: its place cannot be named, and so not mended by machine.
                finding.pointer = Pointer::at(hidden);
                finding.repair = None;
            }
            if let Some(repair) = &mut finding.repair {
                redact(&mut repair.summary, &self.hidden);
                repair.patch.iter_mut().filter_map(Edit::value_mut).for_each(|value| redact_value(value, &self.hidden));
            }
        }
        self.findings.sort_by_key(|it| it.span.as_ref().map_or(0, |span| span.start));
        if self.dropped > 0 {
            let message = format!("{} more findings are not listed", self.dropped);
            self.findings.truncate(FINDINGS_MAX);
            let rule = &rules::FINDINGS_CUT;
            self.findings.push(Diagnostic {
                rule: rule.id,
                code: rule.code,
                severity: rule.severity,
                message,
                help: "mend what is listed and check again".to_owned(),
                pointer: Pointer::root(),
                span: document.map(|document| document.span(&Pointer::root())),
                labels: Vec::new(),
                repair: None,
            });
        }
        self.findings
    }
}

/// What is said about a document must not repeat its secrets.
fn redact(text: &mut String, hidden: &[String]) {
    if let Some(redacted) = scan::redact(text) {
        *text = redacted;
    }
    for secret in hidden {
        if text.contains(secret.as_str()) {
            *text = text.replace(secret.as_str(), "[REDACTED:field]");
        }
    }
}

fn redact_value(value: &mut serde_json::Value, hidden: &[String]) {
    match value {
        serde_json::Value::String(text) => redact(text, hidden),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, hidden)),
        serde_json::Value::Object(members) => {
            members.values_mut().for_each(|member| redact_value(member, hidden));
        }
        _ => {}
    }
}

fn repaired_scalar(at: Cursor<'_>, wanted: &str) -> Option<serde_json::Value> {
    match (wanted, at.kind()) {
        ("a text", Kind::Number | Kind::Bool) => Some(at.raw().into()),
        ("a boolean", Kind::Text) => at.raw().parse::<bool>().ok().map(Into::into),
        ("a whole number", Kind::Text) => at.raw().parse::<i64>().ok().map(Into::into),
        ("a number", Kind::Text) => at.raw().parse::<f64>().ok().filter(|it| it.is_finite()).map(Into::into),
        _ => None,
    }
}

/// The known name that a mistyped one most likely stands for.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 64 {
        return None;
    }
    let name = name.to_lowercase();
    let scored = known.iter().map(|it| (strsim::jaro_winkler(&name, &it.to_lowercase()), *it));
    scored.filter(|(score, _)| *score > 0.85).max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, it)| it)
}
