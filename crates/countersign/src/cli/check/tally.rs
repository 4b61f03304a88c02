//! What became of the documents, counted. The exit code follows from it, in every format.

use crate::cli::Exit;
use countersign_diagnostic::render::sarif;
use std::collections::BTreeMap;

/// What became of one document.
pub enum Outcome {
    Decided { code: Option<&'static str>, shown: String, sarif: Vec<serde_json::Value> },
    Unread { shown: String, why: String, file: String },
    NotOurs,
}

#[derive(Default)]
pub struct Tally {
    allowed: usize,
    refused: BTreeMap<&'static str, usize>,
    unread: usize,
    skipped: usize,
    links_left: usize,
    pub sarif: Vec<serde_json::Value>,
    /// What could not be done, as SARIF notes it.
    pub notifications: Vec<serde_json::Value>,
}

impl Tally {
    /// Nothing yet, beside so many links in directories that were left alone.
    pub fn beside(links_left: usize) -> Self {
        Self { links_left, ..Self::default() }
    }

    /// Whether there is more to say than of one document.
    pub fn has_skipped_links(&self) -> bool {
        self.links_left > 0
    }

    /// Counts a document, and gives back what is to be shown of it.
    pub fn take(&mut self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Decided { code, shown, sarif } => {
                match code {
                    None => self.allowed += 1,
                    Some(code) => *self.refused.entry(code).or_default() += 1,
                }
                self.sarif.extend(sarif);
                shown
            }
            Outcome::Unread { shown, why, file } => {
                self.note(&why, Some(&file));
                shown
            }
            Outcome::NotOurs => {
                self.skipped += 1;
                String::new()
            }
        }
    }

    /// Counts something that could not be read.
    pub fn note(&mut self, why: &str, file: Option<&str>) {
        self.unread += 1;
        self.notifications.push(sarif::notification(why, file));
    }

    pub fn exit(&self) -> Exit {
        match (self.unread > 0 || self.found_nothing(), self.refused.is_empty()) {
            (true, _) => Exit::Failed,
            (false, false) => Exit::Refused,
            (false, true) => Exit::Allowed,
        }
    }

    /// A check of nothing must not look like one that passed.
    pub fn found_nothing(&self) -> bool {
        self.allowed == 0 && self.refused.is_empty() && self.unread == 0
    }

    pub fn summary(&self) -> String {
        let refused: usize = self.refused.values().sum();
        let mut out = format!("{} allowed, {refused} refused", self.allowed);
        if refused > 0 {
            let codes: Vec<String> = self.refused.iter().map(|(code, count)| format!("{code} {count}")).collect();
            out.push_str(&format!(" ({})", codes.join(", ")));
        }
        if self.unread > 0 {
            out.push_str(&format!(", {} could not be read", self.unread));
        }
        if self.skipped > 0 {
            out.push_str(&format!(", {} skipped as no payload", self.skipped));
        }
        match self.links_left {
            0 => {}
            1 => out.push_str(", 1 link skipped that leads nowhere or out of the directory"),
            many => out.push_str(&format!(", {many} links skipped that lead nowhere or out of the directory")),
        }
        out
    }
}
