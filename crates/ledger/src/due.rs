//! When leases lapse, in order, so that whoever acts on time need not look at all of them.
//!
//! A row says when a lease that is held lapses by its last sign of life. It follows from those two rows, of which the second is
//! made by no event; so it is not refolded but held against them.

use crate::error::Result;
use crate::pages::Rows;
use crate::rows::{Row, RowKey, RowValue, Table};
use crate::store::{Batch, Store};

/// How many rows are looked at together.
const AT_ONCE: usize = 256;

/// The rows that are missing, and those that should not be there, by their keys.
pub(crate) struct Differences {
    pub(crate) missing: Vec<RowKey>,
    pub(crate) left_over: Vec<RowKey>,
}

impl Differences {
    /// Whether all is as it should be.
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.left_over.is_empty()
    }
}

/// Holds every row against what it follows from. Where others write meanwhile, what is found may only seem so.
pub(crate) fn differences(store: &mut dyn Store) -> Result<Differences> {
    let missing = wrong(store, Table::Liveness, with_its_row, |_, held, row| !held || row.is_some())?;
    let left_over = wrong(store, Table::Due, with_its_sign, |due, held, sign| match (due, sign) {
        (RowKey::Due(time, _), Some(RowValue::Liveness(sign))) => held && sign.deadline == *time,
        _ => false,
    })?;
    Ok(Differences { missing, left_over })
}

/// Makes the rows what they should be. Whoever calls it has the writer's place.
pub(crate) fn restore(store: &mut dyn Store) -> Result<()> {
    let Differences { mut missing, left_over } = differences(store)?;
    missing.sort();
    let put = missing.into_iter().map(|key| (key, RowValue::Nothing)).collect();
    store.apply(&Batch { put, delete: left_over, ..Batch::default() })
}

/// A row's lease, the key that is in question, and the key of what it is held against.
type Question = (RowKey, RowKey, RowKey);

/// A sign of life asks for the row that follows from it.
fn with_its_row(row: Row) -> Option<Question> {
    let (RowKey::Liveness(name), RowValue::Liveness(sign)) = row else { return None };
    let due = RowKey::Due(sign.deadline, name.clone());
    Some((RowKey::Lease(name), due.clone(), due))
}

/// A row asks for the sign of life that it follows from.
fn with_its_sign((due, _): Row) -> Option<Question> {
    let RowKey::Due(_, name) = &due else { return None };
    Some((RowKey::Lease(name.clone()), due.clone(), RowKey::Liveness(name.clone())))
}

/// The keys that are not right, of all that the rows of a table ask about.
fn wrong(
    store: &mut dyn Store,
    table: Table,
    question: fn(Row) -> Option<Question>,
    is_right: impl Fn(&RowKey, bool, Option<&RowValue>) -> bool,
) -> Result<Vec<RowKey>> {
    let (mut rows, mut found) = (Rows::new(table), Vec::new());
    loop {
        let (mut asked, mut keys) = (Vec::new(), Vec::new());
        while asked.len() < AT_ONCE
            && let Some(row) = rows.next(store)?
        {
            if let Some((lease, due, beside)) = question(row) {
                keys.extend([lease, beside]);
                asked.push(due);
            }
        }
        if asked.is_empty() {
            return Ok(found);
        }
        let stored = store.get(&keys)?;
        for (due, pair) in asked.into_iter().zip(stored.chunks(2)) {
            let [lease, beside] = pair else { continue };
            let held = matches!(lease, Some(RowValue::Lease(lease)) if lease.ended.is_none());
            if !is_right(&due, held, beside.as_ref()) {
                found.push(due);
            }
        }
    }
}
