//! Whether an agent that works is alive.

use super::Run;
use super::attempt::Attempt;
use crate::agent::{Pulse, Stop};
use serde_json::json;
use std::time::{Duration, Instant};

/// For how many timeouts output counts as a sign of life.
const TALK_MAX: u32 = 12;

/// Whether an agent is alive: output is a sign, and so is a heartbeat of its own. Silence beyond the timeout ends it.
pub(super) struct Life<'r, 'a> {
    run: &'r Run<'a>,
    attempt: &'r Attempt<'r>,
    pub(super) timeout: Duration,
    bytes: u64,
    /// When it gave the last sign that we know of.
    sign: Instant,
    /// When the ledger was told of one.
    told: Instant,
    pub(super) silent: bool,
}

impl<'r, 'a> Life<'r, 'a> {
    pub(super) fn new(run: &'r Run<'a>, attempt: &'r Attempt<'r>, timeout: Duration) -> Self {
        let now = Instant::now();
        Self { run, attempt, timeout, bytes: 0, sign: now, told: now, silent: false }
    }

    pub(super) fn pulse(&mut self, pulse: &Pulse<'_>, stop: &Stop) {
        if stop.is_asked() {
            return;
        }
        let bytes = pulse.out_bytes + pulse.err_bytes;
        // Talk is no sign for ever: at last it takes a heartbeat of the agent's own.
        if bytes != self.bytes && pulse.elapsed < self.timeout * TALK_MAX {
            self.bytes = bytes;
            self.sign = Instant::now();
        }
        // A quarter of the time is early enough, and seldom enough.
        if self.sign > self.told && self.told.elapsed() >= self.timeout / 4 {
            self.tell();
        }
        if self.sign.elapsed() >= self.timeout && !self.gave_a_sign_itself() {
            self.silent = true;
            stop.stop();
        }
    }

    fn tell(&mut self) {
        let mut request = self.run.desk.of_task(self.attempt.task());
        request["lease"] = json!(self.attempt.lease);
        if self.run.desk.ask_as(self.attempt.worker(), None, "task.heartbeat", &request).is_ok() {
            self.told = Instant::now();
        }
    }

    /// Whether the agent has given a sign to the ledger meanwhile, so that its lease lasts on.
    fn gave_a_sign_itself(&mut self) -> bool {
        let shown = self.run.desk.look("task.show", &self.run.desk.of_task(self.attempt.task())).unwrap_or_default();
        let beat: Option<jiff::Timestamp> = shown["task"]["last_heartbeat_at"].as_str().and_then(|it| it.parse().ok());
        let age = beat.map(|beat| jiff::Timestamp::now().duration_since(beat));
        let age = age.and_then(|age| Duration::try_from(age).ok()).unwrap_or(Duration::MAX);
        let is_held = shown["lease"].as_u64() == Some(self.attempt.lease);
        let alive = is_held && age < self.timeout;
        if alive {
            self.sign = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        }
        alive
    }
}
