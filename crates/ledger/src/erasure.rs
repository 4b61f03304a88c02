//! An erasure that was not finished.
//!
//! ```text
//! commit: texts emptied, mark set ─▶ scrub: nothing is left in files ─▶ mark removed
//! ```
//!
//! The commit is what makes a text unreadable here; only the scrub makes it unreadable to whoever has the files. Whatever
//! comes between them, the mark tells that a scrub is due.

use crate::error::Result;
use crate::ledger::PATIENCE;
use crate::rows::Row;
use crate::rows::RowValue;
use crate::store::{Batch, Head, Store};
use crate::writer::meta;

/// The row of `meta` that says up to which event texts were erased and may be left in files.
pub(crate) const META_SCRUB: &str = "scrub";

const UNFINISHED: &str = "an erasure was not finished; run `countersign doctor --fix`";

/// The mark that a commit sets which erases something.
pub(crate) fn set(head: Head) -> Row {
    (meta(META_SCRUB), RowValue::Meta(head.seq.to_string()))
}

/// The mark, if it is there.
pub(crate) fn mark(store: &mut dyn Store) -> Result<Option<RowValue>> {
    Ok(store.get(&[meta(META_SCRUB)])?.pop().flatten())
}

/// Removes a mark that was there before a scrub. One that was set since stays: what it stands for may be left.
pub(crate) fn unmark(store: &mut dyn Store, scrubbed: Option<RowValue>) -> Result<()> {
    if scrubbed.is_none() {
        return Ok(());
    }
    store.begin_within(PATIENCE)?;
    match mark(store) {
        Ok(found) if found == scrubbed => {
            store.apply(&Batch { delete: vec![meta(META_SCRUB)], ..Batch::default() })?;
            store.commit()
        }
        other => {
            store.rollback();
            other.map(drop)
        }
    }
}

/// What is to be told of the mark. Where it cannot be read there are other faults to tell.
pub(crate) fn fault(store: &mut dyn Store) -> Option<String> {
    mark(store).ok().flatten().map(|_| UNFINISHED.to_owned())
}

/// Whether texts were erased of which something may be left in files. [`Store::scrub`] sees to that.
pub fn unfinished_erasure(store: &mut dyn Store) -> Result<bool> {
    mark(store).map(|mark| mark.is_some())
}
