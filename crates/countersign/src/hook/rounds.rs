//! How often somebody was kept from ending, beside the ledger: it is no fact about the work.

use crate::project::{FOLDER, Project};
use countersign_ledger::Hash;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How often somebody is kept with the same tasks. Clients end a session by themselves after eight times; by then the
/// ledger shall know how it stands.
pub(super) const ROUNDS_MAX: u32 = 5;

/// The rounds of somebody.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    leases: Vec<u64>,
    rounds: u32,
}

/// Where the rounds of somebody are counted.
pub(super) struct Rounds(PathBuf);

impl Rounds {
    /// Those of an actor in a project.
    pub(super) fn of(project: &Project, actor: &str) -> Option<Self> {
        let name = Hash::of(actor.as_bytes()).hex();
        Some(Self(project.root.as_ref()?.join(FOLDER).join("rounds").join(format!("{}.json", &name[..16]))))
    }

    /// One more round with these leases: which one it is. Other leases than before are progress, and begin anew.
    pub(super) fn next(&self, leases: Vec<u64>) -> anyhow::Result<u32> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        let kept: Kept = serde_json::from_str(&text).unwrap_or_default();
        let rounds = if kept.leases == leases { kept.rounds.saturating_add(1) } else { 1 };
        if let Some(folder) = self.0.parent() {
            crate::home::private_folder(folder)?;
        }
        crate::files::write(&self.0, &serde_json::to_string(&Kept { leases, rounds })?)?;
        Ok(rounds)
    }

    /// Nobody is kept any more.
    pub(super) fn forget(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
