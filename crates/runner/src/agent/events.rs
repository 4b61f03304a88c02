//! What a known agent writes to standard output: events as JSON Lines.
//!
//! They carry whole outputs of commands, so that they are folded as they come and not kept.

use super::invocation::Manner;
use super::usage::Usage;
use super::{claude, codex};
use serde_json::Value;

/// Longer lines are passed over. Only outputs of commands are as long as this.
const LINE_MAX: usize = 4 << 20;

/// What the events said so far.
#[derive(Clone, Debug)]
pub(super) struct Events {
    who: Who,
    rest: Vec<u8>,
    /// Whether the line that is being read is too long.
    skipping: bool,
}

#[derive(Clone, Debug)]
enum Who {
    Claude(claude::Events),
    Codex(codex::Events),
}

impl Events {
    /// For an agent of that manner, if it writes events.
    pub(super) fn of(manner: &Manner) -> Option<Self> {
        let who = match manner {
            Manner::Program => return None,
            Manner::Claude => Who::Claude(claude::Events::default()),
            Manner::Codex { .. } => Who::Codex(codex::Events::default()),
        };
        Some(Self { who, rest: Vec::new(), skipping: false })
    }

    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.skipping |= self.rest.len() + piece.len() > LINE_MAX;
            if self.skipping {
                self.rest.clear();
            } else {
                self.rest.extend_from_slice(piece);
            }
            if pieces.peek().is_some() {
                self.end_line();
            }
        }
    }

    /// A last line need not have an end.
    pub(super) fn finish(&mut self) {
        self.end_line();
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.rest);
        if !std::mem::take(&mut self.skipping)
            && let Ok(event) = serde_json::from_slice::<Value>(&line)
        {
            match &mut self.who {
                Who::Claude(events) => events.fold(event),
                Who::Codex(events) => events.fold(&event),
            }
        }
    }

    /// What was used. None, if no event was seen.
    pub(super) fn usage(&self) -> Option<Usage> {
        match &self.who {
            Who::Claude(events) => events.usage(),
            Who::Codex(events) => events.usage(),
        }
    }

    /// The answer, or why there is none. `last` is what the agent left in a file for it.
    pub(super) fn answer(&self, last: Option<&[u8]>) -> Result<String, String> {
        match &self.who {
            Who::Claude(events) => events.answer(),
            Who::Codex(events) => events.answer(last),
        }
    }
}
