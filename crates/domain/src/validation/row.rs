//! Promises as they stand, with what was said at their gates.

use super::evidence::EvidenceKind;
pub use super::ground::Ground;
use super::verdict::CriterionStatus;
use crate::deciding::{Found, Key};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The validator that is built in: it runs the checks of a plan.
pub const BUILTIN: &str = "builtin";
/// A validator or judge that is whoever answers for the project.
pub const PERSON: &str = "person";
/// A judge that is asked over HTTP, under whatever name it answers.
pub const ENDPOINT: &str = "endpoint";
/// No judge.
pub const NONE: &str = "none";

/// A promise as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromiseRow {
    /// Its name among entities: its id, or `run/task`.
    pub promise: String,
    /// Its id.
    pub id: String,
    /// The run and the task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_task: Option<(String, String)>,
    /// One line.
    pub title: String,
    /// `pending`, `in_progress`, `verified` or `cancelled`.
    pub status: String,
    /// What must hold.
    pub criteria: Vec<CriterionRow>,
    /// The event that made it, which has the texts.
    pub made: u64,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned_by: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned_since: Option<String>,
    /// Everybody whose it was: none of them validates it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Who must validate. Nobody named means anybody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validators: Vec<String>,
    /// Those of them whom no run starts, and who therefore speak for themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<String>,
    /// Who judges: `none`, `person`, or a name.
    pub judge: String,
    /// Whether it passes when the judge cannot be reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judge_optional: bool,
    /// How often its work was begun.
    #[serde(default)]
    pub round: u32,
    /// The event that claims that all is done: the result of a task, or the last criterion that was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<u64>,
    /// The commit that was checked out when the claim was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What was validated: a commit, or the hash of contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The working tree that was there then, if it belongs to no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
    /// What validators found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, VerdictRow>,
    /// What the judge said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementRow>,
    /// Which failures a person accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<AcceptanceRow>,
    /// What became of the last attempt that did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRow>,
}

/// A criterion of a promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionRow {
    /// `AC-n`.
    pub id: String,
    /// The kind of evidence that it asks for.
    #[serde(serialize_with = "write_kind", deserialize_with = "read_kind")]
    pub asks: EvidenceKind,
    /// The checks that were set down for it before the work, by their hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The text of the event that made the promise in which a person is asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<usize>,
    /// Who met it, as they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<MetRow>,
}

/// A criterion that is met, as its owner says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetRow {
    /// The event, which has the evidence.
    pub seq: u64,
    /// Who said so.
    pub by: String,
    /// When.
    pub at: String,
    /// What kind of evidence that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// What a validator found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// The event.
    pub seq: u64,
    /// What was found, by criterion.
    #[serde(serialize_with = "write_results", deserialize_with = "read_results")]
    pub results: BTreeMap<String, CriterionStatus>,
    /// Why something counts for less than what was said, by criterion.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub why: BTreeMap<String, String>,
}

/// What a judge said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgementRow {
    /// The event.
    pub seq: u64,
    /// `PASS`, `WARN`, `FAIL`, or `UNREACHED` if nobody answered.
    pub verdict: String,
    /// Who.
    pub by: String,
}

/// Failures that a person accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcceptanceRow {
    /// The event.
    pub seq: u64,
    /// Who.
    pub by: String,
    /// The criteria that do not hold.
    pub failures: Vec<String>,
}

/// An attempt that did not pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastRow {
    /// Which attempt.
    pub round: u32,
    /// Why.
    pub reason: String,
    /// The events that say what was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<u64>,
    /// The event in which the judge rejected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<u64>,
    /// What it had claimed by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<u64>,
    /// The commit that was checked out when it claimed that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl PromiseRow {
    /// Its name among entities.
    pub fn key(&self) -> Key {
        promise_key(&self.promise)
    }

    /// Whether nothing changes any more.
    pub fn is_final(&self) -> bool {
        matches!(self.status.as_str(), "verified" | "cancelled")
    }

    /// Begins anew: what was claimed and found so far was about something else.
    pub(super) fn begin_anew(&mut self) {
        self.claim = None;
        self.commit = None;
        self.bound = None;
        self.ground = None;
        self.verdicts.clear();
        self.judgement = None;
        self.acceptance = None;
    }
}

/// A promise's name among entities.
pub fn promise_key(promise: &str) -> Key {
    Key::new("promise", promise)
}

/// The promise in what was found.
pub fn promise_of(found: Option<&Found>) -> Option<PromiseRow> {
    PromiseRow::deserialize(found?.facts.value()).ok()
}

fn write_kind<S: Serializer>(kind: &EvidenceKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kind.as_str())
}

fn read_kind<'de, D: Deserializer<'de>>(from: D) -> Result<EvidenceKind, D::Error> {
    let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
    EvidenceKind::parse(&word).ok_or_else(|| serde::de::Error::custom("no kind of evidence"))
}

fn write_results<S: Serializer>(results: &BTreeMap<String, CriterionStatus>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(results.iter().map(|(id, status)| (id, status.as_str())))
}

fn read_results<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, CriterionStatus>, D::Error> {
    let words = <BTreeMap<String, String>>::deserialize(from)?;
    let read = |(id, word): (String, String)| CriterionStatus::parse(&word).map(|status| (id, status));
    words.into_iter().map(read).collect::<Option<_>>().ok_or_else(|| serde::de::Error::custom("no status"))
}
