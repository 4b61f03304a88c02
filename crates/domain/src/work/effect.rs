//! Effects: what is done in the world for a task, so that it is known after a crash what may have happened.
//!
//! ```text
//! ──▶ started ──▶ finished          started, and whoever did it is gone: unknown, and dealt with by its recovery
//! ```

use super::row::read;
use crate::deciding::{Found, Key, Place, Range};
use countersign_contract::choice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

choice! {
    /// What is done.
    pub enum EffectKind {
        /// An agent works.
        Agent = "agent",
        /// Somebody looks at what was claimed.
        Validator = "validator",
        /// Somebody judges what was validated.
        Judge = "judge",
        /// Work is brought into the tree.
        Landing = "landing",
        /// Somebody is told.
        Notice = "notice",
    }
}

choice! {
    /// What is to be done when nobody knows how it ended.
    pub enum Recovery {
        /// It can be done again: nothing of it counts until it is brought.
        Repeat = "repeat",
        /// It left a mark if it happened; look for that, then act.
        Probe = "probe",
        /// A person decides; it is never done again by itself.
        Ask = "ask",
    }
}

impl EffectKind {
    /// How one is recovered whose end nobody knows.
    pub fn recovery(self) -> Recovery {
        match self {
            Self::Agent | Self::Validator | Self::Judge => Recovery::Repeat,
            Self::Landing => Recovery::Probe,
            Self::Notice => Recovery::Ask,
        }
    }
}

/// An effect as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectRow {
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
    /// The lease under which it is done.
    pub lease: u64,
    /// What is done.
    pub kind: String,
    /// Who does it, where several can at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What is to be done when nobody knows how it ended.
    pub recovery: String,
    /// `started` or `finished`.
    pub state: String,
    /// The event that began it.
    pub since: u64,
    /// How the process is known again.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub mark: Value,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

const EFFECT_OPEN: &str = "effect_open";

/// An effect's name among entities.
pub fn effect_key(run: &str, task: &str, lease: u64, kind: &str, who: Option<&str>) -> Key {
    let name = format!("{run}/{task}/{lease}/{kind}");
    Key::new("effect", who.map_or(name.clone(), |who| format!("{name}/{who}")))
}

/// The effect in what was found.
pub fn effect_of(found: Option<&Found>) -> Option<EffectRow> {
    read(&found?.facts)
}

/// Where an effect is found: while nobody has said how it ended.
pub(super) fn places(facts: &Value) -> Vec<Place> {
    let Some(row) = read::<EffectRow>(facts).filter(|row| row.state == "started") else { return Vec::new() };
    let at = [row.run.as_bytes(), &[0], &row.since.to_be_bytes()].concat();
    vec![Place { index: EFFECT_OPEN, at }]
}

/// The effects of a run of which nobody has said how they ended.
pub fn open(run: &str, limit: usize) -> Range {
    Range::prefix(EFFECT_OPEN, &[run.as_bytes(), &[0]].concat(), limit)
}
