//! The answer for one document.

use crate::{Code, Diagnostic, Severity};

/// May this document pass, under which code, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Whether it may pass.
    pub allow: bool,
    /// The code that outranks the others; none means OK.
    pub code: Option<Code>,
    /// One sentence.
    pub reason: String,
    /// Everything else.
    pub details: Details,
}

/// What the decision was made about and on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details {
    /// The name of the document: a path, or `<stdin>`.
    pub file: String,
    /// The contract it was checked against, if one could be told.
    pub contract: Option<String>,
    /// The version of that contract which the document names, or else the contract's own.
    pub version: Option<String>,
    /// Everything that was found, in the order of the document.
    pub diagnostics: Vec<Diagnostic>,
}

impl Decision {
    /// Decides from what was found: an error refuses, and the error whose code outranks the others gives code and
    /// reason.
    pub fn from_findings(details: Details) -> Self {
        let errors = details.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        // `min_by_key` takes the first of equals, which is the first in the document.
        let primary = errors.min_by_key(|it| it.code);
        match primary {
            Some(error) => Self { allow: false, code: Some(error.code), reason: error.message.clone(), details },
            None => {
                let reason = match details.diagnostics.len() {
                    0 => "no findings".to_owned(),
                    1 => "1 finding, none of them an error".to_owned(),
                    n => format!("{n} findings, none of them an error"),
                };
                Self { allow: true, code: None, reason, details }
            }
        }
    }

    /// The wire form of the code: `OK` when the document is allowed.
    pub fn code_str(&self) -> &'static str {
        self.code.map_or(Code::OK, Code::as_str)
    }

    /// How many findings there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.details.diagnostics.iter().filter(|it| it.severity == severity).count()
    }
}
