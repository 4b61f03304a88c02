//! `countersign demo`

pub mod agent;
mod caught;
mod handing;
mod reviewer;
mod scenery;
mod stage;
mod story;

use super::asking::wrong;
use super::{Exit, output};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// See agents being caught: a plan, six agents of which five are not to be trusted, an action and a reviewer
///
/// Makes a new repository with a project and a ledger of its own and carries a plan out in it. The agents are scripts, and the
/// reviewer is played by the demonstration; everything else is what `countersign run` does. Needs git and sh. Your own
/// configuration is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign demo
  countersign demo --dir ./countersign-demo

Exit codes: 0 every agent was caught and every task done, 1 something went otherwise, 2 wrong usage, 3 could not be run.")]
pub struct Args {
    /// Make it here, and leave everything to be looked at; the directory must be new or empty
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Begun by ourselves, with an environment of its own
    #[arg(long, hide = true, requires = "dir")]
    inside: bool,

    /// Nothing is left behind
    #[arg(long, hide = true, requires = "inside")]
    fleeting: bool,
}

/// The user's configuration, below the directory of the demonstration.
const HOME: &str = "home";

/// What a process is found by that was started for an attempt or a check. Whoever began this one can still end it.
const MARKS: &[&str] = &["COUNTERSIGN_ATTEMPT", "COUNTERSIGN_CHECK"];

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.dir {
        Some(dir) if args.inside => inside(dir, args.fleeting),
        Some(dir) => {
            must_be_empty(dir)?;
            std::fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))?;
            begin_again(dir, false)
        }
        None => {
            let made = tempfile::Builder::new().prefix("countersign-demo-").tempdir();
            let made = made.context("no temporary directory can be made; name one with --dir")?;
            // Whoever goes on from here removes it.
            begin_again(&made.keep(), true)
        }
    }
}

/// Refuses a directory with something in it: nothing of anybody's is ever written over.
fn must_be_empty(dir: &Path) -> anyhow::Result<()> {
    match std::fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(wrong(format!("`{}` is not empty; name a directory that is new or empty", dir.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("`{}` cannot be used", dir.display())),
    }
}

/// Goes on as the same program in an environment where nothing of the user's or of another project's counts. A process cannot
/// safely change its own environment, so it begins again.
fn begin_again(dir: &Path, fleeting: bool) -> anyhow::Result<Exit> {
    let dir = dir.canonicalize().with_context(|| format!("{} cannot be used", dir.display()))?;
    let program = std::env::current_exe().context("it cannot be told which program this is")?;
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = ["COUNTERSIGN_", "GIT_"].iter().any(|it| text.starts_with(it));
        if foreign && !MARKS.contains(&text.as_ref()) {
            command.env_remove(&name);
        }
    }
    // Working trees of agents belong here, too.
    command.env("COUNTERSIGN_HOME", dir.join(HOME)).env("XDG_STATE_HOME", dir.join(HOME).join("state"));
    command.args(["demo", "--inside"]).args(fleeting.then_some("--fleeting")).arg("--dir").arg(&dir);
    go_on(command)
}

/// In the same process, so that a signal reaches who is meant.
#[cfg(unix)]
fn go_on(mut command: Command) -> anyhow::Result<Exit> {
    Err(std::os::unix::process::CommandExt::exec(&mut command)).context("the demonstration cannot be begun")
}

#[cfg(not(unix))]
fn go_on(mut command: Command) -> anyhow::Result<Exit> {
    let status = command.status().context("the demonstration cannot be begun")?;
    let all = [Exit::Allowed, Exit::Refused, Exit::Usage];
    Ok(all.into_iter().find(|exit| status.code() == Some(*exit as i32)).unwrap_or(Exit::Failed))
}

fn inside(dir: &Path, fleeting: bool) -> anyhow::Result<Exit> {
    let home = std::env::var_os("COUNTERSIGN_HOME").map(PathBuf::from);
    if home != Some(dir.join(HOME)) {
        return Err(wrong("this is how the demonstration begins itself; call it as `countersign demo`"));
    }
    // What is removed afterwards is only ever what was made here.
    must_be_empty(dir)?;
    let played = stage::play(dir, fleeting);
    if fleeting && let Err(error) = std::fs::remove_dir_all(dir) {
        output::say(&format!("note: {} could not be removed: {error}", dir.display()));
    }
    played
}
