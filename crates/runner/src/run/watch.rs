//! What is told to whoever looks on.

use super::Spent;
use crate::evidence::Status;
use std::time::Duration;

/// Something that has happened in a run.
#[derive(Debug, Clone, Copy)]
pub enum Note<'a> {
    /// The run is carried out from here on, and by nobody else.
    Led,
    /// Something that whoever begins should know, before anybody works.
    Told { text: &'a str },
    /// An agent works on a task.
    Begun { task: &'a str, agent: &'a str, attempt: u64, lease: u64 },
    /// A peer is waited for: what it is to do.
    Awaited { task: &'a str, peer: &'a str, what: &'a str },
    /// An agent wrote a line to standard error.
    Said { task: &'a str, line: &'a str },
    /// An agent has ended.
    Ended { task: &'a str, how: &'a str, took: Duration },
    /// A result was brought, and is a claim from here on.
    Claimed { task: &'a str, changes: usize },
    /// Evidence was collected.
    Seen { task: &'a str, criterion: &'a str, kind: &'a str, status: Status, says: &'a str },
    /// Somebody validated: what counts of it, and what they said. Where they found nothing wrong and did not speak to all, to
    /// which criteria they did; and which nobody has shown to hold so far.
    Validated {
        task: &'a str,
        validator: &'a str,
        verdict: &'a str,
        said: &'a str,
        only: &'a [String],
        open: &'a [String],
    },
    /// Somebody judged.
    Judged { task: &'a str, by: &'a str, verdict: &'a str },
    /// Work that passed its gates waits while another task lands.
    Queued { task: &'a str, behind: &'a str },
    /// Work became part of the tree.
    Landed { task: &'a str, commit: &'a str },
    /// A platform action was answered.
    Answered { task: &'a str, instruction: &'a str, status: &'a str, entry: &'a str },
    /// A handoff to another task was made: how many tokens it had, has and may have, what was taken out, and where that is.
    Handing {
        task: &'a str,
        to: &'a str,
        was: usize,
        tokens: usize,
        most: usize,
        taken: &'a [String],
        kept_at: Option<&'a str>,
    },
    /// A handoff to another task was sent.
    Handed { task: &'a str, to: &'a str, step: u64 },
    /// A handoff from another task arrived as it was sent: its number in its trace, and the hash that was verified.
    Received { task: &'a str, from: &'a str, step: u64, hash: &'a str },
    /// A task is done.
    Done { task: &'a str, assurance: &'a str },
    /// A task will be tried again.
    Again { task: &'a str, reason: &'a str },
    /// A task waits for a person.
    Stopped { task: &'a str, reason: &'a str },
    /// Something that somebody should know.
    Flag { task: &'a str, text: &'a str },
    /// What was left by an earlier runner was dealt with.
    Recovered { task: &'a str, what: &'a str },
    /// What an earlier runner left and belongs to no task any more was dealt with.
    Swept { what: &'a str },
    /// Only people can go on with it.
    Waiting { tasks: &'a [String] },
    /// Time went by.
    Tick { spent: &'a Spent },
}

/// Who looks on at a run. Called from many threads.
pub trait Watch: Sync {
    /// Something has happened.
    fn note(&self, note: &Note<'_>);
}
