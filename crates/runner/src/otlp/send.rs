//! Sending spans until they are taken, refused, or the one who waits has had enough.

use super::answer::{Heard, heard};
use super::line::post;
use super::settings::Settings;
use super::span::Span;
use jiff::Timestamp;
use std::time::Duration;

/// How many spans go into one request.
const BATCH: usize = 512;
/// The first wait where the collector does not say how long; each is twice the one before.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The longest that a collector is left alone because it asks for it.
const ASKED_MAX: Duration = Duration::from_secs(600);

/// Whoever sends, and how much time they have.
pub(super) trait Pace {
    /// How long the next request may take; none, if there is to be no next one.
    fn patience(&mut self) -> Option<Duration>;
    /// Waits before the next attempt. False, if there is to be none.
    fn wait(&mut self, pause: Duration) -> bool;
}

/// What came of sending.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sent {
    /// How many spans were taken.
    pub taken: u64,
    /// How many were rejected, and will be again.
    pub rejected: u64,
    /// Why, in the collector's words or ours.
    pub why: Option<String>,
}

/// Sends spans in batches. An error says why they could not be delivered; they may be sent again.
pub(super) fn send(settings: &Settings, spans: &[Span], pace: &mut dyn Pace) -> Result<Sent, String> {
    let mut sent = Sent::default();
    for batch in spans.chunks(BATCH) {
        let count = batch.len() as u64;
        let (rejected, why) = match deliver(settings, batch, pace)? {
            Ok(None) => (0, None),
            Ok(Some((rejected, why))) => (rejected.min(count), Some(why)),
            Err(why) => (count, Some(why)),
        };
        sent.taken += count - rejected;
        sent.rejected += rejected;
        sent.why = sent.why.or(why);
    }
    Ok(sent)
}

/// What was rejected of a batch, and why.
type Rejected = Option<(u64, String)>;

/// Sends one batch until there is an answer that lasts.
fn deliver(settings: &Settings, batch: &[Span], pace: &mut dyn Pace) -> Result<Result<Rejected, String>, String> {
    let (form, body) = settings.request(batch);
    let mut pause = PAUSE;
    let mut last = "there was no time for it".to_owned();
    loop {
        let Some(patience) = pace.patience() else { return Err(last) };
        let now = Timestamp::now();
        match heard(post(settings, form, &body, patience), settings.protocol, now) {
            Heard::Taken => return Ok(Ok(None)),
            Heard::Partly { rejected, why } => return Ok(Ok(Some((rejected, why)))),
            Heard::Never(why) => return Ok(Err(why)),
            Heard::Later { after, why } => {
                let wait = after.map_or_else(|| jittered(pause, now), |after| after.min(ASKED_MAX));
                if !pace.wait(wait) {
                    return Err(why);
                }
                pause = (pause * 2).min(PAUSE_MAX);
                last = why;
            }
        }
    }
}

/// A little less than a pause, by chance, so that many who wait do not come back together.
fn jittered(pause: Duration, now: Timestamp) -> Duration {
    let chance = now.subsec_nanosecond().unsigned_abs() / 1_000 % 500;
    pause - pause * chance / 1_000
}

/// Somebody who waits at a terminal.
struct Person {
    timeout: Duration,
    attempts: u32,
}

/// How often a person's spans are sent, and how long they wait between.
const ATTEMPTS_MAX: u32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(30);

impl Pace for Person {
    fn patience(&mut self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn wait(&mut self, pause: Duration) -> bool {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS_MAX || pause > WAIT_MAX {
            return false;
        }
        std::thread::sleep(pause);
        true
    }
}

/// Sends spans now, for somebody who waits for it.
pub fn send_all(settings: &Settings, spans: &[Span]) -> Result<Sent, String> {
    send(settings, spans, &mut Person { timeout: settings.timeout, attempts: 0 })
}
