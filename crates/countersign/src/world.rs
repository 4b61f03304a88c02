//! What a door sees of the world and hands in: the time, fresh ids, and which files are there.

use crate::project::Project;
use countersign_contract::{Checked, Checker, Outside};
use countersign_domain::deciding::Tree;
use countersign_engine::World;
use std::path::{Component, Path, PathBuf};

/// The world as of a time. Without one, as of now.
pub fn outside(at: Option<jiff::Timestamp>) -> Outside {
    Outside {
        now: Some(at.unwrap_or_else(jiff::Timestamp::now)),
        fresh_uuid: Some(uuid::Uuid::new_v4().to_string()),
        ..Outside::default()
    }
}

/// What commands and views can see from a project.
pub struct Around<'p> {
    /// The project.
    pub project: &'p Project,
}

impl World for Around<'_> {
    fn checker(&self) -> Checker<'_> {
        self.project.checker()
    }

    fn outside(&self) -> Outside {
        outside(None)
    }

    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
        look_for_files(checked, &outside(None), Path::new(name), self.project)
    }

    fn tree(&self, base: Option<&str>) -> Option<Tree> {
        countersign_runner::git::tree(&self.project.tree_root()?, base)
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
        // Where a document may not point, nobody looks: the answer would tell its author what there is.
        if let Some(place) = place(&path, document, project) {
            outside.files.insert(path, place.exists());
        }
    }
    Some(outside)
}

/// Where a path that a document names lies: below the project's root, or else below the document's own folder; as it is
/// written only if it leads there, or below the temporary directory, where handoffs lie by convention. None if it leads
/// anywhere else.
pub fn place(path: &str, document: &Path, project: &Project) -> Option<PathBuf> {
    let folder = document.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let bases = [project.root.as_deref(), Some(folder)];
    let mut places = Vec::new();
    for base in bases.into_iter().flatten().filter_map(|base| base.canonicalize().ok()) {
        places.extend(beneath(&base, &base.join(path)));
    }
    if Path::new(path).is_absolute() {
        places.extend(beneath(&base_of(&std::env::temp_dir()), Path::new(path)));
    }
    let there = places.iter().position(|place| place.exists()).unwrap_or(0);
    (!places.is_empty()).then(|| places.swap_remove(there))
}

/// The path with its steps upwards done, if it stays below `base` with links followed. Nothing beyond `base` is touched
/// to find that out, unless a link inside leads there.
fn beneath(base: &Path, path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !plain.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let written = std::env::temp_dir();
    // The temporary directory may itself be named by a link.
    let plain = plain.strip_prefix(&written).map(|rest| base_of(&written).join(rest)).unwrap_or(plain);
    let below = plain.strip_prefix(base).ok()?;
    // The nearest part that is there decides where the rest will lie; what is not there yet cannot be a link.
    let there = below.ancestors().map(|part| base.join(part)).find(|part| part.symlink_metadata().is_ok())?;
    there.canonicalize().ok().filter(|real| real.starts_with(base)).map(|_| plain)
}

fn base_of(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}
