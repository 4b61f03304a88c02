//! A trace as it stands: every handoff that shares its id, in the order in which they were sent.

use crate::deciding::{Found, Key};
use serde::{Deserialize, Serialize};

/// How many handoffs one trace may have.
pub const STEPS_MAX: usize = 200;

/// Every handoff of one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Its id.
    pub trace: String,
    /// The handoffs. The first one has the number 1.
    pub steps: Vec<StepRow>,
}

/// One handoff of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// Its number in the trace.
    pub step: u64,
    /// Who handed over.
    pub source: String,
    /// Who takes over.
    pub target: String,
    /// From the workflow that began to the source.
    pub chain: Vec<String>,
    /// The step that it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// When the document was made.
    pub made: String,
    /// From when on nobody may act on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// How many tokens it has.
    pub tokens: u64,
    /// The files with what was taken out of it.
    #[serde(default)]
    pub kept: Vec<String>,
    /// What those files hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<KeptRow>,
    /// The run that it belongs to, if one hands its work on by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The event.
    pub sent: u64,
    /// When it was sent.
    pub sent_at: String,
    /// By whom.
    pub sent_by: String,
    /// That it arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<ReceiptRow>,
    /// That who took it is done with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed: Option<ReceiptRow>,
    /// What went wrong with it, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorRow>,
}

/// That something went wrong with a handoff after it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// The event, which has what was said about it.
    pub seq: u64,
    /// What it is filed under.
    pub code: String,
    /// Who met with it.
    pub by: String,
}

/// What a file with what was taken out of a handoff held when that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRow {
    /// Its name in the handoff.
    pub path: String,
    /// Its SHA-256.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// That a handoff arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptRow {
    /// The event.
    pub seq: u64,
    /// When.
    pub at: String,
    /// Who took it.
    pub by: String,
}

impl TraceRow {
    /// What a run has sent in it; everything, if none is named. What others send in its trace is nothing to a run.
    #[must_use]
    pub fn of_run(mut self, run: Option<&str>) -> Self {
        if run.is_some() {
            self.steps.retain(|step| step.run.as_deref() == run);
        }
        self
    }

    /// A step by its number.
    pub fn step(&self, number: u64) -> Option<&StepRow> {
        self.steps.iter().find(|step| step.step == number)
    }
}

impl StepRow {
    /// Whether it was received, before an event if one is named.
    pub(super) fn has_arrived(&self, before: Option<u64>) -> bool {
        self.received.as_ref().is_some_and(|received| before.is_none_or(|before| received.seq < before))
    }

    /// The same in a few words.
    pub fn says(&self) -> String {
        let (source, target) = (countersign_contract::show(&self.source), countersign_contract::show(&self.target));
        format!("handoff {} from `{source}` to `{target}`", self.step)
    }
}

/// A trace by its id.
pub fn trace_key(trace: &str) -> Key {
    Key::new("trace", trace)
}

/// The trace that was found; none, if nothing was sent in it.
pub fn trace_of(found: Option<&Found>) -> Option<TraceRow> {
    TraceRow::deserialize(found?.facts.value()).ok()
}
