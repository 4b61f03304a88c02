//! The hooks of git that are asked before a commit: what is to be committed is what the committer may change.

use super::{Answer, Asker, Desk, denial, here};
use crate::place;
use anyhow::{Context, bail};
use countersign_runner::git;
use std::path::PathBuf;

/// How many refused paths are named.
const NAMED_MAX: usize = 10;

/// Whether what is staged may be committed. Without an open run it may.
pub fn commit(asker: &Asker<'_>) -> anyhow::Result<Answer> {
    let Some(project) = here(asker, None)? else { return Ok(Answer::nothing()) };
    let root = project.tree_root().context("the project's directory cannot be found")?;
    // For some commits git makes an index of its own, and names it to its hooks.
    let index = std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from);
    let here = std::env::current_dir()?;
    let Some(staged) = git::staged(&root, index.map(|index| here.join(index)).as_deref()) else {
        bail!("what is staged cannot be seen");
    };
    if staged.is_empty() {
        return Ok(Answer::nothing());
    }
    let desk = Desk::open_as(asker, place::named(asker.global), &project)?;
    if !desk.is_open()? {
        return Ok(Answer::nothing());
    }
    let mut refused = Vec::new();
    for path in &staged {
        let may = desk.may(path)?;
        if may["allowed"] != true {
            refused.push(denial(&desk, path, &may));
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
