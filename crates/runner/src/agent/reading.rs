//! Reading the pipes of an agent: everything is read, so that it is never blocked; only so much is kept.

use super::events::Events;
use super::lines::{self, Lines};
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much is read at a time.
const PIECE: usize = 1 << 16;

/// What a reader has read so far. It is shared, because a reader may never come to its end: whoever holds the other end
/// of the pipe decides about that.
#[derive(Debug)]
pub(super) struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Standard output: its beginning, and what the events in it say.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub(super) kept: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) events: Option<Events>,
}

/// Standard error: its end.
#[derive(Debug, Default)]
pub(super) struct Err {
    kept: Vec<u8>,
    pub(super) bytes: u64,
}

impl Err {
    pub(super) fn tail(&self, secrets: &[String]) -> String {
        lines::tail(&self.kept, self.kept.len() as u64 == self.bytes, secrets)
    }
}

pub(super) fn out(pipe: impl Read, max: usize, shared: &Shared<Out>) {
    each_piece(pipe, |piece| {
        let mut out = shared.lock();
        out.bytes += piece.len() as u64;
        if let Some(events) = &mut out.events {
            events.feed(piece);
        } else {
            let room = max.saturating_sub(out.kept.len()).min(piece.len());
            out.kept.extend_from_slice(&piece[..room]);
        }
    });
    if let Some(events) = &mut shared.lock().events {
        events.finish();
    }
}

pub(super) fn err(pipe: impl Read, max: usize, shared: &Shared<Err>, mut lines: Lines, hand: &mut dyn FnMut(String)) {
    each_piece(pipe, |piece| {
        lines.feed(piece, hand);
        let mut err = shared.lock();
        err.bytes += piece.len() as u64;
        err.kept.extend_from_slice(&piece[piece.len().saturating_sub(max)..]);
        // Seldom, so that little is moved.
        if err.kept.len() > max.saturating_mul(2) {
            let beyond = err.kept.len() - max;
            err.kept.drain(..beyond);
        }
    });
    let mut err = shared.lock();
    let beyond = err.kept.len().saturating_sub(max);
    err.kept.drain(..beyond);
    drop(err);
    lines.finish(hand);
}

fn each_piece(mut pipe: impl Read, mut with: impl FnMut(&[u8])) {
    let mut piece = vec![0; PIECE];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => with(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
