//! The files that belong to the workspace.

use crate::house::output;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Files by their path from the root, with `/` between the parts.
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// The files that git tracks or would track, so that a new file is held to the rules before it is committed.
    pub fn of_workspace(root: &Path) -> Result<Tree, String> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let names =
            output(&mut git).map_err(|error| format!("{error}; run this in a clone, where git knows the files"))?;
        let mut tree = Tree::default();
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            // A file that was removed and not yet committed is still listed.
            if let Ok(bytes) = std::fs::read(root.join(name.as_ref())) {
                tree.files.insert(name.into_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(tree)
    }

    /// A tree that exists in memory only.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Tree { files: files.collect() }
    }

    /// Every file, in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every file whose name ends so.
    pub(crate) fn ending<'t>(&'t self, ending: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.files().filter(move |(path, _)| path.ends_with(ending))
    }

    /// The text of a file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether a file or a folder is there.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty() || self.files.contains_key(path) || self.files.keys().any(|file| file.starts_with(&inside))
    }
}

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The folder of a path, empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a file holds tests, or measures, rather than being part of what is built.
pub(crate) fn is_test(path: &str) -> bool {
    name(path) == "tests.rs" || path.split('/').any(|part| part == "tests" || part == "benches")
}
