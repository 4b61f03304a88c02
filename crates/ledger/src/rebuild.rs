//! Making everything that is derived again, from the events alone.

use crate::due;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::hash::Hash;
use crate::ledger::PATIENCE;
use crate::pages;
use crate::refold::{Refold, read};
use crate::rows::{EventRow, RowValue, Table};
use crate::store::{Batch, Head, Store};
use crate::tree::{Edge, leaf};
use crate::writer::{META_PROJECT, META_SHAPE, may_write, meta};

/// Takes all derived rows away and makes them again, in one transaction: whoever reads sees the old ones until all of
/// the new ones are there. Says how many events are done. Signs of life stay as they are, and when leases lapse follows from them.
pub fn rebuild(store: &mut dyn Store, fold: &dyn Fold, progress: &mut dyn FnMut(u64)) -> Result<Head> {
    let begun = store.begin_within(PATIENCE)?;
    let head = begun.head;
    match may_write(&begun, begun.meta(META_PROJECT).unwrap_or_default(), fold.shape()) {
        // To bring an older shape up to date is what this is for.
        Ok(()) | Err(Error::Older { .. }) => {}
        Err(error) => {
            store.rollback();
            return Err(error);
        }
    }
    let rebuilt = remake(store, fold, head, progress);
    match rebuilt {
        Ok(()) => store.commit()?,
        Err(error) => {
            store.rollback();
            return Err(error);
        }
    }
    store.settle();
    Ok(head)
}

fn remake(store: &mut dyn Store, fold: &dyn Fold, head: Head, progress: &mut dyn FnMut(u64)) -> Result<()> {
    Table::DERIVED.into_iter().try_for_each(|table| store.clear(table))?;
    // Nobody else writes, so that another handle sees the same events.
    let (mut reader, mut next) = (store.another()?, 1);
    let mut refold = Refold::new(fold, Edge::default());
    let page = || pages::page(&mut *reader, &mut next, head.seq).map(|page| page.map(with_leaves)).transpose();
    pages::ahead(
        page,
        |_| {},
        |page| {
            for (row, leaf) in &page {
                if row.seq != refold.size() + 1 {
                    break;
                }
                refold.add(store, &read(row)?, *leaf)?;
            }
            refold.write(store)?;
            progress(refold.size());
            Ok(page.last().is_some_and(|(row, _)| row.seq == refold.size()))
        },
    )?;
    if refold.size() < head.seq {
        return Err(Error::Damaged(format!("event {} is missing", refold.size() + 1)));
    }
    due::restore(store)?;
    let shape = (meta(META_SHAPE), RowValue::Meta(fold.shape().to_string()));
    store.apply(&Batch { put: vec![shape], ..Batch::default() })
}

fn with_leaves(page: Vec<EventRow>) -> Vec<(EventRow, Hash)> {
    let with_leaf = |row: EventRow| {
        let leaf = leaf(&row.body);
        (row, leaf)
    };
    page.into_iter().map(with_leaf).collect()
}
