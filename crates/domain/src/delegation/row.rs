//! Instructions as they stand.

use crate::deciding::{Found, Key};
use serde::{Deserialize, Serialize};

/// An instruction as it stands: `received`, `started` or `answered`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DelegationRow {
    /// The instruction.
    pub instruction_id: String,
    /// The SHA-256 of its canonical form, by which it is known again.
    pub digest: String,
    /// What is to be done.
    pub action: String,
    /// Where.
    pub repository: String,
    /// Who is to do it: `dry-run`, `git` or `github`.
    pub executor: String,
    /// The id of its response.
    pub response_id: String,
    /// The id of its entry in the audit trail.
    pub audit_entry_id: String,
    /// What it is for: the same for every instruction that asks for the same for the same reason.
    pub end: String,
    /// What it and the instructions that correct it have in common. Not there for one that came before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concern: Option<String>,
    /// Whether it may be carried out.
    pub valid: bool,
    /// Whether authority was lacking.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks: bool,
    /// The run and the task that it belongs to, if it stands in a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_task: Option<(String, String)>,
    /// The event with which it came, which has its text.
    pub received: u64,
    /// When that was.
    pub received_at: String,
    /// Who is acting on it, or was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<StartedRow>,
    /// The event that has its entry in the audit trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audited: Option<u64>,
    /// How it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<AnsweredRow>,
    /// Whether what was answered with success was found when somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<SeenRow>,
    /// Whether what stood against it still did when somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barred: Option<SeenRow>,
}

/// What was seen of the platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenRow {
    /// The event, which has what was seen.
    pub seq: u64,
    /// When.
    pub at: String,
    /// Whether it is so.
    pub holds: bool,
}

/// An executor that acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedRow {
    /// The event: the number of the attempt.
    pub seq: u64,
    /// The place whose lock it holds.
    pub place: String,
    /// When it acts no more, in milliseconds since 1970.
    pub until: i64,
    /// When it began, and when the first that acted did. Not there for what began before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// What was there before anybody acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsweredRow {
    /// The event, which has the response.
    pub seq: u64,
    /// When.
    pub at: String,
    /// One of the four.
    pub status: String,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// Whether the requester may try again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_allowed: bool,
    /// After how many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Whether it may have been done all the same: `unknown`, or `part`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// How long it took from receiving to answering, in milliseconds.
    pub duration_ms: u64,
    /// How long there was no entry without anybody acting who then wrote it, in milliseconds.
    pub audit_lag_ms: u64,
}

#[cfg(test)]
impl AnsweredRow {
    /// An answer that came ten seconds after time began, and at once.
    pub(super) fn example(status: &str) -> Self {
        Self {
            seq: 3,
            at: "1970-01-01T00:00:10Z".to_owned(),
            status: status.to_owned(),
            error_type: None,
            retry_allowed: false,
            retry_after: None,
            doubt: None,
            duration_ms: 1,
            audit_lag_ms: 1,
        }
    }
}

/// What instructions are for, and how often it was tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EndRow {
    /// How many instructions were given for it.
    pub tries: u64,
    /// The last of them.
    pub last: String,
    /// How many failed, one after the other.
    #[serde(default)]
    pub failures: u64,
    /// How many were wrong, one after the other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u64,
    /// The last that lacked authority, until a person has decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// The last that lacked authority and that a person has given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<String>,
    /// Since when a rule of the platform stands against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_since: Option<String>,
    /// Whether the last of them belongs to a task of a plan, which waits for a person itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_task: bool,
    /// The event that answered the last of them, unless that was with success; of what has a concern in common, the one that
    /// answered what lacks authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<u64>,
    /// What a person decided about the last of them: `retry` or `abandon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An action that stands in a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRow {
    /// The instruction.
    pub instruction_id: String,
    /// The SHA-256 of its canonical form.
    pub digest: String,
    /// The same of each try, of which the instruction itself is the first.
    pub digests: Vec<String>,
    /// What is to be done.
    pub action: String,
    /// Where.
    pub repository: String,
    /// Who is to do it.
    pub executor: String,
    /// Whether a person must approve it.
    pub asks: bool,
    /// How often it is tried again before a person is asked.
    pub retries: u64,
    /// The agents of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// What is done where, as a hash: the same for every instruction that asks for the very same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<String>,
    /// What git does in the repository of the project, as a hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed_here: Option<String>,
    /// The event that has the instruction.
    pub planned: u64,
    /// When a person approved it, in milliseconds since 1970. What came of it must not have been brought before them since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<i64>,
    /// The last try of which it was for a person to decide what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated: Option<String>,
}

impl DelegationRow {
    /// Whether it was received for a task of a run.
    pub fn belongs_to(&self, run: &str, task: &str) -> bool {
        self.of_task.as_ref().is_some_and(|(of_run, of_task)| of_run == run && of_task == task)
    }

    /// What a person must know before it is tried again: `unknown` (nobody knows whether it was done), `part` (a part of it
    /// was), or `missing` (it was answered with success, and is not there as it was asked for).
    pub fn doubt(&self) -> Option<&str> {
        let missing = self.found.as_ref().is_some_and(|found| !found.holds);
        let answered = self.answered.as_ref().and_then(|answered| answered.doubt.as_deref());
        answered.or(missing.then_some("missing"))
    }

    /// When it came, in milliseconds since 1970.
    pub fn received_ms(&self) -> Option<i64> {
        self.received_at.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
    }

    /// In a word: `received`, `started` or `answered`.
    pub fn state(&self) -> &'static str {
        match (&self.answered, &self.started) {
            (Some(_), _) => "answered",
            (None, Some(_)) => "started",
            (None, None) => "received",
        }
    }
}

/// An instruction's name among entities.
pub fn delegation_key(instruction: &str) -> Key {
    Key::new("delegation", instruction)
}

/// The count of the ids that were given out on a day.
pub fn day_key(day: &str) -> Key {
    Key::new("delegation_day", day)
}

/// What instructions are for, among entities.
pub fn end_key(end: &str) -> Key {
    Key::new("delegation_end", end)
}

/// The action of a task, among entities.
pub fn planned_key(run: &str, task: &str) -> Key {
    Key::new("delegation_planned", format!("{run}/{task}"))
}

/// The action of a plan in what was found.
pub fn planned_of(found: Option<&Found>) -> Option<PlannedRow> {
    PlannedRow::deserialize(found?.facts.value()).ok()
}

/// How often it was tried, in what was found.
pub fn end_of(found: Option<&Found>) -> Option<EndRow> {
    EndRow::deserialize(found?.facts.value()).ok()
}

/// The instruction in what was found.
pub fn delegation_of(found: Option<&Found>) -> Option<DelegationRow> {
    DelegationRow::deserialize(found?.facts.value()).ok()
}
