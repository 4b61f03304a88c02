//! What a worker changed, under either of its names.

use crate::work::payload::Resource;
use crate::work::places::Placed;
use crate::work::rules::CHANGES_NAMED_TWICE;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Cursor, Form, Kind, List, Report, Schemas, Shape, Text, shape};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::ops::Deref;

shape! {
    /// One thing that a worker changed.
    pub struct Change {
        /// What.
        pub resource: Resource = "src/money/round.rs",
        /// How: `create`, `edit`, `delete`, or another word.
        pub action: Text = "edit",
        /// What shows it.
        pub evidence: Option<String> = "rounding goes through one function",
    }
}

impl Placed for Change {
    fn place(&self) -> &str {
        self.resource.place()
    }
}

/// The list of changes. In Markdown it may be called `files_touched`, and an entry of that may be a path alone, which
/// means that the file was touched and nothing more is said.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    key: &'static str,
    changes: Vec<Change>,
}

impl Changes {
    const KEY: &'static str = "changes";
    const MARKDOWN_KEY: &'static str = "files_touched";
    /// The action of an entry that is a path alone.
    const ACTION_UNSAID: &'static str = "touch";

    /// Where the list stands.
    pub fn pointer_of_list(&self) -> Pointer {
        Pointer::root().key(self.key)
    }

    /// Where change number `index` stands.
    pub fn pointer(&self, index: usize) -> Pointer {
        self.pointer_of_list().item(index)
    }
}

impl Deref for Changes {
    type Target = [Change];

    fn deref(&self) -> &[Change] {
        &self.changes
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.changes.serialize(out)
    }
}

impl Shape for Changes {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        let touched =
            at.document().form() == Form::Markdown && at.pointer().last().is_some_and(|key| key == Self::MARKDOWN_KEY);
        if !touched {
            let changes = List::<Change>::read(at, report)?;
            return Some(Self { key: Self::KEY, changes: changes.to_vec() });
        }
        if let Some(other) = at.document().root().get(Self::KEY) {
            let message = "the changes are listed twice, as `files_touched` and as `changes`";
            let help = "put them all into one list; both names mean the same";
            let found = report.find(&CHANGES_NAMED_TWICE, at, message, help);
            found.label(other.pointer(), "the other list");
            return None;
        }
        let changes = List::<Touched>::read(at, report)?;
        let changes = changes.iter().map(|it| it.0.clone()).collect();
        Some(Self { key: Self::MARKDOWN_KEY, changes })
    }

    fn answers_to(owner: Cursor<'_>, name: &[u8]) -> bool {
        name == Self::MARKDOWN_KEY.as_bytes() && owner.document().form() == Form::Markdown
    }

    fn schema(schemas: &mut Schemas) -> Value {
        List::<Change>::schema(schemas)
    }

    fn example() -> Value {
        vec![Change::example()].into()
    }
}

/// An entry of `files_touched`: a change, or a path.
#[derive(Debug, Clone, PartialEq)]
struct Touched(Change);

impl Serialize for Touched {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for Touched {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() != Kind::Text {
            return Change::read(at, report).map(Self);
        }
        let resource = Resource::read(at, report)?;
        Some(Self(Change { resource, action: Text::parse(Changes::ACTION_UNSAID)?, evidence: None }))
    }

    fn schema(schemas: &mut Schemas) -> Value {
        serde_json::json!({ "anyOf": [Change::schema(schemas), Resource::schema(schemas)] })
    }

    fn example() -> Value {
        Change::example()
    }
}
