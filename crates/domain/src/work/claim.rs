//! Entries of the lock scopes of several tasks, put together to be compared.

use crate::ids::TaskId;
use crate::work::payload::Resource;
use crate::work::places::Placed;

/// An entry of the lock scope of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// The number of the row or assignment whose scope it is.
    pub(crate) holder: usize,
    /// Its number in that scope.
    pub(crate) entry: usize,
    /// The task.
    pub(crate) task: &'a TaskId,
    /// What is claimed.
    pub(crate) resource: &'a Resource,
}

impl<'a> Claim<'a> {
    /// The entries of one lock scope.
    pub(crate) fn all(holder: usize, task: &'a TaskId, scope: &'a [Resource]) -> impl Iterator<Item = Claim<'a>> {
        scope.iter().enumerate().map(move |(entry, resource)| Claim { holder, entry, task, resource })
    }
}

impl Placed for Claim<'_> {
    fn place(&self) -> &str {
        self.resource.place()
    }
}
