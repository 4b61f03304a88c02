//! A process that is asked again and again.

use crate::worktree::call::end;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a line may be.
const LINE_MAX: usize = 4 << 10;
/// How long an answer may be.
const BYTES_MAX: usize = 64 << 20;

/// A process that is kept open. It ends when nobody can ask it any more.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    /// What was read and not yet asked for.
    ahead: Vec<u8>,
}

impl Process {
    pub(super) fn start(mut command: Command) -> Option<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let (to, from) = (child.stdin.take(), child.stdout.take()?);
        Some(Self { child, to, from, ahead: Vec::new() })
    }

    pub(super) fn say(&mut self, bytes: &[u8]) -> Option<()> {
        self.to.as_mut()?.write_all(bytes).ok()
    }

    /// The next line, without its end.
    pub(super) fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.ahead) {
                let line: Vec<u8> = self.ahead.drain(..=end).take(end).collect();
                return String::from_utf8(line).ok();
            }
            if self.ahead.len() > LINE_MAX {
                return None;
            }
            self.read()?;
        }
    }

    /// As many bytes as that.
    pub(super) fn bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        if length > BYTES_MAX {
            return None;
        }
        while self.ahead.len() < length {
            self.read()?;
        }
        Some(self.ahead.drain(..length).collect())
    }

    fn read(&mut self) -> Option<()> {
        let mut piece = [0; 16 << 10];
        loop {
            if !is_there(&self.from) {
                return None;
            }
            match self.from.read(&mut piece) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return None,
                Ok(length) => {
                    self.ahead.extend_from_slice(piece.get(..length)?);
                    return Some(());
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.to.take());
        // It has nothing to do by now, and nothing to lose.
        end(&mut self.child);
    }
}

/// Waits until there is something to read.
#[cfg(unix)]
fn is_there(from: &ChildStdout) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Ok(within) = Timespec::try_from(PATIENCE) else { return false };
    loop {
        match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&within)) {
            Err(rustix::io::Errno::INTR) => {}
            found => return found.is_ok_and(|found| found > 0),
        }
    }
}

/// Where that cannot be known, nobody is asked.
#[cfg(not(unix))]
fn is_there(_: &ChildStdout) -> bool {
    let _ = PATIENCE;
    false
}
