//! Clean checkouts of what was claimed: whatever runs in one, nobody else meets what it left behind.

use super::Run;
use super::attempt::Attempt;
use super::work::Claimed;
use crate::evidence;
use crate::git;
use crate::worktree::{After, Lent};
use countersign_domain::plan::payload::Agent;
use countersign_domain::work::places::Placed;
use std::path::{Path, PathBuf};

/// The checkouts of a claim.
pub(super) struct Checkouts<'r, 'a> {
    run: &'r Run<'a>,
    attempt: &'r Attempt<'r>,
    claimed: &'r Claimed,
    /// Files that count as they were before the work.
    pub(super) pins: Vec<String>,
    lent: Option<Lent>,
    used: bool,
}

impl<'r, 'a> Checkouts<'r, 'a> {
    pub(super) fn new(run: &'r Run<'a>, attempt: &'r Attempt<'r>, claimed: &'r Claimed) -> Self {
        let pins = attempt.planned.acceptance.iter().flat_map(|it| it.pin.iter().flat_map(|pins| pins.iter()));
        let pins = pins.map(|path| path.place().to_owned()).collect();
        Self { run, attempt, claimed, pins, lent: None, used: false }
    }

    /// A folder in which nothing has run yet, with the pinned files in place. Where there is no repository, the project's own.
    pub(super) fn fresh(&mut self) -> Result<PathBuf, String> {
        let (Some(stock), Some(base)) = (self.run.ground.stock(), &self.claimed.base) else {
            return Ok(self.run.ground.root().to_owned());
        };
        if self.used {
            self.end();
        }
        if let Some(lent) = &self.lent {
            return Ok(lent.tree.folder.clone());
        }
        let name = self.run.ground.name_of_its_own(self.attempt.task(), self.attempt.lease);
        let lent = stock.for_checks(&name, &self.claimed.bound)?;
        let folder = lent.tree.folder.clone();
        self.lent = Some(lent);
        evidence::pin(&folder, base, &self.pins).map_err(|fault| fault.to_string())?;
        Ok(folder)
    }

    /// Something runs in the checkout: it is not fresh any more.
    pub(super) fn use_up(&mut self) {
        self.used = true;
    }

    /// The pinned files that the work had changed.
    pub(super) fn edited(&self) -> Vec<String> {
        let is_pinned =
            |path: &&String| self.pins.iter().any(|pin| countersign_domain::work::scope::contains(pin, path));
        self.claimed.changed.iter().filter(is_pinned).cloned().collect()
    }

    /// A fresh folder for an agent that only looks, with the files of its own command as they were before the work: nobody
    /// writes their own validator.
    pub(super) fn for_agent(&mut self, agent: Option<&Agent>) -> Result<PathBuf, String> {
        let folder = self.fresh()?;
        self.use_up();
        let Some(base) = &self.claimed.base else { return Ok(folder) };
        let words = agent.iter().flat_map(|agent| agent.command.iter().flat_map(|words| words.iter()));
        let own: Vec<String> = words
            .map(|word| word.as_str())
            .filter(|word| is_file_of(self.run.ground.root(), base, word))
            .map(str::to_owned)
            .collect();
        evidence::pin(&folder, base, &own).map_err(|fault| fault.to_string())?;
        Ok(folder)
    }

    fn end(&mut self) {
        // What was pinned was written.
        let is_touched = std::mem::take(&mut self.used) || !self.pins.is_empty();
        if let Some(lent) = self.lent.take() {
            self.run.ground.back(lent, if is_touched { After::Unknown } else { After::Untouched });
        }
    }
}

impl Drop for Checkouts<'_, '_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a word of a command can be the name of a file of the project.
pub(super) fn is_plain(word: &str) -> bool {
    let is_normal = countersign_domain::work::scope::normal(word).is_ok_and(|normal| normal == word);
    is_normal && !word.starts_with('-') && word != "."
}

/// Whether a word of a command is a file of a commit.
fn is_file_of(root: &Path, commit: &str, word: &str) -> bool {
    is_plain(word) && git::ask_one(root, &["rev-parse", "--verify", "--quiet", &format!("{commit}:./{word}")]).is_some()
}
