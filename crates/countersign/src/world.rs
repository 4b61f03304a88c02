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

/// Whether a file that a document asks to be written lies where documents may ask for it: below the project, the
/// document's own folder, the current or the temporary directory, with links followed.
pub fn beneath(path: &Path, document: &Path, project: &Project) -> anyhow::Result<()> {
    let folder = document.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let bases =
        [project.root.clone(), Some(folder.to_owned()), std::env::current_dir().ok(), Some(std::env::temp_dir())];
    let absolute = std::path::absolute(path)?;
    // The nearest part that is there decides where the rest will lie; what is not there yet cannot be a link.
    let there = absolute.ancestors().find(|it| it.exists()).unwrap_or(Path::new("/"));
    let real = there.canonicalize()?;
    let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
    let climbs = rest.components().any(|part| part == std::path::Component::ParentDir);
    let inside = |base: PathBuf| base.canonicalize().is_ok_and(|base| real.starts_with(base));
    if climbs || !bases.into_iter().flatten().any(inside) {
        anyhow::bail!("{} lies outside the project and the temporary directory", path.display());
    }
    Ok(())
}
