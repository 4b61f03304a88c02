//! Tasks that are no work of an agent but an action on a platform.

use super::PlannedTask;
use crate::delegation::command::ExecutorKind;
use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::Claim;
use countersign_contract::{Cursor, Kind, Name, Report, Schemas, Shape, Text, choice};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::ops::Deref;

choice! {
    /// What a task is.
    pub enum PlannedKind {
        /// An agent works on it, and what it claims goes through gates.
        Agent = "agent",
        /// An action on a platform, carried out once by whoever carries the run out.
        Delegate = "delegate",
    }
}

choice! {
    /// Whether a person must approve an action before it is carried out.
    pub enum Approval {
        /// Always.
        Person = "person",
        /// Where the table of policy says so.
        Policy = "policy",
    }
}

/// A member that only tasks of one kind have. Whether it had to be there is for the rules to say.
#[derive(Debug, Clone, PartialEq)]
pub struct OfKind<T>(Option<T>);

impl<T> OfKind<T> {
    /// Whether it is there.
    pub fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// What was given.
    pub(crate) fn given(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl OfKind<Name> {
    /// The name; empty, if none was given.
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or("", Name::as_str)
    }
}

/// A list that was not given has nothing in it.
impl<T: Deref<Target = [I]>, I> Deref for OfKind<T> {
    type Target = [I];

    fn deref(&self) -> &[I] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T: Serialize> Serialize for OfKind<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<T: Shape> Shape for OfKind<T> {
    const REQUIRED: bool = false;

    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        T::read(at, report).map(|given| Self(Some(given)))
    }

    fn absent(_: Cursor<'_>, _: &str, _: &mut Report) -> Option<Self> {
        Some(Self(None))
    }

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }

    fn schema(schemas: &mut Schemas) -> Value {
        T::schema(schemas)
    }

    fn example() -> Value {
        T::example()
    }
}

/// An instruction in a plan: as it is, or the file that has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Instructed {
    /// A file beneath the project. Whoever starts a run puts its contents into the plan, so that nobody can change them later.
    File(Text<1, 1000>),
    /// The instruction itself.
    Written(Box<Written>),
}

/// An instruction that stands in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// As it was read.
    pub record: DelegationInstruction,
    /// Word for word.
    pub value: Value,
}

impl Serialize for Instructed {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(path) => path.serialize(out),
            Self::Written(written) => written.value.serialize(out),
        }
    }
}

impl Shape for Instructed {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        match at.kind() {
            Kind::Text => Text::read(at, report).map(Self::File),
            Kind::Object => {
                let record = DelegationInstruction::read(at, report)?;
                Some(Self::Written(Box::new(Written { record, value: at.to_value() })))
            }
            _ => {
                report.wrong_kind(at, "an instruction or the path of one");
                None
            }
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        json!({ "anyOf": [Text::<1, 1000>::schema(schemas), DelegationInstruction::schema(schemas)] })
    }

    fn example() -> Value {
        "instructions/tag.yaml".into()
    }
}

impl PlannedTask {
    /// Whether it is an action on a platform.
    pub fn is_delegate(&self) -> bool {
        self.kind == Some(PlannedKind::Delegate)
    }

    /// The instruction, if it stands in the plan.
    pub fn instructed(&self) -> Option<&Written> {
        match &self.instruction {
            Some(Instructed::Written(written)) if self.is_delegate() => Some(written),
            _ => None,
        }
    }

    /// Who carries the action out: who was named, or git where it can, or else GitHub.
    pub fn executor(&self) -> Option<ExecutorKind> {
        let action = self.instructed()?.record.action.kind();
        let usual = if ExecutorKind::Git.can(action) { ExecutorKind::Git } else { ExecutorKind::Github };
        Some(self.executor.unwrap_or(usual))
    }

    /// Whether a person must approve the action first.
    pub fn asks_a_person(&self) -> bool {
        let Some(written) = self.instructed() else { return false };
        match self.approval.unwrap_or(Approval::Policy) {
            Approval::Person => true,
            Approval::Policy => Claim::of_instruction(&written.record).asks_a_person(),
        }
    }

    /// Who does it: an agent, or an executor.
    pub fn who(&self) -> &str {
        match self.executor().filter(|_| self.is_delegate()) {
            Some(executor) => executor.as_str(),
            None => self.agent.as_str(),
        }
    }
}
