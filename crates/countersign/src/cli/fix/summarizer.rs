//! A program of the user's that makes texts shorter.

use anyhow::{Context, bail};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a summariser may take for one text.
const SUMMARIZER_TIMEOUT: Duration = Duration::from_secs(60);
/// How many bytes of its answer are read.
const SUMMARY_MAX: u64 = 1 << 20;

/// Runs the summariser: the text on its standard input, the length it should keep to in `COUNTERSIGN_LENGTH`. The words
/// of the command come from the person who typed them and are passed on as they are, without a shell.
pub(super) fn summarized(command: &str, text: &str, length: usize) -> anyhow::Result<String> {
    let mut words = command.split_whitespace();
    let program = words.next().context("the command is empty")?;
    let mut child = Command::new(program)
        .args(words)
        .env("COUNTERSIGN_LENGTH", length.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let mut stdout = child.stdout.take().context("no standard output")?;
    let text = text.to_owned();
    std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut out = Vec::new();
        let read = stdout.by_ref().take(SUMMARY_MAX).read_to_end(&mut out);
        let _ = sender.send(read.map(|_| out));
    });
    // Output ends when everyone who holds it has gone; a command that leaves someone behind must not hold us.
    let out = receiver.recv_timeout(SUMMARIZER_TIMEOUT);
    if out.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let out = out.map_err(|_| anyhow::anyhow!("it took longer than {} s", SUMMARIZER_TIMEOUT.as_secs()))??;
    if !status.success() {
        bail!("it ended with {status}");
    }
    Ok(String::from_utf8(out).context("its output is not UTF-8")?.trim().to_owned())
}
