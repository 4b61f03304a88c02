//! Sending what ends, as it ends: a thread that follows the log beside the work, and that nothing waits for.

use super::cursor::Cursor;
use super::read::Reader;
use super::send::{Pace, Sent, send};
use super::settings::Settings;
use super::span::Span;
use countersign_engine::Engine;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long spans are gathered before they are sent together.
const GATHER: Duration = Duration::from_secs(1);
/// How many are sent without waiting for more.
const ENOUGH: usize = 512;
/// How long the log is listened to before it is seen whether to end.
const LISTEN: Duration = Duration::from_millis(100);
/// How long after a fault it is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last spans may take when the work is over.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Whoever is told when something is amiss.
pub type Say = Box<dyn Fn(&str) + Send>;

/// A thread that sends what ends.
pub struct Exporter {
    stop: Arc<Stop>,
    over: Receiver<()>,
    url: String,
}

/// When the thread is to end.
#[derive(Default)]
struct Stop {
    by: Mutex<Option<Instant>>,
    bell: Condvar,
}

impl Stop {
    fn by(&self) -> MutexGuard<'_, Option<Instant>> {
        self.by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_asked(&self) -> bool {
        self.by().is_some()
    }

    fn ask(&self, by: Instant) {
        *self.by() = Some(by);
        self.bell.notify_all();
    }

    /// Sleeps for a while. False, if the end was asked for.
    fn sleep(&self, pause: Duration) -> bool {
        let slept = self.bell.wait_timeout_while(self.by(), pause, |by| by.is_none());
        slept.unwrap_or_else(PoisonError::into_inner).0.is_none()
    }
}

impl Exporter {
    /// Begins to send what ends in a project's log from here on, or from where it was last sent up to. The folder is the
    /// project's own, where the place in the log is kept.
    pub fn start(engine: Arc<Engine>, settings: Settings, folder: &Path, say: Say) -> Result<Self, String> {
        let head = engine.ledger().head().map_err(|error| error.to_string())?.seq;
        let (stop, url) = (Arc::<Stop>::default(), settings.url.clone());
        let (ended, over) = sync_channel(1);
        let mut follower = Follower {
            engine,
            settings,
            folder: folder.to_owned(),
            head,
            stop: Arc::clone(&stop),
            say,
            said: BTreeSet::new(),
        };
        let thread = std::thread::Builder::new().name("tracing".to_owned()).spawn(move || {
            follower.follow();
            let _ = ended.send(());
        });
        thread.map_err(|error| format!("no thread can be had: {error}"))?;
        Ok(Self { stop, over, url })
    }

    /// Ends: what has ended by now is sent if it can be within a few seconds. What is left waits in the log. Says what is left
    /// to say.
    pub fn finish(self) -> Option<String> {
        self.stop.ask(Instant::now() + LAST_PATIENCE);
        // A request that hangs is not waited for; it ends with the process.
        let late = self.over.recv_timeout(LAST_PATIENCE + LISTEN * 2).is_err();
        late.then(|| format!("{} does not answer; what was not sent is sent by the next `run` or `serve`", self.url))
    }
}

struct Follower {
    engine: Arc<Engine>,
    settings: Settings,
    folder: PathBuf,
    /// The end of the log when it began.
    head: u64,
    stop: Arc<Stop>,
    say: Say,
    said: BTreeSet<&'static str>,
}

impl Follower {
    fn follow(&mut self) {
        let Some(mut cursor) = self.place() else { return };
        let engine = Arc::clone(&self.engine);
        let mut reader = Reader::new(&engine);
        let (mut read, mut spans, mut since) = (cursor.after, Vec::new(), None);
        loop {
            let stopping = self.stop.is_asked();
            match reader.next(read) {
                Err(why) => {
                    self.once("ledger", &format!("the log cannot be read for traces at present: {why}"));
                    // What was told in part is told again, from where everything was sent.
                    (reader, read, spans) = (Reader::new(&engine), cursor.after, Vec::new());
                    if !self.stop.sleep(PAUSE) {
                        return;
                    }
                    continue;
                }
                Ok(Some((more, last))) => {
                    read = last;
                    spans.extend(more);
                    if !spans.is_empty() {
                        since.get_or_insert_with(Instant::now);
                    }
                    if spans.len() < ENOUGH {
                        continue;
                    }
                }
                Ok(None) => {}
            }
            let gathered = since.is_some_and(|since: Instant| since.elapsed() >= GATHER) || spans.len() >= ENOUGH;
            if spans.is_empty() || gathered || stopping {
                if !self.send(&spans) {
                    return;
                }
                // Where nothing ended there is nothing to lose; the place is then kept now and then.
                if !spans.is_empty() || stopping || read - cursor.after >= ENOUGH as u64 {
                    let kept = cursor.advance(read);
                    kept.unwrap_or_else(|why| self.once("cursor", &format!("{why}; traces may be sent twice")));
                }
                (spans, since) = (Vec::new(), None);
                if stopping {
                    return;
                }
            }
            // A fault of the log shows when it is read.
            let _ = self.engine.ledger().wait(read, LISTEN);
        }
    }

    /// Waits until no other process sends for this project. None, if the end comes first.
    fn place(&mut self) -> Option<Cursor> {
        loop {
            match Cursor::take(&self.folder, self.engine.ledger().project(), self.head) {
                Ok(Some(cursor)) => return Some(cursor),
                Ok(None) => {}
                Err(why) => self.once("place", &format!("traces are not sent: {why}")),
            }
            if !self.stop.sleep(PAUSE) {
                return None;
            }
        }
    }

    /// Sends spans. False, if they could not be delivered before the end.
    fn send(&mut self, spans: &[Span]) -> bool {
        if spans.is_empty() {
            return true;
        }
        let mut pace = Beside { stop: Arc::clone(&self.stop), timeout: self.settings.timeout };
        let sent = send(&self.settings, spans, &mut pace);
        let url = self.settings.url.clone();
        match sent {
            Ok(Sent { rejected: 0, why: None, .. }) => true,
            Ok(Sent { rejected, why, .. }) => {
                let why = why.unwrap_or_default();
                self.once(
                    "rejected",
                    &format!("{url} did not take {}, which is not sent again: {why}", spans_of(rejected)),
                );
                true
            }
            Err(why) => {
                let waits = "what was not sent is sent by the next `run` or `serve`";
                self.once(
                    "undelivered",
                    &format!("{url} has not taken {}: {why}; {waits}", spans_of(spans.len() as u64)),
                );
                false
            }
        }
    }

    /// Says something the first time that it is so.
    fn once(&mut self, what: &'static str, message: &str) {
        if self.said.insert(what) {
            (self.say)(message);
        }
    }
}

fn spans_of(count: u64) -> String {
    if count == 1 { "1 span".to_owned() } else { format!("{count} spans") }
}

/// Who sends beside the work: there is time until the end is asked for, and then a little.
struct Beside {
    stop: Arc<Stop>,
    timeout: Duration,
}

impl Pace for Beside {
    fn patience(&mut self) -> Option<Duration> {
        match *self.stop.by() {
            None => Some(self.timeout),
            Some(by) => Some(self.timeout.min(by.saturating_duration_since(Instant::now()))).filter(|it| !it.is_zero()),
        }
    }

    fn wait(&mut self, pause: Duration) -> bool {
        let asleep = Instant::now();
        if self.stop.sleep(pause) {
            return true;
        }
        // The end was asked for: what is left of the pause may still be short enough.
        let left = pause.saturating_sub(asleep.elapsed());
        let by = *self.stop.by();
        let fits = by.is_none_or(|by| Instant::now() + left < by);
        if fits {
            std::thread::sleep(left);
        }
        fits
    }
}
