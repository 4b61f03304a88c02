//! Where a path that a document names may lead.

use std::path::{Component, Path, PathBuf};

/// Where a path that a document names lies: below the project's root, or else below the document's own folder; as it is
/// written only if it leads there, or below the temporary directory, where handoffs lie by convention. None if it leads
/// anywhere else.
pub fn place(path: &str, document: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let folder = document.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut places = Vec::new();
    for base in [root, Some(folder)].into_iter().flatten().filter_map(|base| base.canonicalize().ok()) {
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
