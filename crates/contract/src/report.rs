//! Where findings are collected.

use crate::document::{Cursor, Document, Kind};
use crate::hide::Hidden;
use crate::rule::RuleInfo;
use crate::{FINDINGS_MAX, rules, show};
use countersign_diagnostic::{Diagnostic, Edit, Pointer, Repair, Severity};

/// How many letters a mistyped name may be off, to be taken for a slip.
const SLIP_MAX: usize = 2;

/// The findings of one document. A rule adds to it under its own id, code and severity, so that it cannot report under
/// another's.
#[derive(Debug)]
pub struct Report {
    rule: &'static RuleInfo,
    base: Pointer,
    strict: bool,
    /// How many errors are listed, and how many of the rest.
    most: usize,
    findings: Vec<Diagnostic>,
    /// How many of `findings` are errors by their rule. Errors and the rest have room of their own, so that warnings
    /// cannot crowd errors out.
    errors: usize,
    /// Takes what is beyond the limit, so that a rule need not know of it.
    spare: Option<Diagnostic>,
    /// What is beyond the limit, by rule.
    dropped: Vec<(&'static RuleInfo, usize)>,
    untrusted: Vec<u32>,
    embedded: Vec<u32>,
    /// Places of texts whose secrets are looked for elsewhere.
    examined: Vec<u32>,
    hidden: Hidden,
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
            most: FINDINGS_MAX,
            findings: Vec::new(),
            errors: 0,
            spare: None,
            dropped: Vec::new(),
            untrusted: Vec::new(),
            embedded: Vec::new(),
            examined: Vec::new(),
            hidden: Hidden::default(),
            elsewhere: None,
        }
    }

    /// The same, for so many findings that a reader would not want them all.
    pub(crate) fn with_room(self, most: usize) -> Self {
        Self { most, ..self }
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
        // Finding the way to a place takes time in proportion to the document, so it is done for what will be shown.
        let pointer = if self.is_full(rule) { Pointer::root() } else { at.pointer() };
        self.push(rule, pointer, message.into(), help.into())
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

    fn is_full(&self, rule: &RuleInfo) -> bool {
        let errors = rule.severity == Severity::Error;
        (if errors { self.errors } else { self.findings.len() - self.errors }) >= self.most
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
        if self.is_full(rule) {
            match self.dropped.iter_mut().find(|(dropped, _)| std::ptr::eq(*dropped, rule)) {
                Some((_, count)) => *count += 1,
                None => self.dropped.push((rule, 1)),
            }
            return self.spare.insert(diagnostic);
        }
        self.errors += usize::from(rule.severity == Severity::Error);
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
        self.say_wrong_kind(at, wanted);
    }

    /// Says that this place holds no text, where a text of some form is wanted. What would not be of that form in quotes
    /// either is not sent there.
    pub fn no_text(&mut self, at: Cursor<'_>, wanted: &str, fits: impl FnOnce(&str) -> bool) {
        if !matches!(at.kind(), Kind::Number | Kind::Bool) || fits(at.raw()) {
            self.wrong_kind(at, Kind::Text.word());
            return;
        }
        let message = format!("expected {wanted}, found {}", at.kind().word());
        self.find(&rules::KIND_MISMATCH, at, message, format!("write {wanted}"));
    }

    /// Says that there is no list here. What would be an item of it is put into one, if that is wanted.
    pub(crate) fn no_list(&mut self, at: Cursor<'_>, is_item: bool) {
        let found = self.say_wrong_kind(at, Kind::List.word());
        if is_item {
            let list = serde_json::Value::Array(vec![at.to_value()]);
            let pointer = found.pointer.clone();
            found.repair(Repair::replace(pointer, list, "put it in a list"));
        }
    }

    fn say_wrong_kind(&mut self, at: Cursor<'_>, wanted: &str) -> &mut Diagnostic {
        let found = at.kind().word();
        let help = match (wanted, at.kind()) {
            ("a text", Kind::Number | Kind::Bool) => format!("put it in quotes: \"{}\"", show(at.raw())),
            ("a boolean", Kind::Text) => "write true or false, without quotes".to_owned(),
            ("a number" | "a whole number", Kind::Text) => "write the number without quotes".to_owned(),
            ("a list", _) => "put it in square brackets, even if there is only one".to_owned(),
            _ => format!("write {wanted} here"),
        };
        let scalar = repaired_scalar(at, wanted);
        let found = self.find(&rules::KIND_MISMATCH, at, format!("expected {wanted}, found {found}"), help);
        let pointer = found.pointer.clone();
        if let Some(value) = scalar {
            found.repair(Repair::replace(pointer, value, format!("write it as {wanted}")));
        }
        found
    }

    /// Says that a required member is absent.
    pub fn missing(&mut self, owner: Cursor<'_>, key: &str) {
        let owner = if self.is_full(&rules::FIELD_MISSING) { Pointer::root() } else { owner.pointer() };
        let pointer = owner.key(key);
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
    pub fn unknown_field(&mut self, owner: Cursor<'_>, key: Cursor<'_>, known: &[&str], closed: bool) {
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
        let slip = near.filter(|near| strsim::osa_distance(name, near) <= SLIP_MAX && owner.get(near).is_none());
        let value = slip.and_then(|_| owner.get(name)).map(Cursor::to_value);
        let found = self.find(rule, key, message, help);
        if let (Some(near), Some(value), Some(parent)) = (slip, value, found.pointer.parent()) {
            let patch = vec![Edit::Remove { path: found.pointer.clone() }, Edit::Add { path: parent.key(near), value }];
            found.repair(Repair { summary: format!("call it `{near}`"), patch });
        }
    }

    /// From here on, explains unknown fields that are known elsewhere: for objects whose members depend on a word.
    pub fn explain_unknown(&mut self, elsewhere: Option<Elsewhere>) {
        self.elsewhere = elsewhere;
    }

    /// Remembers that the text here came from someone who must not be obeyed.
    pub(crate) fn mark_untrusted(&mut self, at: Cursor<'_>) {
        if self.untrusted.is_empty() {
            // Where there is one there are several, and growing by and by costs more than the room.
            self.untrusted.reserve(32);
        }
        self.untrusted.push(at.index());
    }

    /// Remembers a secret that cannot be told by itself, so that no message quotes it.
    pub(crate) fn hide(&mut self, secret: &str) {
        self.hidden.add(secret);
    }

    /// Says that reading is done, so that untrusted places can be looked up.
    pub(crate) fn settle(&mut self) {
        self.untrusted.sort_unstable();
    }

    /// Says that the text at a place is a document of its own, which is checked as such: what would be control in a field is
    /// what it is made of.
    pub fn mark_embedded(&mut self, at: Cursor<'_>) {
        self.embedded.push(at.index());
    }

    /// Says that whoever is given the text at a place looks for secrets in it, part by part, and keeps none: such a text is
    /// answered and not turned away.
    pub fn mark_examined(&mut self, at: Cursor<'_>) {
        self.examined.push(at.index());
    }

    pub(crate) fn is_examined(&self, at: Cursor<'_>) -> bool {
        self.examined.contains(&at.index())
    }

    pub(crate) fn is_embedded(&self, at: Cursor<'_>) -> bool {
        self.embedded.contains(&at.index())
    }

    pub(crate) fn is_untrusted(&self, at: Cursor<'_>) -> bool {
        self.untrusted.binary_search(&at.index()).is_ok()
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
        self.errors > 0
    }

    /// Everything that was found, each with its place in the source, in the order of the document. `weigh` says how much
    /// a finding of a rule weighs here.
    pub(crate) fn finish(
        mut self,
        document: Option<&Document<'_>>,
        weigh: impl Fn(&str, Severity) -> Severity,
    ) -> Vec<Diagnostic> {
        let span = |pointer: &Pointer| document.map(|document| document.span(pointer));
        let strict = self.strict;
        let weigh = |rule: &str, severity| {
            let strict = strict && rule == rules::FIELD_UNKNOWN.id;
            if strict { Severity::Error } else { weigh(rule, severity) }
        };
        for finding in &mut self.findings {
            finding.severity = weigh(finding.rule, finding.severity);
            finding.span = finding.span.take().or_else(|| span(&finding.pointer));
            finding.labels.iter_mut().for_each(|label| label.span = span(&label.pointer));
        }
        self.findings.sort_by_key(|it| it.span.as_ref().map_or(0, |span| span.start));
        if let Some(cut) = cut(&self.dropped, weigh) {
            self.findings.push(Diagnostic { span: span(&Pointer::root()), ..cut });
        }
        if !self.findings.is_empty() {
            self.hidden.cover(&mut self.findings);
        }
        self.findings
    }
}

/// What is said of findings beyond the limit: how many, under the code that outranks the others among them.
fn cut(dropped: &[(&'static RuleInfo, usize)], weigh: impl Fn(&str, Severity) -> Severity) -> Option<Diagnostic> {
    let count: usize = dropped.iter().map(|(_, count)| count).sum();
    let severity = dropped.iter().map(|(rule, _)| weigh(rule.id, rule.severity)).max()?;
    let heaviest = dropped.iter().filter(|(rule, _)| weigh(rule.id, rule.severity) == severity);
    let code = heaviest.map(|(rule, _)| rule.code).min()?;
    Some(Diagnostic {
        rule: rules::FINDINGS_CUT.id,
        code,
        severity,
        message: format!("{count} more findings are not listed"),
        help: "mend what is listed and check again".to_owned(),
        pointer: Pointer::root(),
        span: None,
        labels: Vec::new(),
        repair: None,
    })
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
