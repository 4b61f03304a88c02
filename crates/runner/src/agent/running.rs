//! An agent that runs.

use super::Limits;
use super::ended::{Ended, How};
use super::ending::{self, Outcome};
use super::events::Events;
use super::invocation::{Invocation, Manner};
use super::lines::Lines;
use super::mark::Mark;
use super::processes::{self, Family};
use super::reading::{self, Err, Out, Shared};
use crate::groups::Group;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How soon a wish to stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// How long is waited for the rest of the output when nobody should be left to write any.
const REST: Duration = Duration::from_millis(1_000);

/// A wish that agents stop. Clones are one wish.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    /// The wish that holds for this one's agents, too.
    above: Option<Arc<Stop>>,
}

impl Stop {
    /// Asks all who wait with it to stop.
    pub fn stop(&self) {
        self.own.store(true, Ordering::SeqCst);
    }

    /// Whether it was asked.
    pub fn is_asked(&self) -> bool {
        self.own.load(Ordering::SeqCst) || self.above.as_ref().is_some_and(|above| above.is_asked())
    }

    /// A wish for some of those who stop with this one: they can be asked alone.
    #[must_use]
    pub fn for_some(&self) -> Self {
        Self { own: Arc::default(), above: Some(Arc::new(self.clone())) }
    }
}

/// A sign of life.
#[derive(Clone, Copy, Debug)]
pub struct Pulse<'a> {
    /// How long the agent has been running.
    pub elapsed: Duration,
    /// How much it has written to standard output so far.
    pub out_bytes: u64,
    /// How much it has written to standard error so far.
    pub err_bytes: u64,
    /// A line of standard error, fit to be kept. None, when it is only time for a sign.
    pub line: Option<&'a str>,
}

enum Note {
    Exited,
    Line(String),
    OutDone,
    ErrDone,
}

/// An agent that runs. Dropped without waiting, it is ended for good.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
    group: Option<Group>,
    mark: Mark,
    manner: Manner,
    secrets: Vec<String>,
    limits: Limits,
    since: Instant,
    out: Shared<Out>,
    err: Shared<Err>,
    notes: Receiver<Note>,
}

impl Running {
    pub(super) fn new(
        mut child: Child,
        call: Invocation,
        secrets: Vec<String>,
        attempt: String,
        limits: Limits,
    ) -> Self {
        let group = Some(Group::of(child.id()));
        // Until it is waited for, its number cannot be anybody else's.
        let start_time = processes::process(child.id()).map_or(0, |process| process.since);
        let mark = Mark { pid: child.id(), start_time, boot_id: processes::boot().unwrap_or_default(), attempt };
        let events = Events::of(&call.manner);
        let (out, err) = (Shared::new(Out { events, ..Out::default() }), Shared::new(Err::default()));
        let (send, notes) = mpsc::channel();
        if let Some(mut stdin) = child.stdin.take() {
            let input = call.input;
            // Beside, because an agent need not read it.
            std::thread::spawn(move || stdin.write_all(&input));
        }
        if let Some(pipe) = child.stdout.take() {
            read_out(pipe, limits, out.clone(), send.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            let lines = Lines::new(secrets.clone(), limits.line_max, limits.lines_max);
            read_err(pipe, limits, err.clone(), lines, send.clone());
        }
        notice_end(&child, send);
        let child = Some(child);
        Self { child, group, mark, manner: call.manner, secrets, limits, since: Instant::now(), out, err, notes }
    }

    /// What to record before waiting.
    pub fn mark(&self) -> Mark {
        self.mark.clone()
    }

    /// Waits until the agent has ended, or ends it when it is asked to or the time is over. When this returns, nothing
    /// that the agent started is left, save what `left` counts.
    pub fn wait(mut self, stop: &Stop, deadline: Option<Instant>, beat: &mut dyn FnMut(&Pulse)) -> Ended {
        let mut open = 2;
        let cut = self.until_end(stop, deadline, &mut open, beat);
        let outcome = ending::end(&self.family(), self.limits.grace);
        self.group = None;
        let status = self.child.take().and_then(|child| reap(child, &outcome));
        let took = self.since.elapsed();
        self.rest(open, beat);
        let how = cut.unwrap_or_else(|| match status {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => How::Exited(code),
                (None, signal) => How::Signaled(signal.unwrap_or(0)),
            },
            // It cannot be ended, or somebody else has waited for it: how it ended is not known, so it did not end well.
            None => How::Exited(-1),
        });
        self.ended(how, took, outcome)
    }

    /// Until it has ended by itself: then none; or until it must be ended, and why.
    fn until_end(
        &self,
        stop: &Stop,
        deadline: Option<Instant>,
        open: &mut usize,
        beat: &mut dyn FnMut(&Pulse),
    ) -> Option<How> {
        let mut next = Instant::now() + self.limits.beat;
        loop {
            let now = Instant::now();
            if stop.is_asked() {
                return Some(How::Stopped);
            }
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Some(How::TimedOut);
            }
            if now >= next {
                next = now + self.limits.beat;
                self.pulse(None, beat);
            }
            let until = [Some(next), deadline].into_iter().flatten().map(|at| at.saturating_duration_since(now)).min();
            match self.notes.recv_timeout(until.unwrap_or(TICK).min(TICK)) {
                Ok(Note::Exited) => return None,
                Ok(Note::Line(line)) => self.pulse(Some(&line), beat),
                Ok(Note::OutDone | Note::ErrDone) => *open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                // Nobody is left who could tell of the end.
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// What was still on its way when it ended.
    fn rest(&self, mut open: usize, beat: &mut dyn FnMut(&Pulse)) {
        let until = Instant::now() + REST;
        while open > 0 {
            match self.notes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Note::Line(line)) => self.pulse(Some(&line), beat),
                Ok(Note::OutDone | Note::ErrDone) => open -= 1,
                Ok(Note::Exited) => {}
                Err(_) => return,
            }
        }
    }

    fn pulse(&self, line: Option<&str>, beat: &mut dyn FnMut(&Pulse)) {
        let (out_bytes, err_bytes) = (self.out.lock().bytes, self.err.lock().bytes);
        beat(&Pulse { elapsed: self.since.elapsed(), out_bytes, err_bytes, line });
    }

    fn ended(&mut self, how: How, took: Duration, outcome: Outcome) -> Ended {
        let (out, out_bytes, events) = {
            let mut out = self.out.lock();
            (std::mem::take(&mut out.kept), out.bytes, out.events.clone())
        };
        let (err_tail, err_bytes) = {
            let err = self.err.lock();
            (err.tail(&self.secrets), err.bytes)
        };
        let usage = events.as_ref().and_then(Events::usage);
        let last = match &self.manner {
            Manner::Codex { last } => read_at_most(last, self.limits.out_max),
            _ => None,
        };
        let overflow = events.is_none() && out_bytes > out.len() as u64;
        Ended {
            how,
            out,
            err_tail,
            out_bytes,
            err_bytes,
            overflow,
            usage,
            took,
            leftovers: outcome.found,
            left: outcome.left,
            manner: self.manner.clone(),
            secrets: std::mem::take(&mut self.secrets),
            events,
            last,
        }
    }

    fn family(&self) -> Family<'_> {
        let Mark { pid, start_time, attempt, .. } = &self.mark;
        Family { leader: *pid, since: *start_time, attempt, is_held: self.child.is_some() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.is_some() {
            let outcome = ending::end(&self.family(), Duration::ZERO);
            self.group = None;
            self.child.take().and_then(|child| reap(child, &outcome));
        }
    }
}

/// Takes note of the end. One that cannot be ended, such as one that waits for a broken disk, is not waited for.
fn reap(mut child: Child, outcome: &Outcome) -> Option<ExitStatus> {
    if outcome.left > 0 { child.try_wait().ok().flatten() } else { child.wait().ok() }
}

fn read_out(pipe: impl Read + Send + 'static, limits: Limits, out: Shared<Out>, send: Sender<Note>) {
    std::thread::spawn(move || {
        reading::out(pipe, limits.out_max, &out);
        let _ = send.send(Note::OutDone);
    });
}

fn read_err(pipe: impl Read + Send + 'static, limits: Limits, err: Shared<Err>, lines: Lines, send: Sender<Note>) {
    std::thread::spawn(move || {
        reading::err(pipe, limits.err_max, &err, lines, &mut |line| {
            let _ = send.send(Note::Line(line));
        });
        let _ = send.send(Note::ErrDone);
    });
}

/// Tells of the end without taking note of it for the system: the number of the process, and so that of its group,
/// stays taken until everything that belongs to it is ended.
fn notice_end(child: &Child, send: Sender<Note>) {
    let pid = Pid::from_child(child);
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        let _ = send.send(Note::Exited);
    });
}

/// A file, unless it is longer than that; then it does not count.
fn read_at_most(path: &std::path::Path, max: usize) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(max as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes).filter(|bytes| bytes.len() <= max)
}
