//! What can be asked of a project.

use super::event::{PROJECT_INITIALISED, RECORD_KEPT, TEXT_ERASED};
use super::state::{project_key, record_key};
use crate::deciding::{Command, Context, Happening, Key, Refusal, Seen};
use countersign_contract::Untrusted;
use countersign_contract::diagnostic::Code;
use serde_json::json;

/// Begin a project's ledger.
#[derive(Debug, Clone)]
pub struct Init {
    /// What people call it.
    pub name: String,
}

impl Command for Init {
    const NAME: &'static str = "project.init";

    fn needs(&self, _: &Seen) -> Vec<Key> {
        vec![project_key()]
    }

    fn decide(&self, seen: &Seen, context: &Context) -> Result<Vec<Happening>, Refusal> {
        if seen.entity(&project_key()).is_some() {
            return Ok(Vec::new());
        }
        let facts = json!({ "name": self.name, "project": context.project });
        Ok(vec![Happening::new(PROJECT_INITIALISED, facts)])
    }
}

/// Keep a payload that was checked and allowed, as evidence.
#[derive(Debug, Clone)]
pub struct Keep {
    /// The name of the file it came from.
    pub file: String,
    /// The contract that it was checked against.
    pub contract: String,
    /// The version of that.
    pub version: Option<String>,
    /// How it is written: json, yaml, …
    pub form: &'static str,
    /// How many findings there were that are no errors.
    pub warnings: usize,
    /// The payload as it was given.
    pub body: Untrusted<String>,
}

impl Command for Keep {
    const NAME: &'static str = "record.keep";

    fn needs(&self, _: &Seen) -> Vec<Key> {
        vec![project_key()]
    }

    fn decide(&self, seen: &Seen, context: &Context) -> Result<Vec<Happening>, Refusal> {
        if seen.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        let mut facts = json!({
            "contract": self.contract,
            "file": self.file,
            "form": self.form,
            "record": context.new_id,
            "size": self.body.inspect(str::len),
            "warnings": self.warnings,
        });
        if let Some(version) = &self.version {
            facts["version"] = json!(version);
        }
        let mut kept = Happening::new(RECORD_KEPT, facts);
        kept.taint = "untrusted";
        kept.texts = vec![self.body.clone(), Untrusted::new(self.body.hash())];
        Ok(vec![kept])
    }
}

/// Empty the texts of an event.
#[derive(Debug, Clone)]
pub struct Erase {
    /// The event.
    pub seq: u64,
    /// What it was.
    pub kind: String,
    /// The record that it kept, if it did.
    pub record: Option<String>,
    /// Which of its texts are still there.
    pub texts: Vec<u32>,
    /// Why.
    pub reason: Untrusted<String>,
}

impl Command for Erase {
    const NAME: &'static str = "text.erase";

    fn needs(&self, _: &Seen) -> Vec<Key> {
        [project_key()].into_iter().chain(self.record.as_deref().map(record_key)).collect()
    }

    fn decide(&self, seen: &Seen, _: &Context) -> Result<Vec<Happening>, Refusal> {
        if seen.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        // Somebody else may have been first.
        let record = self.record.as_deref().and_then(|id| seen.entity(&record_key(id)));
        let gone = record.is_some_and(|record| record.facts["erased"] == true);
        if self.reason.is_blank() {
            let reason = "an erasure has no reason";
            return Err(Refusal::new(Code::MissingRequiredInput, reason, "say with --reason why the text must go"));
        }
        if self.texts.is_empty() || gone {
            let reason = format!("event {} has no text that could be erased", self.seq);
            return Err(Refusal::new(
                Code::InvalidTransition,
                reason,
                "`countersign show` tells which events have texts",
            ));
        }
        let mut facts = json!({ "event": self.seq, "of": self.kind });
        if let Some(record) = &self.record {
            facts["record"] = json!(record);
        }
        let mut erased = Happening::new(TEXT_ERASED, facts);
        erased.texts = vec![self.reason.clone()];
        erased.erase = self.texts.iter().map(|n| (self.seq, *n)).collect();
        Ok(vec![erased])
    }
}

fn not_begun() -> Refusal {
    Refusal::new(Code::DependencyNotMet, "the project has not been initialised", "run `countersign init`")
}
