//! What a run has to reach: a text for the whole run, or a criterion of one task.

use crate::ids::TaskId;
use countersign_contract::{Cursor, Kind, Report, Schemas, Shape, Text, Untrusted, shape};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// When a run, or one task of it, counts as done.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A condition on the whole run, written as a text.
    Run(Untrusted<Text>),
    /// A condition on one task, written as an object.
    Task(TaskTarget),
}

shape! {
    /// A condition on one task.
    pub struct TaskTarget {
        /// The task.
        pub task_id: TaskId,
        /// The condition.
        pub criterion: Untrusted<Text> = "Totals that end in a half round to the even cent",
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Target::Run(text) => text.serialize(out),
            Target::Task(target) => target.serialize(out),
        }
    }
}

impl Shape for Target {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        match at.kind() {
            Kind::Text => Untrusted::read(at, report).map(Target::Run),
            Kind::Object => TaskTarget::read(at, report).map(Target::Task),
            _ => {
                report.wrong_kind(at, "a text or an object");
                None
            }
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [Untrusted::<Text>::schema(schemas), TaskTarget::schema(schemas)] })
    }

    fn example() -> Value {
        TaskTarget::example()
    }
}
