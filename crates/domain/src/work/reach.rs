//! What the worker of a task may change.

use crate::work::payload::{Resource, Task};
use crate::work::places::Places;
use crate::work::scope;
use std::borrow::Cow;

/// The scopes of a task, to be asked about changes.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    locked: Places<'a, Resource, fn(&Resource) -> bool>,
    forbidden: Places<'a, Resource, fn(&Resource) -> bool>,
    worklog: Option<Cow<'a, str>>,
}

impl<'a> Reach<'a> {
    /// The scopes of `task`.
    pub(crate) fn new(task: &'a Task) -> Self {
        Self {
            locked: Places::new(&task.lock_scope, Resource::is_usable),
            forbidden: Places::new(&task.forbidden_scope, |_| true),
            worklog: scope::normal(task.worklog_path.as_str()).ok(),
        }
    }

    /// Whether `place` is the task's own worklog.
    pub(crate) fn is_worklog(&self, place: &str) -> bool {
        self.worklog.as_deref() == Some(place)
    }

    /// Why the worker may not change `place`, as a clause; none if it may. Its own worklog it may always write.
    pub(crate) fn refuses(&self, place: &str) -> Option<&'static str> {
        if self.is_worklog(place) {
            None
        } else if self.forbidden.overlapping(place).is_some() {
            Some("it overlaps the forbidden scope")
        } else if self.locked.holding(place).is_none() {
            Some("it lies outside the lock scope")
        } else {
            None
        }
    }
}
