//! Setting hooks up in a project, and taking them out again: what is to be written is planned whole, shown, and then done.
//!
//! **Invariant:** what was there stays, in its order; taking out what was put in gives back what was there before.

mod entries;
pub mod githook;
mod memory;
pub mod probe;
pub mod settings;

pub use entries::{Handlers, command_of};
pub use memory::Memory;

use crate::hook::Harness;
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: PathBuf,
    /// What is in it; none, if it is not there.
    pub before: Option<String>,
    /// What shall be in it; none, if it shall not be there.
    pub after: Option<String>,
    /// Whether it shall be a program.
    pub program: bool,
}

/// What is to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Files that are given another name, first of all.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// Files that are written or removed.
    pub edits: Vec<Edit>,
    /// Files that are given another name, last of all.
    pub moves_back: Vec<(PathBuf, PathBuf)>,
}

impl Plan {
    /// What is to be done for a client in a working tree of a project, or to undo it.
    pub fn of(harness: Harness, tree: &Path, program: &Path, remove: bool, memory: &Memory) -> anyhow::Result<Self> {
        match harness {
            Harness::Git => githook::plan(tree, program, remove),
            _ => settings::plan(harness, tree, program, remove, memory),
        }
    }

    /// Whether everything is so already.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.edits.is_empty() && self.moves_back.is_empty()
    }

    /// The files that are written, removed or renamed, each once.
    pub fn files(&self) -> BTreeSet<&Path> {
        let renamed = self.moves.iter().chain(&self.moves_back).flat_map(|(from, to)| [from, to]);
        self.edits.iter().map(|edit| &edit.path).chain(renamed).map(PathBuf::as_path).collect()
    }

    /// What will change, as a diff.
    pub fn shown(&self) -> String {
        let rename = |(from, to): &(PathBuf, PathBuf)| format!("rename {} to {}\n", from.display(), to.display());
        let mut shown: String = self.moves.iter().map(rename).collect();
        for edit in &self.edits {
            let name = edit.path.display().to_string();
            let header = |text: &Option<String>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
            let (before, after) = (edit.before.as_deref().unwrap_or(""), edit.after.as_deref().unwrap_or(""));
            let diff = similar::TextDiff::from_lines(before, after);
            let diff =
                diff.unified_diff().context_radius(2).header(&header(&edit.before), &header(&edit.after)).to_string();
            shown.push_str(&diff);
        }
        shown.extend(self.moves_back.iter().map(rename));
        shown
    }

    /// Does it. Each file is written whole or not at all.
    pub fn carry_out(&self) -> anyhow::Result<()> {
        for (from, to) in &self.moves {
            rename(from, to)?;
        }
        for edit in &self.edits {
            let context = || format!("{} cannot be written", edit.path.display());
            match &edit.after {
                None => std::fs::remove_file(&edit.path).with_context(context)?,
                Some(text) => {
                    if let Some(folder) = edit.path.parent() {
                        std::fs::create_dir_all(folder).with_context(context)?;
                    }
                    crate::files::write(&edit.path, text)?;
                    allow_others(&edit.path, edit).with_context(context)?;
                }
            }
            // A folder that was made for it goes with it.
            if let (None, false, Some(folder)) = (&edit.after, edit.program, edit.path.parent()) {
                let _ = std::fs::remove_dir(folder);
            }
        }
        for (from, to) in &self.moves_back {
            rename(from, to)?;
        }
        Ok(())
    }
}

fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::rename(from, to).with_context(|| format!("{} cannot be renamed to {}", from.display(), to.display()))
}

/// A new file is like any other in the project, not its owner's alone.
#[cfg(unix)]
fn allow_others(path: &Path, edit: &Edit) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if edit.before.is_some() && !edit.program {
        return Ok(());
    }
    let mode = if edit.program { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn allow_others(_: &Path, _: &Edit) -> std::io::Result<()> {
    Ok(())
}
