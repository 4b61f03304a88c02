//! Who holds what: conflicts of lock scopes, asked of the index.

use super::indexes;
use super::picking::said;
use super::places::Placed;
use super::row::{TaskRow, task_of};
use super::scope::{SETTINGS, contains, normal, overlap};
use crate::deciding::{Hold, Key, Need, Range, Refusal, Seen};
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use std::collections::BTreeSet;

/// Somebody who holds something that a scope overlaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    /// The task.
    pub task: TaskRow,
    /// What it holds.
    pub path: String,
    /// What was asked about.
    pub wanted: String,
    /// Its lease; none, if it has lapsed and nobody has said so yet.
    pub hold: Option<Hold>,
}

/// Those who hold something that a scope overlaps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Others {
    /// Who is alive, the oldest task first.
    pub alive: Vec<Holder>,
    /// Who has lapsed, although nobody has said so yet, the oldest task first.
    pub lapsed: Vec<Holder>,
    /// Whether those are all that there are. Where somebody is alive, not all need be known.
    pub all: bool,
}

/// How many locks inside of a path are looked at first. If anybody is alive there, one of them nearly always is.
const FIRST: usize = 32;
/// How many more, if all of those have lapsed.
const MORE: usize = 224;

/// What must be seen to tell who holds something of a scope, by whoever may end the work of others before: that somebody is
/// alive by now is no reason to look no further.
pub fn needs<'a>(scope: impl IntoIterator<Item = &'a str>, seen: &Seen) -> Vec<Need> {
    needs_at(scope, None, seen, i64::MAX)
}

/// What must be seen to tell who holds something of a scope: the stretches, then the tasks that are there, then their
/// leases; and more of them, where a stretch goes on in which nobody but `own` is alive.
pub fn needs_at<'a>(scope: impl IntoIterator<Item = &'a str>, own: Option<&Key>, seen: &Seen, now: i64) -> Vec<Need> {
    let mut needs = Vec::new();
    for path in scope {
        for range in stretches(path, own, seen, now).ranges {
            for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
                needs.push(Need::Entity(key.clone()));
                needs.push(Need::Lease(key.id.to_string()));
            }
            needs.push(Need::Range(range));
        }
    }
    needs
}

/// The tasks other than `own` that hold something of a scope. The answer does not depend on the order of the locks.
pub fn others<'a>(scope: impl IntoIterator<Item = &'a str>, own: Option<&Key>, seen: &Seen, now: i64) -> Others {
    let mut others = Others { all: true, ..Others::default() };
    let mut known: BTreeSet<&Key> = own.into_iter().collect();
    for wanted in scope {
        let Stretches { ranges, all } = stretches(wanted, own, seen, now);
        others.all &= all;
        let hits = ranges.iter().filter_map(|range| seen.range_so_far(range)).flatten();
        for (_, key) in hits.filter(|(_, key)| known.insert(key)) {
            // What was not looked at is not taken for free.
            others.all &= is_seen(key, seen);
            let Some(task) = task_of(seen.so_far(key)) else { continue };
            let Some(path) = task.spec.lock_scope.iter().find(|path| overlap(path, wanted)).cloned() else { continue };
            let hold = seen.lease(&key.id).filter(|it| it.deadline > now).cloned();
            let found = if hold.is_some() { &mut others.alive } else { &mut others.lapsed };
            found.push(Holder { task, path, wanted: wanted.to_owned(), hold });
        }
    }
    others.alive.sort_by_key(|it| it.task.order);
    others.lapsed.sort_by_key(|it| it.task.order);
    others
}

/// Whether nobody but `own` is alive who holds something of a scope. What was not looked at is not free.
pub fn is_free<'a>(scope: impl IntoIterator<Item = &'a str>, own: Option<&Key>, seen: &Seen, now: i64) -> bool {
    scope.into_iter().all(|path| {
        let Stretches { ranges, all } = stretches(path, own, seen, now);
        all && !ranges.iter().any(|range| somebody_is_alive(range, own, seen, now))
    })
}

/// Where the holders of a path are found.
struct Stretches {
    /// What is to be looked at, as far as it can be told by now.
    ranges: Vec<Range>,
    /// Whether there is nothing behind it.
    all: bool,
}

fn stretches(path: &str, own: Option<&Key>, seen: &Seen, now: i64) -> Stretches {
    let mut ranges = indexes::locks_above(path);
    let all = ranges.iter().all(|range| seen.rest(range).is_none());
    let first = indexes::locks_inside(path, FIRST);
    let rest = seen.rest(&first).filter(|_| !somebody_is_alive(&first, own, seen, now));
    let Some(rest) = rest else {
        let all = all && seen.rest(&first).is_none();
        ranges.push(first);
        return Stretches { all: all && are_seen(&ranges, seen), ranges };
    };
    let more = Range { limit: MORE, ..rest };
    let all = all && seen.rest(&more).is_none();
    ranges.extend([first, more]);
    Stretches { all: all && are_seen(&ranges, seen), ranges }
}

fn are_seen(ranges: &[Range], seen: &Seen) -> bool {
    ranges.iter().all(|range| seen.has(&Need::Range(range.clone())))
}

fn is_seen(key: &Key, seen: &Seen) -> bool {
    seen.has(&Need::Entity(key.clone())) && seen.has(&Need::Lease(key.id.to_string()))
}

/// Whether somebody but `own` is alive in a stretch, or may be: whoever was not looked at is not taken for gone.
fn somebody_is_alive(range: &Range, own: Option<&Key>, seen: &Seen, now: i64) -> bool {
    let mut others = seen.range_so_far(range).into_iter().flatten().filter(|(_, key)| Some(key) != own);
    others.any(|(_, key)| !is_seen(key, seen) || seen.lease(&key.id).is_some_and(|hold| hold.deadline > now))
}

/// Why a scope may not be had yet in which more leases have lapsed than can be taken back at once.
pub fn too_many(run: &str) -> Refusal {
    let reason = format!("more than {} leases in that scope have lapsed, and not all are taken back yet", FIRST + MORE);
    Refusal::new(Code::LockConflict, reason, "ask again; each time more of them are taken back").of_run(run)
}

impl Holder {
    /// Why something may not be had now.
    pub fn refusal(&self, run: &str) -> Refusal {
        let help = "wait for it, or choose a narrower scope";
        let mut refusal = Refusal::new(Code::LockConflict, self.sentence(), help).of_run(run);
        refusal.elsewhere = Some(Box::new((self.task.run.clone(), self.said_of("another run"))));
        refusal
    }

    /// Who holds it, and until when.
    pub fn sentence(&self) -> String {
        let owner = show(self.task.owner.as_deref().unwrap_or("somebody"));
        self.said_of(&format!("{} of {owner}", self.task.task))
    }

    fn said_of(&self, holder: &str) -> String {
        let until = self.hold.as_ref().map(|hold| format!(" until {}", said(hold.deadline))).unwrap_or_default();
        let inside = match self.path == self.wanted {
            true => String::new(),
            false => format!("; `{}` overlaps that", show(&self.wanted)),
        };
        format!("{holder} holds `{}`{until}{inside}", show(&self.path))
    }
}

/// Whether a task keeps its log at a path. One that lies among the settings of clients would be a way to rewrite them.
pub(crate) fn keeps_log_at(task: &TaskRow, path: &str) -> bool {
    let is_there = normal(&task.spec.worklog_path).is_ok_and(|log| log == path);
    is_there && !SETTINGS.iter().any(|settings| contains(settings, path))
}

/// Resources as places.
pub(crate) fn places<T: Placed>(scope: &[T]) -> Vec<String> {
    scope.iter().map(|resource| resource.place().to_owned()).collect()
}
