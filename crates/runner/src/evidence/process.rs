//! Running a program so that it ends: in a group of its own, for a limited time, with all that it started.
//!
//! When the time is up the group is asked to end, and two seconds later it is ended. When the program has ended, so has
//! whatever it left behind: the rest of its group, and on Linux what went into a group of its own but still carries the
//! mark that the program had in its environment.
//!
//! **Invariant:** a group is signalled only while its leader has not been waited for, so that its number is still its
//! own.
//! **Absent on purpose:** a shell, input, and a sandbox.

use super::capture::Capture;
use super::escaped;
use crate::agent::Stop;
use crate::program;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

/// How long a group has between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(2);
/// How long a group that was ended may take to be gone.
const DEATH: Duration = Duration::from_secs(5);
/// How long the rest of the output is waited for.
const DRAIN: Duration = Duration::from_millis(500);
/// How often it is looked whether the program has ended.
const TICK: Duration = Duration::from_millis(10);
/// How much is read at a time.
const PIECE: usize = 64 << 10;
/// What a program sees of this process's environment. It says where things are, and nothing else.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "SystemRoot",
    "SystemDrive",
    "PATHEXT",
    "COMSPEC",
    "TEMP",
    "TMP",
    "USERPROFILE",
];

/// A program, and the limits within which it runs.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The program and its arguments. A program whose name has a `/` is looked for beneath the folder.
    pub arguments: &'a [String],
    /// Where it runs.
    pub folder: &'a Path,
    /// What it sees beside the few variables that every program needs.
    pub environment: &'a [(String, String)],
    /// How long it may run.
    pub patience: Duration,
    /// How many bytes of its output are kept. The rest is read and counted.
    pub keeps: usize,
    /// Ends it as if its time were up.
    pub stop: Option<&'a Stop>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// Both streams, line by line as they arrived; of too long an output the middle is left out.
    pub output: Vec<u8>,
    pub was_cut: bool,
    /// How much it said, whether kept or not.
    pub output_bytes: u64,
    pub took: Duration,
}

/// Runs a program until it and all that it started have ended. If it cannot be started, the error is a sentence that
/// says why.
pub fn run(program: &Program<'_>) -> Result<Ended, String> {
    let start = Instant::now();
    let mark = escaped::Mark::new();
    let mut child = spawn(program, &mark)?;
    #[cfg(unix)]
    let group = crate::groups::Group::of(child.id());
    let mut ear = Ear::new(&mut child, program.keeps);
    let mut stage = Stage::Running;
    let mut patience = program.patience;
    loop {
        if ear.hear(TICK) == Heard::End {
            std::thread::sleep(TICK);
        }
        if has_ended(&mut child) || stage == Stage::GivenUp {
            break;
        }
        if program.stop.is_some_and(Stop::is_asked) {
            patience = patience.min(start.elapsed());
        }
        let next = Stage::after(start.elapsed(), patience);
        if next != stage {
            stage = next;
            stage.act(&mut child);
        }
    }
    signal_group(&mut child, Signal::Kill);
    mark.end_bearers();
    let until = Instant::now() + DRAIN;
    while Instant::now() < until && ear.hear(TICK) != Heard::End {}
    #[cfg(unix)]
    drop(group);
    let status = if stage == Stage::GivenUp { None } else { child.wait().ok() };
    let captured = ear.capture.end();
    Ok(Ended {
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(signal_of),
        timed_out: stage != Stage::Running,
        output: captured.text,
        was_cut: captured.was_cut,
        output_bytes: captured.said,
        took: start.elapsed(),
    })
}

fn spawn(program: &Program<'_>, mark: &escaped::Mark) -> Result<Child, String> {
    let Some((name, arguments)) = program.arguments.split_first() else {
        return Err("the check names no program".to_owned());
    };
    let given = program.environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.into());
    let path: Option<OsString> = given.or_else(|| std::env::var_os("PATH"));
    let mut command = program::called(name, path.as_deref());
    command.args(arguments).current_dir(program.folder).env_clear();
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("LANG", "C.UTF-8").envs(program.environment.iter().map(|(name, value)| (name, value)));
    mark.put_on(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| unstarted(name, program.folder, &error))
}

fn unstarted(name: &str, folder: &Path, error: &std::io::Error) -> String {
    let name = countersign_contract::show(name);
    match error.kind() {
        _ if !folder.is_dir() => format!("`{name}` was not started: the folder to run it in is not there"),
        std::io::ErrorKind::NotFound => {
            format!("the program `{name}` is missing; install it, or name it as it is called here")
        }
        std::io::ErrorKind::PermissionDenied => format!("`{name}` may not be run; make it executable"),
        _ => format!("`{name}` cannot be started: {error}"),
    }
}

/// How far a program's end has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Asked,
    Ended,
    /// It cannot be ended, because the system does not let go of it.
    GivenUp,
}

impl Stage {
    fn after(elapsed: Duration, patience: Duration) -> Self {
        match elapsed.checked_sub(patience) {
            None => Stage::Running,
            Some(over) if over < GRACE => Stage::Asked,
            Some(over) if over < GRACE + DEATH => Stage::Ended,
            Some(_) => Stage::GivenUp,
        }
    }

    fn act(self, child: &mut Child) {
        match self {
            Stage::Running => {}
            Stage::Asked => signal_group(child, Signal::Term),
            Stage::Ended | Stage::GivenUp => signal_group(child, Signal::Kill),
        }
    }
}

/// Listens to both streams of a program. They are read beside, because reading knows no time limit; what is read waits
/// for at most sixteen pieces, so that a program that says too much waits, and memory does not fill.
struct Ear {
    pieces: Receiver<(usize, Vec<u8>)>,
    capture: Capture,
}

#[derive(PartialEq, Eq)]
enum Heard {
    Something,
    Nothing,
    /// Both streams are closed. The program may go on.
    End,
}

impl Ear {
    fn new(child: &mut Child, keeps: usize) -> Self {
        let (send, pieces) = mpsc::sync_channel(16);
        if let Some(stdout) = child.stdout.take() {
            listen(stdout, 0, send.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, 1, send);
        }
        Self { pieces, capture: Capture::new(keeps) }
    }

    fn hear(&mut self, patience: Duration) -> Heard {
        match self.pieces.recv_timeout(patience) {
            Ok((stream, bytes)) => {
                self.capture.take(stream, &bytes);
                Heard::Something
            }
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }
}

/// Reads a stream until its end, or until nobody listens any more.
fn listen(mut from: impl Read + Send + 'static, stream: usize, to: SyncSender<(usize, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece) {
                Ok(0) => return,
                Ok(read) if to.send((stream, piece[..read].to_vec())).is_err() => return,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
}

#[derive(Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

/// Whether the leader of the group has ended. It is not waited for: until then its number belongs to nobody else.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(leader) = leader(child) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), options) {
        Ok(ended) => ended.is_some(),
        Err(error) => error != rustix::io::Errno::INTR,
    }
}

#[cfg(unix)]
fn signal_group(child: &mut Child, signal: Signal) {
    use rustix::process::{Signal as Unix, kill_process_group};
    let signal = match signal {
        Signal::Term => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    if let Some(leader) = leader(child) {
        // A group that is gone needs no signal.
        let _ = kill_process_group(leader, signal);
    }
}

#[cfg(unix)]
fn leader(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}

#[cfg(unix)]
fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

#[cfg(not(unix))]
fn signal_group(child: &mut Child, signal: Signal) {
    if matches!(signal, Signal::Kill) {
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
fn signal_of(_: std::process::ExitStatus) -> Option<i32> {
    None
}
