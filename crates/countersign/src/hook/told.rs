//! What somebody was told of already, beside the ledger: it is no fact about the work.

use crate::project::{FOLDER, Project};
use crate::session;
use countersign_ledger::Hash;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files that somebody was told of, each as it was then.
pub(super) struct Told {
    file: PathBuf,
    tree: PathBuf,
}

impl Told {
    /// What an actor was told in a project.
    pub(super) fn of(project: &Project, actor: &str) -> Option<Self> {
        let name = Hash::of(actor.as_bytes()).hex();
        let file = project.root.as_ref()?.join(FOLDER).join("told").join(format!("{}.json", &name[..16]));
        Some(Self { file, tree: project.tree_root()? })
    }

    /// Of the paths those that were not told before as they are now; from here on they are. What cannot be noted is told again.
    pub(super) fn untold<'p>(&self, paths: Vec<&'p str>) -> Vec<&'p str> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let before: BTreeMap<String, String> = serde_json::from_str(&text).unwrap_or_default();
        let now: BTreeMap<String, String> = paths.iter().map(|path| ((*path).to_owned(), self.state(path))).collect();
        if now != before {
            let _ = self.write(&now);
        }
        paths.into_iter().filter(|path| before.get(*path) != now.get(*path)).collect()
    }

    /// What a file is, without reading it: its length and when it was changed, or that it is gone.
    fn state(&self, path: &str) -> String {
        let Ok(found) = self.tree.join(path).symlink_metadata() else { return "gone".to_owned() };
        let changed = found.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{} {}", found.len(), changed.unwrap_or_default().as_nanos())
    }

    fn write(&self, now: &BTreeMap<String, String>) -> anyhow::Result<()> {
        if let Some(folder) = self.file.parent() {
            crate::home::private_folder(folder)?;
            session::sweep(folder);
        }
        crate::files::write(&self.file, &serde_json::to_string(now)?)
    }
}
