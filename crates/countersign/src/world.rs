//! What a door sees of the world and hands in: the time, fresh ids, and which files are there.

use crate::project::Project;
use countersign_contract::{Checked, Outside};
use std::path::{Path, PathBuf};

/// The world as of a time. Without one, as of now.
pub fn outside(at: Option<jiff::Timestamp>) -> Outside {
    Outside {
        now: Some(at.unwrap_or_else(jiff::Timestamp::now)),
        fresh_uuid: Some(uuid::Uuid::new_v4().to_string()),
        ..Outside::default()
    }
}

/// Looks for the files that a document refers to. None when it refers to no file.
pub fn look_for_files(checked: &Checked, outside: &Outside, document: &Path, project: &Project) -> Option<Outside> {
    let contract = checked.contract?;
    let paths: Vec<String> = checked.records.iter().flat_map(|record| (contract.files)(record)).collect();
    if paths.is_empty() {
        return None;
    }
    let mut outside = outside.clone();
    for path in paths {
        let there = resolve(&path, document, project).exists();
        outside.files.insert(path, there);
    }
    Some(outside)
}

/// Where a path that a document names lies: below the project's root, or else below the document's own folder.
pub fn resolve(path: &str, document: &Path, project: &Project) -> PathBuf {
    let folder = document.parent().unwrap_or(Path::new(""));
    let in_project = project.root.as_ref().map(|root| root.join(path));
    match in_project {
        Some(found) if found.exists() => found,
        Some(found) if !folder.join(path).exists() => found,
        _ => folder.join(path),
    }
}
