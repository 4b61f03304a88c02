//! `countersign doctor`

mod trail;

use super::asking::{How, line};
use super::output::Format;
use super::{Exit, Global, checkpoint, output};
use crate::home::{Home, open_to_others};
use crate::hook::Harness;
use crate::install::probe::{self, Tried};
use crate::place::{self, Place};
use crate::project::{FOLDER, Project};
use countersign_diagnostic::visible;
use countersign_engine::SHAPE;
use countersign_ledger::{Ledger, Store, Time};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Look whether everything is as it should be: ledger, settings, keys, clock, audit entries, space, hooks
///
/// Nothing is changed without --fix.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign doctor
  countersign doctor --fix
  countersign doctor --format json")]
pub struct Args {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    fix: bool,

    #[command(flatten)]
    how: How,
}

/// How long to wait for the writer's place.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much room a ledger should have at least.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// How far the last event may lie in the future before a clock is wrong.
const CLOCK_MS_MAX: i64 = 60_000;

pub fn run(args: &Args, project: &Project, global: &Global, is_named: bool) -> anyhow::Result<Exit> {
    let ledger = global.ledger.as_deref();
    let mut visit = Visit { fix: args.fix, format: args.how.format, faults: 0, checks: Vec::new() };
    visit.good("program", &format!("countersign {}", env!("CARGO_PKG_VERSION")));
    match &project.root {
        Some(root) => visit.good("project", &root.display().to_string()),
        None => visit.bad("project", "there is none here; `countersign init` makes one"),
    }
    // First, because a key that is open to others is not used, and can be closed.
    visit.permissions(project);
    match Place::of(project, ledger) {
        Ok(place) => visit.ledger(&place),
        Err(error) if project.root.is_some() || ledger.is_some() => visit.bad("ledger", &format!("{error:#}")),
        // That there is no project was said.
        Err(_) => {}
    }
    visit.trail(project, global);
    visit.space(project);
    visit.hooks(project, super::install::tree(project, is_named));
    if args.how.format == Format::Json {
        output::print(&line(&json!({ "well": visit.faults == 0, "faults": visit.faults, "checks": visit.checks })));
    } else {
        output::print(&format!("{}\n", verdict(visit.faults)));
    }
    Ok(if visit.faults == 0 { Exit::Allowed } else { Exit::Refused })
}

fn verdict(faults: usize) -> String {
    match faults {
        0 => "all is well".to_owned(),
        1 => "1 thing is not as it should be".to_owned(),
        faults => format!("{faults} things are not as they should be"),
    }
}

struct Visit {
    fix: bool,
    format: Format,
    faults: usize,
    /// What was looked at, for programs: they are told at the end, and people at once.
    checks: Vec<Value>,
}

impl Visit {
    fn tell(&mut self, state: &str, what: &str, found: &str) {
        match self.format {
            Format::Text => output::print(&format!("{state:<5} {what:<16} {}\n", visible(found))),
            Format::Json => self.checks.push(json!({ "state": state, "what": what, "found": found })),
        }
    }

    fn good(&mut self, what: &str, found: &str) {
        self.tell("ok", what, found);
    }

    fn bad(&mut self, what: &str, found: &str) {
        self.faults += 1;
        self.tell("bad", what, found);
    }

    fn mended(&mut self, what: &str, found: &str) {
        self.tell("fixed", what, found);
    }

    fn ledger(&mut self, place: &Place) {
        let mut store = match place.open() {
            Ok(store) => store,
            Err(error) => return self.bad("ledger", &format!("{error:#}")),
        };
        match store.describe() {
            Ok(lines) => lines.iter().for_each(|(name, value)| self.good(name, value)),
            Err(error) => self.bad("ledger", &error.to_string()),
        }
        match store.writer() {
            Some(holder) if holder.ends_with("which is stopped") => {
                self.bad("writer", &format!("{holder}, keeps others from writing; continue or end it"));
            }
            Some(holder) => self.good("writer", &format!("{holder} writes just now")),
            None => {}
        }
        match store.another().and_then(Ledger::project_in) {
            Ok(Some(id)) => {
                self.good("project id", &id);
                self.key(&id);
                self.checkpoint(&id, &mut *store);
            }
            Ok(None) => self.bad("project id", "the ledger has no project; run `countersign init`"),
            Err(error) => self.bad("project id", &error.to_string()),
        }
        self.writing(place);
        self.examine(&mut *store);
        self.clock(&mut *store);
    }

    /// Whether it could be written to, by beginning to.
    fn writing(&mut self, place: &Place) {
        let begun = place.open().and_then(|mut store| {
            let begun = store.begin_within(PATIENCE)?;
            store.rollback();
            Ok(begun)
        });
        match begun {
            Err(error) => self.bad("writing", &format!("{error:#}")),
            Ok(begun) => match (begun.meta("closed"), begun.meta("shape").and_then(|it| it.parse::<u32>().ok())) {
                (Some(why), _) => self.bad("writing", why),
                (None, Some(shape)) if shape > SHAPE => self.bad(
                    "writing",
                    &format!("its shape is {shape}, of a newer version; this one, {SHAPE}, only reads"),
                ),
                (None, Some(shape)) if shape < SHAPE => self.bad(
                    "writing",
                    &format!("its shape is {shape} and this version writes {SHAPE}; run `countersign rebuild`"),
                ),
                _ => self.good("writing", "the writer's place can be had"),
            },
        }
    }

    fn examine(&mut self, store: &mut dyn Store) {
        let mut faults = match store.examine() {
            Ok(faults) if faults.is_empty() => return self.good("files", "as they were made"),
            Ok(faults) => faults,
            Err(error) => return self.bad("files", &error.to_string()),
        };
        if self.fix {
            match store.scrub().and_then(|()| store.examine()) {
                Ok(left) if left.is_empty() => {
                    let done = format!("removed what was left of texts that are no more ({} findings)", faults.len());
                    return self.mended("files", &done);
                }
                Ok(left) => faults = left,
                Err(error) => faults.push(error.to_string()),
            }
        }
        faults.iter().for_each(|fault| self.bad("files", fault));
    }

    fn key(&mut self, project: &str) {
        let home = match Home::find() {
            Ok(home) => home,
            Err(error) => return self.bad("signing key", &error.to_string()),
        };
        match home.secret_key(project) {
            Ok(Some(_)) => self.good("signing key", "in the user's configuration"),
            Ok(None) => {
                self.bad("signing key", "not here, so nothing can be signed; `countersign init` makes a new pair")
            }
            Err(error) => self.bad("signing key", &format!("{error:#}")),
        }
    }

    /// Whether the checkpoint that was kept can be read, and the ledger is the one that it knows.
    fn checkpoint(&mut self, project: &str, store: &mut dyn Store) {
        let kept = Home::find().and_then(|home| home.kept_checkpoint(project));
        match kept.and_then(|kept| kept.map(|it| Ok((checkpoint::goes_on_from(store, &it)?, it.size))).transpose()) {
            Ok(None) => self.good("checkpoint", "none was kept here; `countersign checkpoint` makes one"),
            Ok(Some((true, size))) => self.good("checkpoint", &format!("the one that was kept knows {size} events")),
            Ok(Some((false, size))) => self.bad(
                "checkpoint",
                &format!("the ledger is not the one that the kept checkpoint of {size} events knows; run `countersign verify`"),
            ),
            Err(error) => self.bad("checkpoint", &format!("{error:#}")),
        }
    }

    fn clock(&mut self, store: &mut dyn Store) {
        let now = Time(jiff::Timestamp::now().as_millisecond());
        let last = store.head().and_then(|head| store.events(head.seq.max(1), None, 1));
        let time = last.ok().and_then(|rows| {
            let event = rows.first().and_then(|row| serde_json::from_str::<serde_json::Value>(&row.body).ok())?;
            event["time"].as_str().and_then(Time::parse)
        });
        match time {
            Some(time) if time.0 > now.0 + CLOCK_MS_MAX => {
                self.bad(
                    "clock",
                    &format!("the last event is of {time}, and this machine's clock shows {now}; one of them is wrong"),
                );
            }
            _ => self.good("clock", &now.to_string()),
        }
    }

    fn permissions(&mut self, project: &Project) {
        let mut open: Vec<(PathBuf, String)> = Home::find().map(|home| home.permission_faults()).unwrap_or_default();
        let own = project.root.as_ref().map(|root| root.join(FOLDER));
        for path in own.iter().flat_map(|folder| [folder.clone(), folder.join(place::FILE)]) {
            let mode = open_to_others(&path);
            open.extend(mode.map(|mode| (path, format!("others may look into it (mode {mode:o})"))));
        }
        if open.is_empty() {
            return self.good("permissions", "keys and ledger are their owner's alone");
        }
        for (path, why) in open {
            if self.fix && close_to_others(&path) {
                self.mended("permissions", &format!("{}: {why}", path.display()));
            } else {
                self.bad("permissions", &format!("{}: {why}; `countersign doctor --fix` closes it", path.display()));
            }
        }
    }

    /// Whether hooks that are set up really block, by asking them for what nobody may.
    fn hooks(&mut self, project: &Project, tree: Option<PathBuf>) {
        let root = project.root.as_ref().and_then(|root| root.canonicalize().ok());
        let (Some(tree), Some(root)) = (tree, root) else { return };
        for harness in [Harness::ClaudeCode, Harness::Codex, Harness::Git] {
            let what = format!("{} hook", harness.as_str());
            match probe::try_out(harness, &tree, &root) {
                Tried::Absent => self.good(&what, "not set up"),
                Tried::Blocks => self.good(&what, "set up, and it blocks"),
                Tried::Fails(why) => {
                    let mend = format!("`countersign install {}` sets it up anew", harness.as_str());
                    self.bad(&what, &format!("set up, and {why}; {mend}"));
                }
                Tried::PassedOver(own) => self.bad(
                    &what,
                    &format!(
                        "set up, and git does not run what lies in {}: `core.hooksPath` in the settings of the user or the machine names \
                         another folder; give this repository hooks of its own with `git config core.hooksPath FOLDER` and set them up \
                         there, or take these out with `countersign install git --remove`",
                        own.display()
                    ),
                ),
            }
        }
    }

    #[cfg(unix)]
    fn space(&mut self, project: &Project) {
        let Some(root) = &project.root else { return };
        let Ok(found) = rustix::fs::statvfs(root) else { return };
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        let shown = format!("{} MiB free", free / (1024 * 1024));
        if free < FREE_BYTES_MIN {
            self.bad("space", &format!("{shown}; a ledger needs room to grow"))
        } else {
            self.good("space", &shown)
        }
    }

    #[cfg(not(unix))]
    fn space(&mut self, _: &Project) {}
}

#[cfg(unix)]
fn close_to_others(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).is_ok()
}

#[cfg(not(unix))]
fn close_to_others(_: &std::path::Path) -> bool {
    false
}
