//! Running another program: as a list of arguments, for a limited time, with limited output.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// How much a program may say.
const OUTPUT_MAX: u64 = 64 << 20;

/// What a program said and whether it was content.
#[derive(Debug)]
pub struct Said {
    /// Whether it ended with zero.
    pub ok: bool,
    /// What it wrote to standard output.
    pub out: Vec<u8>,
}

/// Runs a program to its end, with some input. None, if it cannot be run, is not done in time or says too much; then it is
/// ended.
pub fn run(mut command: Command, input: &[u8], until: Instant) -> Option<Said> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // One that does not read its input closes it early.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let mut stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    // The pipe is read beside, because reading it knows no time limit.
    std::thread::spawn(move || {
        let mut out = Vec::new();
        let read = Read::by_ref(&mut stdout).take(OUTPUT_MAX + 1).read_to_end(&mut out);
        let _ = send.send(read.ok().map(|_| out));
    });
    let out = receive.recv_timeout(until.saturating_duration_since(Instant::now()));
    let out = out.ok().flatten().filter(|out| out.len() as u64 <= OUTPUT_MAX);
    if out.is_none() {
        let _ = child.kill();
    }
    let ended = child.wait().ok()?;
    Some(Said { ok: ended.success(), out: out? })
}
