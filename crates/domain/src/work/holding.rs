//! Who holds what: conflicts of lock scopes, asked of the index.

use super::indexes;
use super::picking::said;
use super::places::Placed;
use super::row::{TaskRow, lease_name, task_of};
use super::scope::overlap;
use crate::deciding::{Hold, Key, Need, Refusal, Seen};
use countersign_contract::diagnostic::Code;
use countersign_contract::show;

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

/// What must be seen to tell who holds something of a scope: the stretches, then the tasks that are there, then their
/// leases.
pub fn needs<'a>(scope: impl IntoIterator<Item = &'a str>, seen: &Seen) -> Vec<Need> {
    let mut needs = Vec::new();
    for path in scope {
        for range in indexes::lock_overlaps(path) {
            for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
                needs.push(Need::Entity(key.clone()));
                needs.push(Need::Lease(key.id.clone()));
            }
            needs.push(Need::Range(range));
        }
    }
    needs
}

/// The first task other than `own` that holds something of a scope. The answer does not depend on the order of the locks:
/// it is the one whose task is the oldest.
pub fn conflict<'a>(
    scope: impl IntoIterator<Item = &'a str>,
    own: Option<&Key>,
    seen: &Seen,
    now: i64,
) -> Option<Holder> {
    let mut found: Option<Holder> = None;
    for wanted in scope {
        for range in indexes::lock_overlaps(wanted) {
            for (_, key) in seen.range(&range).filter(|(_, key)| Some(key) != own) {
                let Some(task) = task_of(seen.entity(key)) else { continue };
                let Some(path) = task.spec.lock_scope.iter().find(|path| overlap(path, wanted)).cloned() else {
                    continue;
                };
                let hold = seen.lease(&lease_name(&task.run, &task.task)).filter(|it| it.deadline > now).cloned();
                if found.as_ref().is_none_or(|it| task.order < it.task.order) {
                    found = Some(Holder { task, path, wanted: wanted.to_owned(), hold });
                }
            }
        }
    }
    found
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

/// Resources as places.
pub(crate) fn places<T: Placed>(scope: &[T]) -> Vec<String> {
    scope.iter().map(|resource| resource.place().to_owned()).collect()
}
