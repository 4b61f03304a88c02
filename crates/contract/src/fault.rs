//! Why a text could not be read as a document.

use std::ops::Range;

/// The one thing that stopped the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which family it belongs to; each is a rule.
    pub kind: FaultKind,
    /// Where, in bytes of the source.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The families of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It is not JSON, or not YAML, at all.
    Syntax,
    /// The same key twice in one object.
    DuplicateKey,
    /// Too large, too deep, or too many values.
    Limit,
    /// A feature of YAML that hides meaning: anchors, aliases, tags, merge keys, several documents.
    YamlFeature,
}
