//! What is kept of the project's folder while an agent works in it without a repository, so that what it did there is not
//! forgotten: neither when the attempt comes to nothing, nor when the runner is killed.
//!
//! A file for each task lies in the run's folder from the beginning of an attempt until the folder was compared. What was found
//! then stays in it, until a person has answered for the task: from there on, what is there counts as accepted.

use super::around::{self, Around};
use super::attempt::Attempt;
use super::desk::No;
use super::folder::{Files, Folder};
use super::{Note, Run};
use crate::files;
use countersign_domain::plan::payload::PlannedTask;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The folder of those files, below that of the run.
pub(super) const FOLDERS: &str = "folders";
/// How large such a file may be.
const SIZE_MAX: usize = 256 << 20;

/// What is kept for a task.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// The last event before the attempt.
    since: u64,
    /// The tasks that were attempted already when it began.
    beside: Vec<String>,
    /// The folder before the attempt, until it has been compared.
    folder: Option<Files>,
    /// What was changed outside of the scope.
    found: Option<String>,
    /// What those who look are to be told of earlier attempts.
    told: Vec<String>,
}

/// An attempt begins: the folder as it is, which is kept.
///
/// # Errors
/// An earlier attempt has changed what it may not, and nobody has answered for that; or nothing can be kept.
pub(super) fn begin(run: &Run<'_>, attempt: &Attempt<'_>) -> Result<Result<Folder, String>, No> {
    let before = read(run, attempt.task())?.unwrap_or_default();
    if let Some(found) = before.found {
        return Err(around::violation(found));
    }
    let since = run.desk.head().map_err(No::from)?;
    let folder = Folder::of(run.ground.root());
    if let Ok(folder) = &folder {
        let met = run.beside.met(attempt.number);
        let beside = met.iter().filter_map(|number| run.setup.plan.tasks.get(*number));
        let beside = beside.map(|task| task.id.as_str().to_owned()).collect();
        let kept = Kept { since, beside, folder: Some(folder.files()), found: None, told: before.told };
        write(run, attempt.task(), &kept)?;
    }
    Ok(folder)
}

/// The folder was compared after an attempt, however that ended. Says what is to be told, also of earlier attempts.
///
/// # Errors
/// It has changed what it may not; or nothing can be kept.
pub(super) fn compared(run: &Run<'_>, task: &str, seen: Result<Around, No>) -> Result<(Around, Vec<String>), No> {
    let mut kept = read(run, task)?.unwrap_or_default();
    // It was not kept if it could not be looked at.
    if kept.since == 0 {
        kept.since = run.desk.head().map_err(No::from)?;
    }
    kept.folder = None;
    match seen {
        Ok(around) => {
            let told = around.told().filter(|told| !kept.told.contains(told));
            kept.told.extend(told);
            write(run, task, &kept)?;
            Ok((around, kept.told))
        }
        Err(no) => {
            kept.found = Some(no.reason.clone());
            write(run, task, &kept)?;
            Err(no)
        }
    }
}

/// Compares the folder with what it was before attempts that an earlier runner did not bring to an end. Nobody works yet.
///
/// # Errors
/// The ledger cannot be used, or what was kept cannot be read or written.
pub(super) fn look_back(run: &Run<'_>) -> Result<(), String> {
    if run.ground.trees().is_some() {
        return Ok(());
    }
    for (number, planned) in run.setup.plan.tasks.iter().enumerate() {
        let task = planned.id.as_str();
        let Some(kept) = read(run, task)? else { continue };
        let Some(files) = &kept.folder else { continue };
        let mut folder = Folder::kept(run.ground.root(), files);
        let mut met: BTreeSet<String> = run.desk.claimed_since(kept.since)?;
        met.extend(kept.beside);
        let is_met = |other: &PlannedTask| met.contains(other.id.as_str());
        let others = around::others(run, number, |_, other| is_met(other));
        let seen = around::judge(run, planned, &others, folder.changed());
        match compared(run, task, seen) {
            Ok(_) => {}
            Err(no) if no.code.is_some() => run.note(&Note::Recovered { task, what: &no.reason }),
            Err(no) => return Err(no.reason),
        }
    }
    Ok(())
}

/// Whether something was found that nobody has answered for.
pub(super) fn is_found(run: &Run<'_>, task: &str) -> bool {
    run.ground.trees().is_none() && read(run, task).is_ok_and(|kept| kept.is_some_and(|kept| kept.found.is_some()))
}

/// Nothing of it is needed any more.
pub(super) fn end(run: &Run<'_>) {
    let _ = std::fs::remove_dir_all(run.setup.spool.join(FOLDERS));
}

fn path(run: &Run<'_>, task: &str) -> PathBuf {
    run.setup.spool.join(FOLDERS).join(format!("{task}.json"))
}

/// What is kept, unless a person has answered for the task since.
fn read(run: &Run<'_>, task: &str) -> Result<Option<Kept>, String> {
    let path = path(run, task);
    if !path.exists() {
        return Ok(None);
    }
    let cure = || format!("look at what changed, and remove {} to go on", path.display());
    let bytes = files::read(&path, SIZE_MAX)
        .map_err(|no| format!("what was kept of the folder cannot be read ({}); {}", no.why(SIZE_MAX), cure()))?;
    let kept: Kept = serde_json::from_slice(&bytes)
        .map_err(|error| format!("what was kept of the folder is damaged ({error}); {}", cure()))?;
    if run.desk.was_answered(kept.since, task)? {
        return Ok(None);
    }
    Ok(Some(kept))
}

fn write(run: &Run<'_>, task: &str, kept: &Kept) -> Result<(), String> {
    let path = path(run, task);
    if kept.folder.is_none() && kept.found.is_none() && kept.told.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{} cannot be removed: {error}", path.display()))
            }
            _ => Ok(()),
        };
    }
    let folder = run.setup.spool.join(FOLDERS);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let text = serde_json::to_string(kept).map_err(|error| error.to_string())?;
    files::write(&path, &text).map_err(|error| format!("{error:#}"))
}
