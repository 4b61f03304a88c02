//! Worktrees of git, and the one whose project all of them use: the main one. A bare repository has none; then it is the
//! directory that holds the repository, or the one worktree that has a ledger.

use crate::place;
use crate::project::{FOLDER, Project, above, is_root};
use anyhow::{Context, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A worktree that is not the main one of its repository.
struct Linked<'a> {
    /// Where it begins.
    top: &'a Path,
    /// What lies between there and where somebody stands.
    within: &'a Path,
    /// What all worktrees of the repository have in common.
    common: PathBuf,
}

/// Where the project is that is used in a worktree.
struct Seat {
    top: PathBuf,
    /// Whether it has the same files, at the same places.
    is_tree: bool,
}

/// The same place in the main worktree, seen from another one. What is there need not be there.
pub fn in_main_worktree(here: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(linked) = linked(here)? else { return Ok(None) };
    let same = |seat: Seat| if seat.is_tree { joined(&seat.top, linked.within) } else { seat.top };
    Ok(seat(&linked)?.map(same))
}

/// What lies in the main worktree, as it lies in the other one that somebody stands in.
pub fn in_worktree(here: &Path, real: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(linked) = linked(here)? else { return Ok(None) };
    let tops = match main(&linked.common)? {
        Some(main) => vec![main],
        // Any of them may be the one whose project it is, and those below the holder are no files of it.
        None => all(&linked.common)?.into_iter().chain(holder(&linked.common)?).collect(),
    };
    // Of those that lie in one another, the inner one has it.
    let inside = tops.iter().filter_map(|top| real.strip_prefix(top).ok()).min_by_key(|it| it.components().count());
    Ok(inside.map(|inside| joined(linked.top, inside)))
}

/// Where the worktree begins that somebody stands in, if it is not the main one of its repository.
pub fn top(here: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(linked(here)?.map(|linked| linked.top.to_owned()))
}

/// What lies in a worktree, as a project above the main one calls it: by where it would lie there. None, if it does not lie so.
///
/// Where there is no main one, it is called by where it lies, as everything else in the project is, and elsewhere by its
/// repository: several of them may lie in one folder, and a file of one is none of the other.
pub fn called_from_above(real: &Path, root: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(linked) = linked(real)? else { return Ok(None) };
    let Some(seat) = seat(&linked)?.filter(|seat| seat.top != root) else { return Ok(None) };
    if !seat.is_tree && linked.top.starts_with(root) {
        return Ok(None);
    }
    let base = if seat.is_tree { &seat.top } else { &linked.common };
    Ok(base.strip_prefix(root).ok().map(|below| joined(below, linked.within)))
}

/// A place below another. What is joined with nothing would end in a slash.
fn joined(top: &Path, within: &Path) -> PathBuf {
    if within.as_os_str().is_empty() { top.to_owned() } else { top.join(within) }
}

/// The worktree that somebody stands in, if it is not the main one. A submodule is a part of the one that it lies in.
fn linked(here: &Path) -> anyhow::Result<Option<Linked<'_>>> {
    for top in here.ancestors().filter(|it| it.join(".git").is_file()) {
        if let Some(common) = common_of(top)? {
            let within = here.strip_prefix(top).unwrap_or(Path::new(""));
            return Ok(Some(Linked { top, within, common }));
        }
    }
    Ok(None)
}

/// What a worktree has in common with the others: its `.git` is a file that names a directory inside of that. None, if it is no
/// such file.
fn common_of(top: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(text) = named_in(&top.join(".git"))? else { return Ok(None) };
    let Some(named) = text.strip_prefix("gitdir:") else { return Ok(None) };
    let directory = top.join(named.trim());
    let Some(common) = named_in(&directory.join("commondir"))? else { return Ok(None) };
    let common = directory.join(common);
    common.canonicalize().map(Some).with_context(|| format!("{} cannot be found", common.display()))
}

/// The main worktree of a repository. A bare one has none, and where git's directory lies elsewhere nothing names it.
fn main(common: &Path) -> anyhow::Result<Option<PathBuf>> {
    if let Some(named) = setting(common, "worktree")? {
        let named = common.join(named);
        return named.canonicalize().map(Some).with_context(|| format!("{} cannot be found", named.display()));
    }
    let is_bare = setting(common, "bare")?.is_some_and(|it| it != "false");
    let holder = common.parent().filter(|_| !is_bare && common.ends_with(".git"));
    Ok(holder.map(Path::to_owned))
}

fn seat(linked: &Linked<'_>) -> anyhow::Result<Option<Seat>> {
    if let Some(top) = main(&linked.common)? {
        return Ok(Some(Seat { top, is_tree: true }));
    }
    let beside = holder(&linked.common)?.unwrap_or_else(|| linked.common.clone());
    let beside = Seat { top: beside, is_tree: false };
    if has_ledger(beside.top.ancestors())? {
        return Ok(Some(beside));
    }
    let in_tree = |top: &Path| linked.within.ancestors().map(|it| joined(top, it)).collect::<Vec<_>>();
    if has_ledger(in_tree(linked.top))? {
        return Ok(None);
    }
    let mut others = Vec::new();
    for top in all(&linked.common)? {
        if has_ledger(in_tree(&top))? {
            others.push(top);
        }
    }
    if let [one, another, ..] = others.as_slice() {
        bail!(
            "several worktrees of {} have a project of their own, {} and {} among them; say which is meant with --project or \
             COUNTERSIGN_PROJECT",
            linked.common.display(),
            one.display(),
            another.display()
        );
    }
    let other = others.pop().map(|top| Seat { top, is_tree: true });
    // What nobody has a ledger for may have settings.
    let is_set = other.is_none() && above(&beside.top)?.is_some();
    Ok(other.or_else(|| is_set.then_some(beside)))
}

/// The folder that holds a repository without a main worktree, and stands for that one. None, if it holds more than one.
fn holder(common: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(holder) = common.parent() else { return Ok(None) };
    let context = || format!("what lies beside {} cannot be seen", common.display());
    for entry in std::fs::read_dir(holder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path != common && path.join("HEAD").is_file() && path.join("objects").is_dir() {
            return Ok(None);
        }
    }
    Ok(Some(holder.to_owned()))
}

/// The worktrees of a repository beside its main one.
fn all(common: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = common.join("worktrees");
    let context = || format!("the worktrees in {} cannot be seen", folder.display());
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(context)? {
        let own = entry.with_context(context)?.path();
        let Some(named) = named_in(&own.join("gitdir"))? else { continue };
        // One whose directory is gone is none.
        all.extend(own.join(named).parent().and_then(|top| top.canonicalize().ok()));
    }
    all.sort();
    Ok(all)
}

/// Whether one of some places is a project with a ledger. One that is named in settings counts as well as one that is there.
fn has_ledger(places: impl IntoIterator<Item = impl AsRef<Path>>) -> anyhow::Result<bool> {
    for root in places {
        let root = root.as_ref();
        if !is_root(root)? {
            continue;
        }
        let is_there = place::is_there(&root.join(FOLDER).join(place::FILE))? || place::pinned(root).is_some();
        if is_there || Project::find(Some(root), None)?.ledger.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What git's settings of a repository say under `core`; a name alone says `true`.
fn setting(common: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let mut found = None;
    // The second is that of the main worktree alone, and counts for more.
    for file in ["config", "config.worktree"] {
        let bytes = read(&common.join(file))?.unwrap_or_default();
        let mut in_core = false;
        for line in String::from_utf8_lossy(&bytes).lines().map(str::trim) {
            if line.starts_with('[') {
                in_core = line.eq_ignore_ascii_case("[core]");
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            if in_core && key.trim().eq_ignore_ascii_case(name) {
                found = Some(value.trim().trim_matches('"').to_owned());
            }
        }
    }
    Ok(found)
}

/// The path that stands in a file of git's; none, if the file is not there.
fn named_in(path: &Path) -> anyhow::Result<Option<String>> {
    let text = read(path)?.map(String::from_utf8).transpose();
    let text = text.with_context(|| format!("{} names a path that is not written in UTF-8", path.display()))?;
    Ok(text.map(|text| text.trim().to_owned()))
}

/// What stands in a file of git's; none, if it is not there.
fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error).with_context(|| {
            format!("which project is used in this worktree cannot be seen: {} cannot be read", path.display())
        }),
    }
}
