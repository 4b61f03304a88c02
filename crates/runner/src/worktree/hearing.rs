//! Hearing a program out: both of its pipes to their ends, within a limit of size and of time.
//!
//! Where the system can wait for several pipes at once that is done without a thread: git is called a dozen times for each
//! task, and to make two threads takes a good part of the time in which it answers.

use std::io::Read;
use std::process::Child;
use std::time::{Duration, Instant};

/// How long the rest of a complaint is waited for, once there is an answer and the program has ended: something that it
/// left behind may hold the pipe, and what was said so far is enough.
const REST: Duration = Duration::from_millis(500);

/// What came out of a pipe.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What was within the limit.
    pub(super) kept: Vec<u8>,
    /// Whether that is all.
    pub(super) is_whole: bool,
}

/// It took too long.
#[derive(Debug)]
pub(super) struct TooLong;

/// Reads the answer of a program to its end, and what it complains of.
#[cfg(unix)]
pub(super) fn hear(child: &mut Child, most: (u64, u64), until: Instant) -> Result<(Heard, Heard), TooLong> {
    let mut out = Pipe::new(child.stdout.take(), most.0);
    let mut err = Pipe::new(child.stderr.take(), most.1);
    while out.is_open() || err.is_open() {
        let left = until.saturating_duration_since(Instant::now());
        let is_answered = !out.is_open();
        let heard = read_some(&mut out, &mut err, if is_answered { left.min(REST) } else { left });
        if left.is_zero() || heard.is_err() {
            return Err(TooLong);
        }
        // Nobody says anything, although nobody is left to go on.
        if is_answered && heard == Ok(false) && !matches!(child.try_wait(), Ok(None)) {
            break;
        }
    }
    Ok((out.heard, err.heard))
}

/// Waits until there is something to read, and reads it. Says whether there was.
#[cfg(unix)]
fn read_some<O: Read + AsFd, E: Read + AsFd>(
    out: &mut Pipe<O>,
    err: &mut Pipe<E>,
    within: Duration,
) -> Result<bool, rustix::io::Errno> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let (out_there, err_there) = {
        let fds = [out.from.as_ref().map(AsFd::as_fd), err.from.as_ref().map(AsFd::as_fd)];
        let mut asked: Vec<PollFd<'_>> =
            fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let within = Timespec::try_from(within).map_err(|_| rustix::io::Errno::INVAL)?;
        match poll(&mut asked, Some(&within)) {
            Err(rustix::io::Errno::INTR) => return Ok(true),
            found => found?,
        };
        let mut there = asked.iter().map(|it| !it.revents().is_empty());
        (fds[0].is_some() && there.next() == Some(true), fds[1].is_some() && there.next() == Some(true))
    };
    if out_there {
        out.read();
    }
    if err_there {
        err.read();
    }
    Ok(out_there || err_there)
}

/// A pipe that is read.
#[cfg(unix)]
struct Pipe<R> {
    /// None, when it has come to its end.
    from: Option<R>,
    heard: Heard,
    most: usize,
}

#[cfg(unix)]
impl<R: Read> Pipe<R> {
    fn new(from: Option<R>, most: u64) -> Self {
        let heard = Heard { kept: Vec::new(), is_whole: true };
        Self { from, heard, most: usize::try_from(most).unwrap_or(usize::MAX) }
    }

    fn is_open(&self) -> bool {
        self.from.is_some()
    }

    /// Reads what is there. What is beyond the limit is thrown away.
    fn read(&mut self) {
        let mut piece = [0; 16 << 10];
        let Some(from) = &mut self.from else { return };
        match from.read(&mut piece) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => self.from = None,
            Ok(length) => {
                let room = self.most.saturating_sub(self.heard.kept.len()).min(length);
                self.heard.kept.extend_from_slice(piece.get(..room).unwrap_or_default());
                self.heard.is_whole &= room == length;
            }
        }
    }
}

#[cfg(unix)]
use std::os::fd::AsFd;

/// Reads both beside, each in a thread.
#[cfg(not(unix))]
pub(super) fn hear(child: &mut Child, most: (u64, u64), until: Instant) -> Result<(Heard, Heard), TooLong> {
    use std::sync::mpsc;
    fn read(pipe: Option<impl Read + Send + 'static>, most: u64) -> mpsc::Receiver<Heard> {
        let (send, receive) = mpsc::channel();
        if let Some(mut pipe) = pipe {
            std::thread::spawn(move || {
                let mut kept = Vec::new();
                let _ = Read::by_ref(&mut pipe).take(most).read_to_end(&mut kept);
                let rest = std::io::copy(&mut pipe, &mut std::io::sink()).unwrap_or(0);
                let _ = send.send(Heard { kept, is_whole: rest == 0 });
            });
        }
        receive
    }
    let (out, err) = (read(child.stdout.take(), most.0), read(child.stderr.take(), most.1));
    let out = out.recv_timeout(until.saturating_duration_since(Instant::now())).map_err(|_| TooLong)?;
    let _ = child.wait();
    Ok((out, err.recv_timeout(REST).unwrap_or_default()))
}
