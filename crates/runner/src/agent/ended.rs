//! What is left of an agent when it has ended.

use super::events::Events;
use super::invocation::Manner;
use super::usage::Usage;
use std::time::Duration;

/// How an agent came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which was not ours.
    Signaled(i32),
    /// By us, because the time was over.
    TimedOut,
    /// By us, because it was asked for.
    Stopped,
}

/// What is left of an agent.
#[derive(Debug)]
pub struct Ended {
    /// How it came to its end.
    pub how: How,
    /// The beginning of its standard output. Empty for an agent that writes events; those are folded and not kept.
    pub out: Vec<u8>,
    /// The end of its standard error, without secrets and with control characters made visible.
    pub err_tail: String,
    /// How much it wrote to standard output.
    pub out_bytes: u64,
    /// How much it wrote to standard error.
    pub err_bytes: u64,
    /// Whether standard output is longer than what was kept of it.
    pub overflow: bool,
    /// What it says that it used.
    pub usage: Option<Usage>,
    /// How long it ran.
    pub took: Duration,
    /// How many processes it left behind that had to be ended, its first one not counted if it ended by itself.
    pub leftovers: usize,
    /// How many of them could not be ended.
    pub left: usize,
    pub(super) manner: Manner,
    /// Values of its environment that must not be repeated in what is kept of it.
    pub(super) secrets: Vec<String>,
    /// Of an agent that writes them.
    pub(super) events: Option<Events>,
    pub(super) last: Option<Vec<u8>>,
}
