//! The hooks of git that are asked before a commit: what is to be committed is what the committer may change.

use super::place::{name_in, of_folder};
use super::{Answer, Asker, Desk, denial};
use crate::place;
use crate::project::Project;
use anyhow::{Context, bail};
use countersign_runner::git;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// How many refused paths are named.
const NAMED_MAX: usize = 10;
/// The file that nobody may ever commit, whether a run is open or not, so that it can be tried whether a hook blocks.
pub const PROBE: &str = ".countersign/probe";

/// Whether what is staged may be committed. Without an open run it may.
pub fn commit(asker: &Asker<'_>) -> anyhow::Result<Answer> {
    let here = std::env::current_dir()?;
    // For some commits git makes an index of its own, and names it to its hooks.
    let index = std::env::var_os("GIT_INDEX_FILE").map(|index| here.join(index));
    // Git runs its hooks at the top of the working tree, wherever in it projects lie.
    let top = here.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok()).unwrap_or(&here);
    let top = top.canonicalize().context("the working tree cannot be found")?;
    let Some(staged) = git::staged(&top, index.as_deref()) else { bail!("what is staged cannot be seen") };
    let asked = by_project(asker, &top, &staged);
    // Where a project cannot be read there is one all the same.
    asker.managed.store(asked.as_ref().map_or(true, |asked| !asked.is_empty()), Ordering::SeqCst);
    let mut refused = Vec::new();
    for (project, paths) in asked? {
        let desk = Desk::open_as(asker, place::named(asker.global), &project)?;
        let is_open = desk.is_open()?;
        for path in paths.iter().filter(|path| is_open || *path == PROBE) {
            let may = desk.may(path)?;
            if may["allowed"] != true {
                refused.push(denial(&desk, path, &may));
            }
        }
    }
    if refused.is_empty() {
        return Ok(Answer::nothing());
    }
    let more = refused.len().saturating_sub(NAMED_MAX);
    refused.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    Ok(Answer::refuse(&format!("this commit is refused. {}{more}", refused.join(" "))))
}

/// The projects that staged files belong to, each with what its files are called there. What belongs to none is left out.
fn by_project(
    asker: &Asker<'_>,
    top: &Path,
    staged: &BTreeSet<PathBuf>,
) -> anyhow::Result<Vec<(Project, Vec<String>)>> {
    let mut asked: Vec<(Project, Vec<String>)> = Vec::new();
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in staged.iter().map(|file| top.join(file)) {
        folders.entry(file.parent().unwrap_or(top).to_owned()).or_default().push(file);
    }
    for (folder, files) in folders {
        let Some((project, tree)) = of_folder(asker, &folder)? else { continue };
        let named = files.iter().map(|file| name_in(&project, &tree, file));
        let paths: Vec<String> = named.filter_map(Result::transpose).collect::<anyhow::Result<_>>()?;
        match asked.iter_mut().find(|(known, _)| known.root == project.root) {
            Some((_, known)) => known.extend(paths),
            None => asked.push((project, paths)),
        }
    }
    asked.retain(|(_, paths)| !paths.is_empty());
    Ok(asked)
}
