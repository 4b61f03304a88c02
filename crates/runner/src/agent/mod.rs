//! Agents as processes.
//!
//! ```text
//! Job ─start─▶ Running ─mark─▶ Mark (goes into the ledger, before anybody waits)
//!                 └────wait─▶ Ended ─answer_of─▶ the result document
//! Mark ─stop_old─▶ Stopped (after a crash of the runner)
//! ```
//!
//! **Invariant:** an agent is a list of arguments, started without a shell, in an environment that holds only what is
//! named.
//! **Invariant:** nothing that an agent does with its pipes blocks it or us, or takes memory beyond the limits: what is
//! too much is read, counted and thrown away.
//! **Invariant:** when `wait` returns, the agent's process group is empty, and so is the list of processes that descend
//! from it or carry its mark. A process is signalled only after it was seen to be the one that is meant.
//! **Absent on purpose:** what a result means, and whether an attempt is tried again.
//! **Absent:** on systems without `/proc`, processes that leave the agent's group are not found. On Linux one escapes
//! that leaves the group, outlives its parent and empties its environment, all three.

mod answer;
mod claude;
mod codex;
mod ended;
mod ending;
mod environment;
mod events;
mod invocation;
mod lines;
mod mark;
mod processes;
mod reading;
mod running;
mod usage;

pub use answer::answer_of;
pub use ended::{Ended, How};
pub(crate) use environment::{ATTEMPT, common};
pub use mark::{Mark, Stopped, stop_marked, stop_old};
pub use running::{Pulse, Running, Stop};
pub use usage::Usage;

use crate::program;
use countersign_domain::plan::payload::Agent;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How often a program is tried again that somebody is still writing.
const BUSY_TRIES: u32 = 20;
/// How long is waited in between.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// What an agent is given to do.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Who does it.
    pub agent: &'a Agent,
    /// Where: the folder that it starts in.
    pub folder: &'a Path,
    /// What programs read from standard input: the assignment as JSON.
    pub input: &'a [u8],
    /// What known agents read from standard input.
    pub prompt: &'a str,
    /// The JSON Schema of the answer, for known agents.
    pub schema: &'a str,
    /// Whether a known agent is allowed to change files in its folder. One that is not may only look.
    pub changes: bool,
    /// What its processes are known by: no other attempt has the same.
    pub attempt: &'a str,
    /// Variables for this task, beside those that the agent's entry in the plan names.
    pub variables: &'a [(String, String)],
    /// The folder for files that belong to this attempt; made if it is not there. It must not be inside `folder`.
    pub spool: &'a Path,
    /// How much, and how long.
    pub limits: Limits,
}

/// How much an agent may say, and how patiently it is ended.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many bytes of standard output are kept. An answer that is longer does not count.
    pub out_max: usize,
    /// How many bytes at the end of standard error are kept.
    pub err_max: usize,
    /// How many lines of standard error are handed on.
    pub lines_max: usize,
    /// How many letters of a line are handed on.
    pub line_max: usize,
    /// How long an agent may take to end after it was asked to.
    pub grace: Duration,
    /// How often a sign of life is given while it runs.
    pub beat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            out_max: 1 << 20,
            err_max: 16 << 10,
            lines_max: 200,
            line_max: 2_000,
            grace: Duration::from_secs(5),
            beat: Duration::from_secs(1),
        }
    }
}

/// Starts an agent. What comes back must be waited for; if it is dropped instead, the agent is ended for good.
pub fn start(job: &Job) -> Result<Running, String> {
    let invocation = invocation::of(job)?;
    let attempt = job.attempt.to_owned();
    let environment = environment::of(job, &attempt)?;
    let path = environment.variables.get(std::ffi::OsStr::new("PATH")).map(std::ffi::OsString::as_os_str);
    let mut command = program::called(&invocation.program, path);
    command
        .args(&invocation.arguments)
        .current_dir(job.folder)
        .env_clear()
        .envs(environment.variables)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = spawn(&mut command).map_err(|error| {
        let program = invocation.program.as_str();
        if !job.folder.is_dir() {
            return format!("agent `{program}` cannot start: there is no folder {}", job.folder.display());
        }
        let cure = match error.kind() {
            ErrorKind::NotFound => "install it, or put its folder on PATH",
            ErrorKind::PermissionDenied => "make it executable",
            _ => "look at its command in the plan",
        };
        format!("agent `{program}` cannot be started: {error}; {cure}")
    })?;
    Ok(Running::new(child, invocation, environment.secrets, attempt, job.limits))
}

/// A program that is being written just now cannot be run; that passes.
fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => tries += 1,
            done => return done,
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}
