//! What is recorded of an agent's process, so that it can be found after a crash of the runner.

use super::ending;
use super::processes::{self, Family};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long an old agent may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// One process, told from every other that has ever had its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its number, which is also that of its group.
    pub pid: u32,
    /// When it began, in ticks since the machine did.
    pub start_time: u64,
    /// The name of that run of the machine.
    pub boot_id: String,
    /// What its environment and that of its descendants holds as `COUNTERSIGN_ATTEMPT`.
    pub attempt: String,
}

impl Mark {
    /// The mark of an attempt whose process nobody recorded: what carries it in its environment is meant.
    pub fn of_attempt(attempt: &str) -> Option<Self> {
        Some(Self { pid: 0, start_time: 0, boot_id: processes::boot()?, attempt: attempt.to_owned() })
    }
}

/// Ends everything whose mark begins so, and says how many processes were ended and how many are still there. Only for
/// who knows that nobody else has anything running under such a mark.
pub fn stop_marked(beginning: &str) -> (usize, usize) {
    let marks = processes::marks(beginning);
    let ends = |attempt: &String| Mark::of_attempt(attempt).map(|mark| stop_old(&mark));
    let stopped: Vec<Option<Stopped>> = std::thread::scope(|scope| {
        let threads: Vec<_> = marks.iter().map(|attempt| scope.spawn(move || ends(attempt))).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    stopped.into_iter().flatten().fold((0, 0), |(ended, left), stopped| match stopped {
        Stopped::Ended(count) => (ended + count, left),
        Stopped::Left(count) => (ended, left + count),
        Stopped::Gone | Stopped::Unknown => (ended, left),
    })
}

/// What came of ending an old agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing of it was left: it had ended, or the machine has been restarted.
    Gone,
    /// Some processes were left, and were ended.
    Ended(usize),
    /// Some processes are still there after they were killed.
    Left(usize),
    /// It cannot be told here which processes are meant, and none was touched.
    Unknown,
}

/// Ends what is left of an agent that an earlier runner started. A process counts as its own only if number, start and
/// run of the machine are those of the mark, or if it carries the attempt in its environment, or is in a group with or
/// descends from one that does.
pub fn stop_old(mark: &Mark) -> Stopped {
    let Some(boot) = processes::boot() else { return Stopped::Unknown };
    if mark.boot_id.is_empty() || mark.attempt.is_empty() {
        return Stopped::Unknown;
    }
    if boot != mark.boot_id {
        return Stopped::Gone;
    }
    let family = Family { leader: mark.pid, since: mark.start_time, attempt: &mark.attempt, is_held: false };
    match ending::end(&family, GRACE) {
        ending::Outcome { found: 0, .. } => Stopped::Gone,
        ending::Outcome { found, left: 0 } => Stopped::Ended(found),
        ending::Outcome { left, .. } => Stopped::Left(left),
    }
}
