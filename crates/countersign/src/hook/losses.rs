//! What somebody held when they were last seen, and of which loss they were told, beside the ledger: it is no fact about the
//! work. The ledger takes back what has lapsed whoever asks next, and then no longer shows it as theirs.

use super::Desk;
use super::place::Held;
use crate::project::{FOLDER, Project};
use crate::session;
use countersign_ledger::Hash;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How many losses are remembered as told.
const TOLD_MAX: usize = 100;

/// A lease that somebody has, or had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) run: String,
    pub(super) task: String,
    lease: u64,
    expires: String,
}

impl Lease {
    fn of(held: &Held) -> Self {
        let Held { run, task, lease, expires, .. } = held;
        Self { run: run.clone(), task: task.clone(), lease: *lease, expires: expires.to_string() }
    }

    fn is_over(&self) -> bool {
        self.expires.parse::<jiff::Timestamp>().is_ok_and(|expires| expires <= jiff::Timestamp::now())
    }

    /// The same in words.
    pub(super) fn in_words(&self) -> String {
        format!("{} of run {} (lease {} lapsed at {})", self.task, self.run, self.lease, self.expires)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Noted {
    held: Vec<Lease>,
    told: Vec<u64>,
}

/// Where that is noted of somebody.
pub(super) struct Losses(PathBuf);

impl Losses {
    /// What is noted of an actor in a project.
    pub(super) fn of(project: &Project, actor: &str) -> Option<Self> {
        let name = Hash::of(actor.as_bytes()).hex();
        Some(Self(project.root.as_ref()?.join(FOLDER).join("held").join(format!("{}.json", &name[..16]))))
    }

    /// Notes what somebody holds. What they gave up before its time is no loss, and forgotten; what lapsed stays until it
    /// is told.
    pub(super) fn note(&self, held: &[Held]) {
        let before = self.read();
        let lapsed = before.held.iter().filter(|it| it.is_over() && !held.iter().any(|held| held.lease == it.lease));
        let now =
            Noted { held: held.iter().map(Lease::of).chain(lapsed.cloned()).collect(), told: before.told.clone() };
        if now != before {
            // What cannot be noted is found only while the ledger still shows it.
            let _ = self.write(&now);
        }
    }

    /// What somebody lost and was not told of; from here on they were. What cannot be noted is not told: it would be told
    /// for ever.
    pub(super) fn untold(&self, desk: &Desk<'_>) -> anyhow::Result<Vec<Lease>> {
        let (live, lapsed): (Vec<Held>, Vec<Held>) = desk.holds()?.into_iter().partition(Held::is_alive);
        let before = self.read();
        let is_shown = |it: &Lease| live.iter().chain(&lapsed).any(|held| held.lease == it.lease);
        let noted = before.held.iter().filter(|it| it.is_over() && !is_shown(it));
        let gone = noted.filter(|it| desk.was_silent(&it.run, &it.task, it.lease)).cloned();
        // What was brought in time, and waits at its gates, is not lost.
        let shown = lapsed.iter().filter(|held| !desk.task(held)["result"].is_u64()).map(Lease::of);
        let lost: Vec<Lease> = shown.chain(gone).filter(|it| !before.told.contains(&it.lease)).collect();
        let mut told = before.told.clone();
        told.extend(lost.iter().map(|it| it.lease));
        told.drain(..told.len().saturating_sub(TOLD_MAX));
        let now = Noted { held: live.iter().map(Lease::of).collect(), told };
        Ok(if now == before || self.write(&now).is_ok() { lost } else { Vec::new() })
    }

    fn read(&self) -> Noted {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, noted: &Noted) -> anyhow::Result<()> {
        if let Some(folder) = self.0.parent() {
            crate::home::private_folder(folder)?;
            session::sweep(folder);
        }
        crate::files::write(&self.0, &serde_json::to_string(noted)?)
    }
}
