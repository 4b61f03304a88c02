//! A program that makes texts shorter.

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a summariser may take for one text.
const SUMMARIZER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long its output is waited for when it has ended. What it wrote is there; only a process that left its group can
/// still hold the output open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long is waited between two looks whether it has ended; at first less.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// How many bytes of its answer are read.
const SUMMARY_MAX: u64 = 1 << 20;

/// A program that makes texts shorter, and where it runs.
#[derive(Debug, Clone, Default)]
pub struct Summarizer {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Where it stands; where we do, if nothing is said.
    pub folder: Option<PathBuf>,
    /// All that it sees of the environment. Whoever typed the command has it run in their own, which is none here.
    pub variables: Option<Vec<(OsString, OsString)>>,
}

impl Summarizer {
    /// One that a person typed; its words are passed on as they are, without a shell.
    pub fn typed(words: &[String]) -> Self {
        Self { words: words.to_vec(), ..Self::default() }
    }

    fn command(&self) -> anyhow::Result<Command> {
        let (program, words) = self.words.split_first().context("the command is empty")?;
        let mut command = Command::new(program);
        command.args(words);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        if let Some(variables) = &self.variables {
            command.env_clear().envs(variables.iter().cloned());
        }
        Ok(command)
    }
}

/// Runs the summariser: the text on its standard input, the length it should keep to in `COUNTERSIGN_LENGTH`. It runs in a
/// process group of its own, and when it ends, or takes too long, whatever it started in that group is ended with it.
pub fn summarized(by: &Summarizer, text: &str, length: usize) -> anyhow::Result<String> {
    let mut command = by.command()?;
    command.env("COUNTERSIGN_LENGTH", length.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child =
        command.spawn().with_context(|| format!("`{}` cannot be started", command.get_program().to_string_lossy()))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (sender, receiver) = mpsc::channel();
    if let (Some(mut stdin), Some(mut stdout)) = (stdin, stdout) {
        let text = text.to_owned();
        // One that does not read its input closes it early.
        std::thread::spawn(move || stdin.write_all(text.as_bytes()));
        std::thread::spawn(move || {
            let mut out = Vec::new();
            let read = stdout.by_ref().take(SUMMARY_MAX).read_to_end(&mut out);
            let _ = sender.send(read.map(|_| out));
        });
    }
    let in_time = wait(&mut child, Instant::now() + SUMMARIZER_TIMEOUT);
    // Before it is laid to rest: until then its number, which is the group's, is nobody else's.
    end_group(&mut child);
    let status = child.wait()?;
    if !in_time? {
        bail!("it took longer than {} s", SUMMARIZER_TIMEOUT.as_secs());
    }
    if !status.success() {
        bail!("it ended with {status}");
    }
    let out = receiver.recv_timeout(OUTPUT_TIMEOUT);
    let out = out.map_err(|_| anyhow::anyhow!("a process that it left behind holds its output open"))??;
    Ok(String::from_utf8(out).context("its output is not UTF-8")?.trim().to_owned())
}

/// Whether the program ended by itself before a time.
fn wait(child: &mut Child, until: Instant) -> anyhow::Result<bool> {
    let mut pause = Duration::from_millis(1);
    while !has_ended(child)? {
        if Instant::now() >= until {
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = PAUSE_MAX.min(pause * 2);
    }
    Ok(true)
}

/// Whether the program has ended, without laying it to rest.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> anyhow::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(status) => Ok(status.is_some()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error).context("whether it has ended cannot be seen"),
    }
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> anyhow::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends the program, if it has not ended, and everyone who is left in its group.
fn end_group(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    let _ = child.kill();
}
