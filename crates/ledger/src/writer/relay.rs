//! Commits one after the other, each decided while the one before is written.
//!
//! ```text
//! writer   decide 1 ─▶ decide 2 ──────────▶ decide 3 ─────────▶ …
//! scribe       write 1, commit, answer ─▶ write 2, commit, answer ─▶ …
//! ```
//!
//! Callers who wait for a commit ask for nothing, and those who were just woken have nothing to be written yet: where all share
//! one commit, deciding and writing wait for each other, and half of the machine stands still. So the callers are halved: while
//! one half waits for the scribe, the writer decides for the other. All of it is done in one turn, so that nobody writes between
//! two commits; when somebody else stands in line, the turn ends after what was decided already.
//!
//! **Invariant:** what is decided while a commit is under way sees what that has changed, and is written after it or not at
//! all. Nobody is answered before all that it rests on is durable.

use super::{AT_ONCE, COMMANDS_MAX, CROWD, Writer, gather, taken_up};
use crate::deciding::{Decided, Deciding};
use crate::error::Result;
use crate::queue::{Job, Queue};
use crate::scribe::{Next, Scribe, gone};
use crate::store::Begun;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many are decided before it is looked whether the scribe is through.
const SOME: usize = 16;

impl Writer {
    /// Takes a command and those that come to their end, until nobody comes any more or somebody else is to write. The scribe
    /// has the transaction that was begun.
    pub(super) fn relay(&mut self, first: Job, begun: Begun) {
        let outcome = self.run(first, begun).and(self.take_back());
        // The place may have been kept for one more.
        self.store.rollback();
        self.queue.call_the_rest();
        self.known = self.known.take().filter(|_| outcome.is_ok());
    }

    fn run(&mut self, first: Job, mut begun: Begun) -> Result<()> {
        let (queue, in_line, about) = (Arc::clone(&self.queue), Arc::clone(&self.in_line), Arc::clone(&self.about));
        let (mut first, mut earlier, mut before) = (vec![first], None, 0);
        loop {
            let likely = about.load(Ordering::SeqCst).min(COMMANDS_MAX);
            let is_first = earlier.is_none();
            let (mut deciding, scribe) = self.deciding(&begun, earlier.take());
            let scribe = scribe.ok_or_else(gone)?;
            let can_stay = deciding.can_hand_over();
            // Where each question is a journey they are asked about together, and what they come to is written at once.
            let is_far = deciding.store.is_far();
            let (beside, at_once) = (Some(scribe).filter(|_| !is_far), if is_far { COMMANDS_MAX } else { AT_ONCE });
            // Nobody is waited for but to keep the halves from falling apart.
            let half = likely.div_ceil(2).max(1);
            let (enough, most) = if can_stay { (half.div_ceil(2), half) } else { (likely.max(1), COMMANDS_MAX) };
            let next = if is_first { Ok(None) } else { until_next(&queue, &mut deciding, scribe, beside, most) };
            let next = match next {
                Ok(next) => next,
                // Whatever was decided since rests on what is not there.
                Err(error) => {
                    let Decided { mut ending, .. } = deciding.close();
                    ending.fault = Some(error.clone());
                    scribe.end(ending, &in_line);
                    return Err(error);
                }
            };
            let (is_idle, is_awaited) = (is_first || next.is_some(), next.is_some_and(|it| it.is_awaited));
            if is_idle && !is_awaited && deciding.answers.len() < enough {
                let jobs = std::mem::take(&mut first);
                gather(&queue, &mut deciding, beside, jobs, (enough, most), at_once);
            }
            let taken = deciding.answers.len();
            // Those of the commit before wait as well, unless they have been answered; then they are likely to come again.
            let waiting = taken + queue.waiting() + if is_idle { 0 } else { before };
            let come_again = if 4 * taken < likely { 0 } else { likely - likely / 8 };
            let crowd = waiting.max(come_again);
            about.store(crowd, Ordering::SeqCst);
            let stays = taken > 0 && crowd >= CROWD / 2 && !is_awaited && can_stay;
            let Some(now) = deciding.store.clock().filter(|_| stays) else {
                let Decided { ending, parts, known } = deciding.close();
                let (after, batch) = (ending.after, Arc::clone(&ending.batch));
                scribe.end(ending, &in_line);
                self.known = Some((after, known.following(parts, batch)));
                return Ok(());
            };
            let (Decided { ending, parts, known }, changed) = deciding.hand_over();
            let (after, batch) = (ending.after, Arc::clone(&ending.batch));
            scribe.end_and_stay(ending, &in_line);
            // As long as it takes until all is durable, there is time.
            let known = known.following(parts, batch);
            let ends = !is_idle && scribe.wait_for_next(&queue)?.is_awaited;
            self.known = Some((after, known));
            if ends {
                return Ok(());
            }
            (earlier, before, begun) = (Some(changed), taken, Begun { head: after, now, meta: Vec::new() });
        }
    }
}

/// Decides those who come while the scribe is at the commit before, until there are so many or it is through. Gives what came
/// of that, if it is.
fn until_next(
    queue: &Queue,
    deciding: &mut Deciding<'_>,
    scribe: &Scribe,
    beside: Option<&Scribe>,
    most: usize,
) -> Result<Option<Next>> {
    let some = if beside.is_some() { SOME } else { most };
    loop {
        if let Some(next) = scribe.next() {
            return next.map(Some);
        }
        let room = most.saturating_sub(deciding.answers.len());
        if room == 0 {
            return Ok(None);
        }
        let jobs = queue.until_nudged(some.min(room));
        if jobs.is_empty() {
            continue;
        }
        // A commit can take long.
        deciding.now = deciding.store.clock().unwrap_or(deciding.now);
        // Nobody waits yet for what they come to.
        deciding.some(taken_up(jobs), beside, SOME);
    }
}
