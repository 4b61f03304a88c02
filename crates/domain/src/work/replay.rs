//! What the deltas of an orchestrator's turn do to the operator ledger, in the order in which they are listed.

use crate::ids::TaskId;
use crate::work::payload::{HandoffBundle, LedgerDelta, LedgerRow, OrchestratorOutput};
use crate::work::places::FEW;
use crate::work::task_state::TaskStatus;
use countersign_contract::Subject;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The bundle that shows the ledger before the turn, if it was given.
pub(crate) fn bundle(it: &Subject<'_, OrchestratorOutput>) -> Option<Arc<HandoffBundle>> {
    if it.others.is_empty() { None } else { it.kin() }
}

/// The deltas of a turn over the rows of a bundle, if there is one. A delta whose id was seen before is not applied.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    deltas: &'a [LedgerDelta],
    rows: &'a [LedgerRow],
    /// Made only when there is too much to look through every time.
    table: Option<Table<'a>>,
}

#[derive(Debug)]
struct Table<'a> {
    applied: Vec<bool>,
    deltas: HashMap<&'a TaskId, Vec<usize>>,
    rows: HashMap<&'a TaskId, usize>,
}

impl<'a> Replay<'a> {
    /// The deltas of `output`, applied to the rows of `bundle`.
    pub(crate) fn new(output: &'a OrchestratorOutput, bundle: Option<&'a HandoffBundle>) -> Self {
        let (deltas, rows) = (&*output.ledger_delta, bundle.map_or(&[][..], |bundle| &bundle.ledger));
        let table = (deltas.len() > FEW || rows.len() > FEW).then(|| Table::new(deltas, rows));
        Self { deltas, rows, table }
    }

    /// The deltas that are applied, with their numbers.
    pub(crate) fn applied(&self) -> impl Iterator<Item = (usize, &'a LedgerDelta)> + '_ {
        self.deltas.iter().enumerate().filter(|(index, _)| self.is_applied(*index))
    }

    /// The row of a task before the turn.
    pub(crate) fn row(&self, task: &TaskId) -> Option<&'a LedgerRow> {
        match &self.table {
            Some(table) => table.rows.get(task).map(|row| &self.rows[*row]),
            None => self.rows.iter().find(|row| row.task_id == *task),
        }
    }

    /// The last delta for a task among the first `before`.
    pub(crate) fn delta_before(&self, task: &TaskId, before: usize) -> Option<(usize, &'a LedgerDelta)> {
        let found = match &self.table {
            Some(table) => table.deltas.get(task).and_then(|deltas| {
                let end = deltas.partition_point(|index| *index < before);
                deltas[..end].last().copied()
            }),
            None => (0..before).rev().find(|index| self.deltas[*index].task_id == *task && self.is_applied(*index)),
        };
        found.map(|index| (index, &self.deltas[index]))
    }

    /// The last delta for a task.
    pub(crate) fn last_delta(&self, task: &TaskId) -> Option<(usize, &'a LedgerDelta)> {
        self.delta_before(task, self.deltas.len())
    }

    /// The state of a task after the first `before` deltas, if it is known.
    pub(crate) fn state_before(&self, task: &TaskId, before: usize) -> Option<TaskStatus> {
        let delta = self.delta_before(task, before).map(|(_, delta)| delta.status);
        delta.or_else(|| self.row(task).map(|row| row.status))
    }

    /// The state of a task after the turn, if it is known.
    pub(crate) fn state(&self, task: &TaskId) -> Option<TaskStatus> {
        self.state_before(task, self.deltas.len())
    }

    fn is_applied(&self, index: usize) -> bool {
        match &self.table {
            Some(table) => table.applied[index],
            None => self.deltas[..index].iter().all(|earlier| earlier.delta_id != self.deltas[index].delta_id),
        }
    }
}

impl<'a> Table<'a> {
    fn new(deltas: &'a [LedgerDelta], rows: &'a [LedgerRow]) -> Self {
        let mut ids = HashSet::new();
        let mut table = Self { applied: Vec::new(), deltas: HashMap::new(), rows: HashMap::new() };
        for (index, delta) in deltas.iter().enumerate() {
            let new = ids.insert(delta.delta_id.as_str());
            table.applied.push(new);
            if new {
                table.deltas.entry(&delta.task_id).or_default().push(index);
            }
        }
        for (index, row) in rows.iter().enumerate() {
            table.rows.entry(&row.task_id).or_insert(index);
        }
        table
    }
}
