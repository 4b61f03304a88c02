//! Spans: something that began, and mostly has ended.

use super::ids::{SpanId, TraceId};
use super::words;
use serde_json::Value;

/// Which side of a crossing a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It happens here.
    Internal = 1,
    /// It asks something of somebody else.
    Client = 3,
    /// It hands something over.
    Producer = 4,
    /// It takes something over.
    Consumer = 5,
}

/// What an attribute says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worth {
    /// A name, an id or a code.
    Word(String),
    /// A count.
    Count(i64),
    /// Whether something is so.
    Flag(bool),
}

/// Attributes, in the order in which they were said.
pub type Attributes = Vec<(&'static str, Worth)>;

/// Something that happened at one moment of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// What.
    pub name: &'static str,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What is known of it.
    pub attributes: Attributes,
}

/// Another span that this one has to do with, and is not inside of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
    /// How it has to do with it.
    pub relation: &'static str,
}

/// A span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its trace.
    pub trace: TraceId,
    /// Its id.
    pub id: SpanId,
    /// The span that it is inside of.
    pub parent: Option<SpanId>,
    /// Its name.
    pub name: String,
    /// Which side of a crossing it is.
    pub kind: Kind,
    /// When it began, in milliseconds since 1970.
    pub begun: i64,
    /// When it ended; none while it goes on.
    pub ended: Option<i64>,
    /// What is known of it.
    pub attributes: Attributes,
    /// What happened in it.
    pub points: Vec<Point>,
    /// What else it has to do with.
    pub links: Vec<Link>,
    /// The code that it failed with.
    pub failed: Option<String>,
}

impl Span {
    /// A span that began and goes on.
    pub(super) fn begun(trace: TraceId, id: SpanId, parent: Option<SpanId>, name: String, at: i64) -> Self {
        Self {
            trace,
            id,
            parent,
            name,
            kind: Kind::Internal,
            begun: at,
            ended: None,
            attributes: Vec::new(),
            points: Vec::new(),
            links: Vec::new(),
            failed: None,
        }
    }

    /// The same, ended.
    pub(super) fn until(mut self, ended: Option<i64>) -> Self {
        self.ended = ended;
        self
    }

    /// The same as another side of a crossing.
    pub(super) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Says a name, an id or a code of it. What is empty is not said.
    pub(super) fn word(mut self, name: &'static str, word: &str) -> Self {
        if !word.is_empty() {
            self.attributes.push((name, Worth::Word(words::safe(word))));
        }
        self
    }

    /// The same for one that may not be known.
    pub(super) fn maybe(self, name: &'static str, word: &Value) -> Self {
        self.word(name, word.as_str().unwrap_or_default())
    }

    /// Says a count of it, where it is known.
    pub(super) fn count(mut self, name: &'static str, count: Option<u64>) -> Self {
        if let Some(count) = count {
            self.attributes.push((name, Worth::Count(i64::try_from(count).unwrap_or(i64::MAX))));
        }
        self
    }

    /// Says whether something is so.
    pub(super) fn flag(mut self, name: &'static str, flag: bool) -> Self {
        self.attributes.push((name, Worth::Flag(flag)));
        self
    }

    /// The same with what happened in it.
    pub(super) fn with_points(mut self, points: Vec<Point>) -> Self {
        self.points = points;
        self
    }

    /// The same, and it failed.
    pub(super) fn failed_with(mut self, code: Option<&str>) -> Self {
        if let Some(code) = code {
            let code = words::safe(code);
            self.attributes.push(("error.type", Worth::Word(code.clone())));
            self.failed = Some(code);
        }
        self
    }

    /// The same with another span that it has to do with.
    pub(super) fn linked(mut self, trace: TraceId, span: SpanId, relation: &'static str) -> Self {
        self.links.push(Link { trace, span, relation });
        self
    }

    /// What an attribute says, if it is there.
    pub fn attribute(&self, name: &str) -> Option<&Worth> {
        self.attributes.iter().find(|(it, _)| *it == name).map(|(_, worth)| worth)
    }

    /// The word that an attribute says.
    pub fn said(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            Worth::Word(word) => Some(word),
            Worth::Count(_) | Worth::Flag(_) => None,
        }
    }
}
