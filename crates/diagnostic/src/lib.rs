//! What Countersign says when something is wrong.
//!
//! A [`Diagnostic`] is data: which rule, which code, where (a JSON pointer and a byte range), what to do, and, where
//! the rule knows one, a [`Repair`]. A [`Decision`] is the answer for one document: may it pass, under which one code,
//! and everything that was found. Only [`render`] knows lines, colours and output formats.
//!
//! **Invariant:** messages are lower-case sentences without a full stop, on one line; the cure is in `help`.
//! **Absent on purpose:** contracts, rules, files, terminals.

mod code;
mod decision;
mod pointer;
pub mod render;
mod repair;
mod source;
mod visible;

pub use code::Code;
pub use decision::{Decision, Details};
pub use pointer::Pointer;
pub use repair::{Edit, Repair};
pub use source::{Place, Source};
pub use visible::{acts, url_path, visible, visible_json, visible_lines};

use std::ops::Range;

/// How much a finding weighs. Only an error refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Note,
    /// Likely wrong; does not refuse.
    Warning,
    /// Refuses the document.
    Error,
}

impl Severity {
    /// The word that people and machines read.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding in one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The id of the rule that found it, as `countersign explain` takes it.
    pub rule: &'static str,
    /// The code it leads to.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// Where, as a JSON pointer. For a field that is absent, the place where it should be.
    pub pointer: Pointer,
    /// Where, in bytes of the source. Filled in from the pointer by whoever holds the source.
    pub span: Option<Range<usize>>,
    /// Other places of the same document that explain this one.
    pub labels: Vec<Label>,
    /// A change that mends it, where one is known.
    pub repair: Option<Repair>,
}

/// A second place that explains a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where, as a JSON pointer.
    pub pointer: Pointer,
    /// Where, in bytes of the source.
    pub span: Option<Range<usize>>,
    /// What is to be seen there.
    pub text: String,
}

impl Diagnostic {
    /// Adds a second place that explains this finding.
    pub fn label(&mut self, pointer: Pointer, text: impl Into<String>) -> &mut Self {
        self.labels.push(Label { pointer, span: None, text: text.into() });
        self
    }

    /// Adds the change that mends this finding.
    pub fn repair(&mut self, repair: Repair) -> &mut Self {
        self.repair = Some(repair);
        self
    }
}
