//! A program that makes texts shorter.

use crate::agent::Stop;
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long a summariser may take for one text.
const SUMMARIZER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long its output is waited for when it has ended. What it wrote is there; only a process that left its group can
/// still hold the output open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long is waited between two looks whether it has ended; at first less.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// How long it may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);
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
    /// Whether it took too long once.
    is_too_slow: Arc<AtomicBool>,
    /// Has it end at once when somebody asks for it.
    stop: Stop,
}

impl Summarizer {
    /// One that a person typed; its words are passed on as they are, without a shell.
    pub fn typed(words: &[String]) -> Self {
        Self { words: words.to_vec(), ..Self::default() }
    }

    /// One that runs in a folder and sees nothing of the environment but `variables`.
    pub fn cleaned(words: Vec<String>, folder: PathBuf, variables: Vec<(OsString, OsString)>) -> Self {
        Self { words, folder: Some(folder), variables: Some(variables), ..Self::default() }
    }

    /// The same, ended at once when it is asked for: in a group of its own it would not hear of a signal that is meant for us.
    #[must_use]
    pub fn stopped_by(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Whether its end was asked for. What is made without it then is not what was wanted.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Whether it took too long for a text. Every other text would be waited for as long.
    pub fn is_too_slow(&self) -> bool {
        self.is_too_slow.load(Ordering::Relaxed)
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
/// process group of its own, and when it ends, takes too long or is stopped, whatever it started in that group is ended with it:
/// politely, and then for good.
pub fn summarized(by: &Summarizer, text: &str, length: usize) -> anyhow::Result<String> {
    summarized_within(by, text, length, SUMMARIZER_TIMEOUT)
}

fn summarized_within(by: &Summarizer, text: &str, length: usize, most: Duration) -> anyhow::Result<String> {
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
    let in_time = wait(&mut child, Instant::now() + most, &by.stop);
    // Before it is laid to rest: until then its number, which is the group's, is nobody else's.
    end_group(&mut child, matches!(in_time, Ok(true)));
    let status = child.wait()?;
    if by.is_stopped() {
        bail!("it was stopped");
    }
    if !in_time? {
        by.is_too_slow.store(true, Ordering::Relaxed);
        bail!("it took longer than {} s, and is not asked again", most.as_secs());
    }
    if !status.success() {
        bail!("it ended with {status}");
    }
    let out = receiver.recv_timeout(OUTPUT_TIMEOUT);
    let out = out.map_err(|_| anyhow::anyhow!("a process that it left behind holds its output open"))??;
    Ok(String::from_utf8(out).context("its output is not UTF-8")?.trim().to_owned())
}

/// Whether the program ended by itself before a time.
fn wait(child: &mut Child, until: Instant, stop: &Stop) -> anyhow::Result<bool> {
    let mut pause = Duration::from_millis(1);
    while !has_ended(child)? {
        if Instant::now() >= until || stop.is_asked() {
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

/// Asks the program to end, if it has not, and its group with it; then ends everyone who is left there.
#[cfg(unix)]
fn end_group(child: &mut Child, has_ended: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = Pid::from_child(child);
    if !has_ended {
        let _ = kill_process_group(group, Signal::TERM);
        let _ = wait(child, Instant::now() + GRACE, &Stop::default());
    }
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(not(unix))]
fn end_group(child: &mut Child, _: bool) {
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn one_that_took_too_long_is_known_for_it() {
        let slow = Summarizer::typed(&["sleep".to_owned(), "100".to_owned()]);
        let quick = Summarizer::typed(&["head".to_owned(), "-c".to_owned(), "4".to_owned()]);
        assert!(summarized_within(&slow, "a long text", 4, Duration::from_millis(50)).is_err());
        assert!(slow.is_too_slow() && slow.clone().is_too_slow());
        assert_eq!(summarized(&quick, "a long text", 4).ok().as_deref(), Some("a lo"));
        assert!(!quick.is_too_slow());
    }
}
