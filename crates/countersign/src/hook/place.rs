//! Which project an event is about, and its ledger, opened for whoever acts.

use super::losses::Losses;
use super::{Asker, Event, actor, is_kept};
use crate::cli::Global;
use crate::cli::asking::pages;
use crate::client::Client;
use crate::project::Project;
use crate::worktrees::called_from_above;
use anyhow::bail;
use countersign_engine::Failure;
use countersign_runner::names;
use serde_json::{Value, json};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A project's ledger, opened for whoever acts.
pub struct Desk<'p> {
    /// Never closed: what was written is durable, and the process ends with the answer.
    client: ManuallyDrop<Client<'p>>,
    /// Who acts.
    pub actor: String,
    /// What they held when they were last seen.
    pub(super) losses: Option<Losses>,
}

/// A task that somebody works on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) run: String,
    pub(super) task: String,
    pub(super) lease: u64,
    pub(super) expires: jiff::Timestamp,
    pub(super) beat: jiff::Timestamp,
    pub(super) paths: Vec<String>,
}

impl Held {
    /// Whether its lease has not lapsed.
    pub(super) fn is_alive(&self) -> bool {
        self.expires > jiff::Timestamp::now()
    }
}

/// The project that an event is about: the one that was named, the client's own, or the one where the session works. None
/// where Countersign manages nothing.
pub fn here(asker: &Asker<'_>, event: Option<&Event>) -> anyhow::Result<Option<Project>> {
    if let Some(named) = asker.project {
        return kept(Project::find(Some(named), None)?, asker.global);
    }
    let own = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let works = event.and_then(|event| event.cwd.clone());
    let current = std::env::current_dir().ok();
    // A session stays what it is, wherever it goes; which of the worktrees it works in is told by where it is.
    for place in [&own, &works, &current].into_iter().flatten() {
        let Some(mut project) = kept_above(place, asker.global)? else { continue };
        let is_own = |root: &Path| Ok((project.root.as_deref() == Some(root)).then_some(()));
        let is_inside = |place: &PathBuf| Project::root_above(place, is_own).is_ok_and(|found| found.is_some());
        project.from = [&works, &current, &own].into_iter().flatten().find(|place| is_inside(place)).cloned();
        return Ok(Some(project));
    }
    Ok(None)
}

/// The project that a file belongs to, and what the file is called there. None, if it belongs to none.
pub(super) fn of_file(asker: &Asker<'_>, file: &Path) -> anyhow::Result<Option<(Project, String)>> {
    let Some(real) = real(file) else { bail!("`{}` leads nowhere that can be told", file.display()) };
    let Some((project, tree)) = of_folder(asker, real.parent().unwrap_or(Path::new("/")))? else { return Ok(None) };
    Ok(name_in(&project, &tree, &real)?.map(|name| (project, name)))
}

/// The project that a folder belongs to, and where its files are for whoever works in the folder. None, if it belongs to none.
pub(super) fn of_folder(asker: &Asker<'_>, folder: &Path) -> anyhow::Result<Option<(Project, PathBuf)>> {
    let project = match asker.project {
        Some(named) => Project::find(Some(named), None).and_then(|project| kept(project, asker.global)),
        None => kept_above(folder, asker.global),
    };
    // Where a project cannot be read there is one all the same.
    asker.managed.fetch_or(project.is_err(), Ordering::SeqCst);
    Ok(project?.and_then(|project| project.named_from(folder).map(|tree| (project, tree))))
}

/// What a file is called in a project whose files are there. None, if it is not among them.
pub(super) fn name_in(project: &Project, tree: &Path, file: &Path) -> anyhow::Result<Option<String>> {
    let root = project.root.as_ref().and_then(|root| root.canonicalize().ok());
    let from_above = root.map_or(Ok(None), |root| called_from_above(file, &root))?;
    let inside = from_above.as_deref().or_else(|| file.strip_prefix(tree).ok());
    Ok(inside.map(names::of_path))
}

fn kept(project: Project, global: &Global) -> anyhow::Result<Option<Project>> {
    Ok(is_kept(&project, global).then_some(project))
}

/// The first project that a place is in and that has a ledger. A directory that only looks like a project hides none.
fn kept_above(place: &Path, global: &Global) -> anyhow::Result<Option<Project>> {
    Project::root_above(place, |root| kept(Project::find(Some(root), None)?, global))
}

/// Where a path leads: links are followed as far as there is something, and the rest is what will be made.
fn real(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            // Upwards is from where a link leads, not from where it stands.
            std::path::Component::ParentDir => {
                plain = plain.canonicalize().unwrap_or(plain);
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    // A link to something that is not there yet is written through all the same.
    for _ in 0..16 {
        match std::fs::read_link(&plain) {
            Ok(to) => plain = plain.parent()?.join(to),
            Err(_) => break,
        }
    }
    let there = plain.ancestors().find(|part| part.exists())?;
    let rest = plain.strip_prefix(there).ok()?;
    let there = there.canonicalize().ok()?;
    Some(if rest.as_os_str().is_empty() { there } else { there.join(rest) })
}

impl<'p> Desk<'p> {
    /// Opens a project's ledger for whoever acts.
    pub fn open(asker: &Asker<'_>, event: &Event, project: &'p Project) -> anyhow::Result<Self> {
        Self::open_as(asker, actor::name(asker, event), project)
    }

    /// The same, in a name.
    pub fn open_as(asker: &Asker<'_>, actor: String, project: &'p Project) -> anyhow::Result<Self> {
        let Global { ledger, token_file, .. } = asker.global;
        let server = asker.global.server.clone();
        let global =
            Global { ledger: ledger.clone(), actor: Some(actor.clone()), token_file: token_file.clone(), server };
        let client = Client::open(project, &global)?;
        // A token speaks in its own name; which that is, only the server knows that is asked.
        let actor = client.call().map_or(actor, |call| call.actor.clone());
        let losses = Losses::of(project, &actor);
        Ok(Self { client: ManuallyDrop::new(client), actor, losses })
    }

    /// Asks a question.
    pub(super) fn look(&self, id: &str, question: &Value) -> anyhow::Result<Value> {
        self.client.look(id, question).map_err(failure)
    }

    /// Asks for a command.
    pub(super) fn ask(&self, id: &str, request: &Value) -> anyhow::Result<()> {
        self.client.ask(id, request).map(|_| ()).map_err(failure)
    }

    /// Whether somebody may change a path, as `lock.may` shows it.
    pub fn may(&self, path: &str) -> anyhow::Result<Value> {
        self.look("lock.may", &json!({ "path": path }))
    }

    /// Whether a run is open, as far as the actor is concerned.
    pub fn is_open(&self) -> anyhow::Result<bool> {
        Ok(self.may(".")?["managed"] == true)
    }

    /// What the actor holds and has not lost.
    pub(super) fn held(&self) -> anyhow::Result<Vec<Held>> {
        Ok(self.holds()?.into_iter().filter(Held::is_alive).collect())
    }

    /// What the actor holds, and what they have lost and nobody has taken back yet.
    pub(super) fn holds(&self) -> anyhow::Result<Vec<Held>> {
        let shown = pages(&self.client, "lock.mine", (json!({}), "locks"), None).map_err(failure)?;
        let mut held: Vec<Held> = Vec::new();
        for lock in shown["locks"].as_array().into_iter().flatten() {
            let text = |name: &str| lock[name].as_str().unwrap_or_default().to_owned();
            let time = |name: &str| text(name).parse::<jiff::Timestamp>().ok();
            let (Some(expires), Some(beat)) = (time("expires_at"), time("last_heartbeat_at")) else { continue };
            let (run, task, lease) = (text("run_id"), text("task_id"), lock["lease"].as_u64().unwrap_or(0));
            match held.iter_mut().find(|it| it.lease == lease) {
                Some(known) => known.paths.push(text("path")),
                None => held.push(Held { run, task, lease, expires, beat, paths: vec![text("path")] }),
            }
        }
        Ok(held)
    }

    /// A task as it stands. What cannot be shown is nothing.
    pub(super) fn task(&self, held: &Held) -> Value {
        let question = json!({ "run_id": held.run, "task_id": held.task });
        self.look("task.show", &question).unwrap_or_default()
    }

    /// Whether a lease of a task, which the actor does not have any more, ended by their silence: what they ended themselves did
    /// not, nor did what was given to somebody else.
    pub(super) fn was_silent(&self, run: &str, task: &str, lease: u64) -> bool {
        let shown = self.look("task.show", &json!({ "run_id": run, "task_id": task })).unwrap_or_default();
        let is_over = ["done", "failed", "canceled"].iter().any(|status| shown["task"]["status"] == *status);
        !is_over && shown["lapses"].as_array().into_iter().flatten().any(|it| it.as_u64() == Some(lease))
    }

    /// Gives a sign of life for each lease that is a quarter over, and notes what is held. That it could not be given is no
    /// reason to refuse.
    pub(super) fn refresh(&self) {
        let now = jiff::Timestamp::now();
        let Ok(mut all) = self.held() else { return };
        for held in &mut all {
            let length = held.expires.duration_since(held.beat);
            if now.duration_since(held.beat) * 4 >= length {
                let request = json!({ "run_id": held.run, "task_id": held.task, "lease": held.lease });
                if self.ask("task.heartbeat", &request).is_ok() {
                    held.expires = now.checked_add(length).unwrap_or(held.expires);
                }
            }
        }
        self.note(&all);
    }

    /// Notes what the actor holds, so that they can be told should they lose it.
    pub(super) fn note(&self, held: &[Held]) {
        if let Some(losses) = &self.losses {
            losses.note(held);
        }
    }
}

/// Why there is no answer, in a sentence.
fn failure(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Unknown(why) => anyhow::anyhow!(why),
        Failure::Malformed(decision) => anyhow::anyhow!("{}", decision.reason),
        Failure::Refused(refusal) => anyhow::anyhow!("[{}] {}", refusal.code.as_str(), refusal.reason),
        Failure::Ledger(error) => error.into(),
    }
}
