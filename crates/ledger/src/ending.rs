//! How a transaction ends: what is left is written, all of it is made durable, and only then is anybody answered.

use crate::deciding::Answer;
use crate::error::{Error, Result};
use crate::seat::{Cue, answer_all};
use crate::store::{Batch, Begun, Head, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the outcome of a commit is looked for before it is called unknown.
const RESOLVING_MAX: Duration = Duration::from_secs(20);
const RESOLVING_PAUSE: Duration = Duration::from_millis(100);

/// What is left to do once commands that share a commit are decided.
pub(crate) struct Ending {
    pub(crate) before: Head,
    pub(crate) after: Head,
    /// What is left to be written.
    pub(crate) batch: Arc<Batch>,
    /// Whether nothing was written yet.
    pub(crate) is_first: bool,
    /// Why none of it can be written.
    pub(crate) fault: Option<Error>,
    pub(crate) answers: Vec<Answer>,
}

impl Ending {
    /// Ends the transaction that a store is in, and tells everybody who waits for it how it came out. The writer's place is
    /// given back; where there is a cue for the writer to go on, it is kept for one more if nothing was in doubt.
    pub(crate) fn carry_out(
        mut self,
        store: &mut dyn Store,
        in_line: &AtomicBool,
        cue: Option<&Arc<Cue>>,
    ) -> Result<()> {
        let outcome = self.write(store, in_line, cue.is_some());
        answer(std::mem::take(&mut self.answers), &outcome, cue);
        store.settle();
        outcome
    }

    /// Writes what was decided into the transaction and ends it.
    fn write(&self, store: &mut dyn Store, in_line: &AtomicBool, stay: bool) -> Result<()> {
        let is_nothing = self.is_first && self.batch.is_empty();
        // Who is far away may have lost the place unnoticed, and with it what was seen there.
        if self.fault.is_some() || (is_nothing && !stay && !store.is_far()) {
            store.rollback();
            return self.fault.clone().map_or(Ok(()), Err);
        }
        let written = if stay { store.apply_and_stay(&self.batch) } else { store.apply_and_commit(&self.batch) };
        match written {
            Err(Error::Unknown(why)) if is_nothing => Err(Error::NotWritten(why)),
            Err(Error::Unknown(why)) if self.after != self.before => resolve(store, in_line, self.after, why),
            outcome => outcome,
        }
    }
}

/// Tells everybody how it came out, which is what the commit says if it failed.
fn answer(mut answers: Vec<Answer>, outcome: &Result<()>, cue: Option<&Arc<Cue>>) {
    if let Err(error) = outcome {
        answers.iter_mut().for_each(|(_, answer)| *answer = Err(error.clone()));
    }
    answer_all(answers, cue);
}

/// Waits for the writer's place, however long that takes.
pub(crate) fn line_up(store: &mut dyn Store, in_line: &AtomicBool) -> Result<Begun> {
    in_line.store(true, Ordering::SeqCst);
    let begun = store.begin();
    in_line.store(false, Ordering::SeqCst);
    begun
}

/// Finds out what became of a commit that gave no clear answer: the last event is there with its hash, or it is not.
fn resolve(store: &mut dyn Store, in_line: &AtomicBool, after: Head, why: String) -> Result<()> {
    let started = Instant::now();
    loop {
        match look(store, in_line, after) {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(Error::NotWritten(why)),
            Err(_) if started.elapsed() < RESOLVING_MAX => std::thread::sleep(RESOLVING_PAUSE),
            Err(_) => return Err(Error::Unknown(why)),
        }
    }
}

fn look(store: &mut dyn Store, in_line: &AtomicBool, after: Head) -> Result<bool> {
    // In the writer's place: whatever was still under way has ended when we have it.
    line_up(store, in_line)?;
    let found = store.events(after.seq, None, 1);
    store.rollback();
    Ok(found?.first().is_some_and(|event| event.hash == after.hash))
}
