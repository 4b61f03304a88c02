//! What settings files were before hooks were put into them, so that taking them out gives back the same bytes.

use crate::project::FOLDER;
use anyhow::Context;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

/// The files as they were, by name: as they are called in the project, or whole in another worktree.
pub struct Memory {
    root: PathBuf,
    path: PathBuf,
    files: BTreeMap<String, Option<String>>,
}

impl Memory {
    /// What is remembered in a project.
    pub fn of(root: &Path) -> anyhow::Result<Self> {
        let path = root.join(FOLDER).join("installed.json");
        let files = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} is not right", path.display()))?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { root: root.to_owned(), path, files })
    }

    /// What a file was. The outer none is that nobody knows, the inner that there was none.
    pub fn before(&self, file: &Path) -> Option<&Option<String>> {
        self.files.get(&self.name(file))
    }

    /// Remembers what a file was, unless that is known.
    pub fn keep(&mut self, file: &Path, before: Option<String>) -> anyhow::Result<()> {
        if let Entry::Vacant(place) = self.files.entry(self.name(file)) {
            place.insert(before);
            self.write()?;
        }
        Ok(())
    }

    /// Forgets a file.
    pub fn forget(&mut self, file: &Path) -> anyhow::Result<()> {
        if self.files.remove(&self.name(file)).is_some() {
            self.write()?;
        }
        Ok(())
    }

    fn name(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).display().to_string()
    }

    fn write(&self) -> anyhow::Result<()> {
        if self.files.is_empty() {
            let _ = std::fs::remove_file(&self.path);
            return Ok(());
        }
        crate::files::write(&self.path, &serde_json::to_string_pretty(&self.files)?)
    }
}
