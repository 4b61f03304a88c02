//! Why something does not go on.

use countersign_contract::diagnostic::Diagnostic;
use countersign_engine::Failure;

/// How many findings are told.
const FINDINGS_MAX: usize = 5;

/// Why something was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    /// What it is filed under; nothing, if the ledger could not be asked.
    pub(super) code: Option<String>,
    /// Why.
    pub(super) reason: String,
    /// What a person must accept before it goes on.
    pub(super) held: Option<Held>,
}

/// Something that was changed beside the run, and what becomes of an attempt that cannot go on because of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// What exactly is to be accepted: the full name of a commit, or `sha256:` and a hash.
    pub(super) content: String,
    /// What becomes of the work.
    pub(super) work: Work,
    /// The hash of what is kept about it beside the ledger.
    pub(super) kept: Option<String>,
}

/// What becomes of the work of an attempt that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Nobody has worked yet.
    None,
    /// It must be done again.
    Lost,
    /// What was claimed stands.
    Kept,
    /// It must be done again, and who did it has changed what they may not.
    Blamed,
}

impl No {
    /// What is filed under a code.
    pub(super) fn filed(code: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { code: Some(code.into()), reason: reason.into(), held: None }
    }

    /// What cannot go on before a person has accepted something.
    pub(super) fn held(content: String, work: Work, reason: String) -> Self {
        Self { held: Some(Held { content, work, kept: None }), ..Self::filed("SCOPE_VIOLATION", reason) }
    }
}

impl From<Failure> for No {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => {
                let findings = refusal.findings.iter().filter(|it| it.severity.as_str() == "error");
                Self::filed(refusal.code.as_str(), with(&refusal.reason, findings))
            }
            Failure::Malformed(decision) => {
                let code = decision.code.map_or("SCHEMA_INVALID", |code| code.as_str());
                Self::filed(code, with(&decision.reason, decision.details.diagnostics.iter()))
            }
            Failure::Unknown(reason) => Self::from(reason),
            Failure::Ledger(error) => Self::from(error.to_string()),
        }
    }
}

/// A reason with what was found, where it does not say that already, and with what to do about it: whoever tries again reads this
/// and nothing else.
fn with<'f>(reason: &str, findings: impl Iterator<Item = &'f Diagnostic>) -> String {
    let said = |it: &Diagnostic| match (it.pointer.to_string(), reason.contains(&it.message)) {
        (place, true) => place,
        (place, false) if place.is_empty() => it.message.clone(),
        (place, false) => format!("{place}: {}", it.message),
    };
    // That what is missing is to be added goes without saying.
    let is_plain = |it: &Diagnostic| it.pointer.last().is_some_and(|field| it.help == format!("add `{field}`"));
    let is_said = |it: &Diagnostic| it.help.is_empty() || reason.contains(&it.help) || is_plain(it);
    let helped = |it: &Diagnostic| match (said(it), is_said(it)) {
        (said, true) => said,
        (said, false) if said.is_empty() => format!("help: {}", it.help),
        (said, false) => format!("{said}, help: {}", it.help),
    };
    let found: Vec<String> = findings.take(FINDINGS_MAX).map(helped).filter(|said| !said.is_empty()).collect();
    if found.is_empty() { reason.to_owned() } else { format!("{reason} ({})", found.join("; ")) }
}

/// The ledger or the world could not be used; nobody said no.
impl From<String> for No {
    fn from(reason: String) -> Self {
        Self { code: None, reason, held: None }
    }
}

impl From<No> for String {
    fn from(no: No) -> String {
        match no.code {
            Some(code) => format!("{}: {}", code, no.reason),
            None => no.reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_contract::diagnostic::{Code, Pointer, Severity};

    #[test]
    fn what_was_found_is_told_with_where_it_is_and_what_to_do() {
        let found = |at: &str, message: &str, help: &str| Diagnostic {
            rule: "a_rule",
            code: Code::SchemaInvalid,
            severity: Severity::Error,
            message: message.to_owned(),
            help: help.to_owned(),
            pointer: Pointer::at(at),
            span: None,
            labels: Vec::new(),
            repair: None,
        };
        for (findings, told) in [
            (vec![], "it is refused"),
            (vec![found("", "it is refused", "")], "it is refused"),
            (vec![found("/a", "it is refused", "")], "it is refused (/a)"),
            (vec![found("/a", "it is empty", "fill it")], "it is refused (/a: it is empty, help: fill it)"),
            (vec![found("/a", "`a` is missing", "add `a`")], "it is refused (/a: `a` is missing)"),
            (vec![found("", "it is refused", "ask again")], "it is refused (help: ask again)"),
            (
                vec![found("/a", "it is empty", "fill it"), found("/b", "it is odd", "")],
                "it is refused (/a: it is empty, help: fill it; /b: it is odd)",
            ),
        ] {
            assert_eq!(with("it is refused", findings.iter()), told);
        }
    }
}
