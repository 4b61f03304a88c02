//! What is kept of the project's folder while an agent works in it without a repository, so that what it did there is not
//! forgotten: neither when the attempt comes to nothing, nor when the runner is killed.
//!
//! A file for each task lies in the run's folder from the beginning of an attempt until the folder was compared. What was found
//! then stays in it, until it was put back, or a person has accepted it as it is. What a person was asked stands in the ledger,
//! with the hash of that file: where the file is gone or another one, they are asked again.

use super::around::{self, Around, Strayed};
use super::attempt::Attempt;
use super::folder::{Files, Folder};
use super::no::{Held, No, Work};
use super::{Note, Run};
use crate::{content, files, names};
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
    /// What was changed and may not be.
    found: Option<Found>,
    /// What those who look are to be told of earlier attempts.
    told: Vec<String>,
}

/// What was changed and may not be.
#[derive(Serialize, Deserialize)]
struct Found {
    /// In words.
    reason: String,
    /// The files.
    paths: Vec<String>,
    /// The folder before that, if it is known.
    was: Option<Files>,
}

impl Found {
    /// What is there now in place of those files, as one hash.
    fn content(&self, run: &Run<'_>) -> Result<String, String> {
        let place = |path: &String| {
            let real = names::path(&names::unescaped(path));
            if run.ground.root().join(path).symlink_metadata().is_ok() {
                path.clone()
            } else {
                real.display().to_string()
            }
        };
        run.ground.content(&self.paths.iter().map(place).collect::<Vec<_>>())
    }

    /// Whether everything is there again as it was.
    fn is_put_back(&self, run: &Run<'_>) -> bool {
        let changed = self.was.as_ref().map(|was| Folder::kept(run.ground.root(), was).changed());
        changed.is_some_and(|changed| changed.is_ok_and(|it| !it.iter().any(|path| self.paths.contains(path))))
    }
}

/// An attempt begins: the folder as it is, which is kept.
///
/// # Errors
/// An earlier attempt has changed what it may not, and that is neither put back nor accepted; or nothing can be kept.
pub(super) fn begin(run: &Run<'_>, attempt: &Attempt<'_>) -> Result<Result<Folder, String>, No> {
    let task = attempt.task();
    let told = settle(run, task)?;
    let since = run.desk.head().map_err(No::from)?;
    let folder = Folder::of(run.ground.root());
    let files = folder.as_ref().ok().map(Folder::files);
    let met = run.beside.met(attempt.number);
    let beside = met.iter().filter_map(|number| run.setup.plan.tasks.get(*number));
    let beside = beside.map(|task| task.id.as_str().to_owned()).collect();
    write(run, task, &Kept { since, beside, folder: files, found: None, told })?;
    Ok(folder)
}

/// What is to be told of earlier attempts, if they have left nothing that may not be there.
fn settle(run: &Run<'_>, task: &str) -> Result<Vec<String>, No> {
    let kept = read(run, task)?;
    let is_first = run.desk.row(task)?.is_none_or(|row| row.attempt <= 1);
    let asked = if is_first { None } else { run.desk.last_asked(task)? };
    let accepted = run.desk.own_row()?.accepted;
    if let Some((content, hash)) = &asked {
        if accepted.contains(content) {
            return Ok(Vec::new());
        }
        if hash.is_some() && *hash != file_hash(run, task) {
            let reason = "an attempt before has changed what it may not, and what was kept of that is gone";
            return Err(held(run, task, content.clone(), Work::None, reason));
        }
    }
    let Some(Kept { found: Some(found), .. }) = kept else { return Ok(kept.unwrap_or_default().told) };
    let content = found.content(run)?;
    if accepted.contains(&content) || found.is_put_back(run) {
        return Ok(Vec::new());
    }
    let work = if asked.is_some() { Work::None } else { Work::Blamed };
    Err(held(run, task, content, work, &found.reason))
}

/// A person is asked about what an attempt has changed and may not.
fn held(run: &Run<'_>, task: &str, content: String, work: Work, reason: &str) -> No {
    let reason = format!(
        "{reason}; put it back and have it looked at again with `countersign task unblock {task} --reason TEXT`, or accept it as \
         it is with `countersign run accept {content} --reason TEXT --run {}`, as `countersign inbox` has them",
        run.setup.run
    );
    let no = No::held(content, work, reason);
    let kept = Some(file_hash(run, task).unwrap_or_else(|| "gone".to_owned()));
    No { held: no.held.map(|held| Held { kept, ..held }), ..no }
}

/// The hash of what is kept of a task.
fn file_hash(run: &Run<'_>, task: &str) -> Option<String> {
    files::read(&path(run, task), SIZE_MAX).ok().map(|bytes| content::hash(&[&bytes]))
}

/// The folder was compared after an attempt, however that ended. Says what is to be told, also of earlier attempts.
///
/// # Errors
/// It has changed what it may not; or nothing can be kept.
pub(super) fn compared(run: &Run<'_>, task: &str, seen: Result<Around, Strayed>) -> Result<(Around, Vec<String>), No> {
    let mut kept = read(run, task)?.unwrap_or_default();
    // It was not kept if it could not be looked at.
    if kept.since == 0 {
        kept.since = run.desk.head().map_err(No::from)?;
    }
    let was = kept.folder.take();
    match seen {
        Ok(around) => {
            let told = around.told().filter(|told| !kept.told.contains(told));
            kept.told.extend(told);
            write(run, task, &kept)?;
            Ok((around, kept.told))
        }
        Err(strayed) => {
            let found = Found { reason: strayed.told(), paths: strayed.paths, was };
            let (content, reason) = (found.content(run)?, found.reason.clone());
            kept.found = Some(found);
            write(run, task, &kept)?;
            Err(held(run, task, content, Work::Blamed, &reason))
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

/// Nothing of it is needed any more.
pub(super) fn end(run: &Run<'_>) {
    let _ = std::fs::remove_dir_all(run.setup.spool.join(FOLDERS));
}

fn path(run: &Run<'_>, task: &str) -> PathBuf {
    run.setup.spool.join(FOLDERS).join(format!("{task}.json"))
}

/// What is kept.
fn read(run: &Run<'_>, task: &str) -> Result<Option<Kept>, String> {
    let path = path(run, task);
    if !path.exists() {
        return Ok(None);
    }
    let cure = || format!("look at what changed, and remove {} to go on", path.display());
    let bytes = files::read(&path, SIZE_MAX)
        .map_err(|no| format!("what was kept of the folder cannot be read ({}); {}", no.why(SIZE_MAX), cure()))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("what was kept of the folder is damaged ({error}); {}", cure()))
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
