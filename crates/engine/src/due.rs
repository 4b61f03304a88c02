//! What is due: leases that have lapsed. Nothing depends on somebody being awake for it: every command looks first.

use crate::{Engine, look, road};
use countersign_domain::deciding::{Desk, Need, Seen};
use countersign_domain::work::{attempt, row};
use countersign_ledger as ledger;
use ledger::Transaction;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// How many lapsed leases a command deals with before it is decided itself.
const WITH_A_COMMAND: usize = 8;
/// The shortest time that a task may be given. Nothing that begins now can lapse earlier.
const SHORTEST_MS: i64 = 30_000;
/// How often leases from the future are looked for.
const HEALING: Duration = Duration::from_secs(60);
/// Where that takes long, it is done less often: it takes one part of so many of the time.
const HEALING_SHARE: u32 = 200;
/// In whose name deadlines are acted on.
const ACTOR: &str = "countersign";
const COMMAND: &str = "watchdog";

impl Engine {
    /// Acts on what is due, and says how many leases had lapsed.
    pub fn settle(&self, limit: usize) -> ledger::Result<usize> {
        let quiet = std::sync::Arc::clone(&self.quiet);
        self.ledger.write(move |transaction| settle(transaction, &quiet, limit))
    }

    /// When the next lease lapses, in milliseconds since 1970, unless it is given a sign of life before. For those who act on
    /// time: at first, and now and then, leases are healed for which a clock that jumped has left a time too late.
    pub fn next_due(&self) -> ledger::Result<Option<i64>> {
        if let Ok(mut next) = self.healing.try_lock()
            && next.is_none_or(|next| next <= Instant::now())
        {
            let began = Instant::now();
            self.ledger.heal()?;
            *next = Some(Instant::now() + HEALING.max(began.elapsed() * HEALING_SHARE));
        }
        self.ledger.next_due()
    }
}

/// The same for a command that is about to be decided. When nothing was due a moment ago, nothing is looked up.
pub(crate) fn before_a_command(transaction: &mut Transaction<'_>, quiet: &AtomicI64) -> ledger::Result<()> {
    let (now, until) = (transaction.now().0, quiet.load(Ordering::Relaxed));
    // What was said by a clock that has gone back since does not count.
    if now >= until || until > now.saturating_add(SHORTEST_MS) {
        settle(transaction, quiet, WITH_A_COMMAND)?;
    }
    Ok(())
}

fn settle(transaction: &mut Transaction<'_>, quiet: &AtomicI64, limit: usize) -> ledger::Result<usize> {
    let lapsed = transaction.lapsed(limit)?;
    for held in &lapsed {
        lapse(transaction, &held.name)?;
    }
    if lapsed.len() < limit {
        let next = transaction.next_due()?.map_or(i64::MAX, |time| time.0);
        quiet.store(next.min(transaction.now().0.saturating_add(SHORTEST_MS)), Ordering::Relaxed);
    }
    Ok(lapsed.len())
}

fn lapse(transaction: &mut Transaction<'_>, lease: &str) -> ledger::Result<()> {
    let needs = |_: &Seen| {
        let task = lease.split_once('/').map(|(run, task)| Need::Entity(row::task_key(run, task)));
        let run = lease.split_once('/').map(|(run, _)| Need::Entity(row::run_key(run)));
        [Some(Need::Lease(lease.to_owned())), task, run].into_iter().flatten().collect()
    };
    let seen = look::inside(transaction, &needs)?;
    let mut desk = Desk::new(seen, road::moment(transaction, ACTOR, "watchdog"));
    attempt::lapse(&mut desk, lease);
    let happenings = desk.decided().happenings;
    if happenings.is_empty() {
        return Ok(());
    }
    let asked = ledger::Command {
        actor: ACTOR.to_owned(),
        authn: COMMAND.to_owned(),
        name: COMMAND.to_owned(),
        once: None,
        under: None,
    };
    let drafts = road::drafts(transaction, happenings)?;
    transaction.append(&asked, drafts)?;
    Ok(())
}
