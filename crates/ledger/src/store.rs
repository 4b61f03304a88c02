//! Where rows are kept.

use crate::error::Result;
use crate::hash::Hash;
use crate::rows::{EventRow, Row, RowKey, RowValue, Table, TextRow};
use crate::time::Time;

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The sequence number of the last event; 0 when there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl Head {
    /// The end of an empty log.
    pub const EMPTY: Head = Head { seq: 0, hash: Hash::NONE };
}

/// What a transaction begins with.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The end of the log; it stays there until this transaction ends.
    pub head: Head,
    /// The store's clock.
    pub now: Time,
    /// All rows of the table `meta`: name and value.
    pub meta: Vec<(String, String)>,
}

impl Begun {
    /// A setting by its name.
    pub fn meta(&self, name: &str) -> Option<&str> {
        self.meta.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Everything that one commit changes.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    /// Events to add, in order.
    pub events: Vec<EventRow>,
    /// Texts to add.
    pub texts: Vec<TextRow>,
    /// Rows to put in place, in the order of their keys.
    pub put: Vec<Row>,
    /// Rows to take away, in the order of their keys.
    pub delete: Vec<RowKey>,
    /// Texts to empty, by event and number.
    pub erase: Vec<(u64, u32)>,
    /// Of the rows of indexes that are put in place, those that may be there already, because the same batch had them taken
    /// away before; all others are not. Nothing, where that is not known.
    pub returning: Option<Vec<RowKey>>,
    /// Whether whoever puts an idempotency key in place has looked for it before, and it is not there.
    pub has_new_keys: bool,
}

/// Why a transaction cannot follow on another.
pub(crate) const NOT_KEPT: &str = "somebody else may have written between two commits";

/// Where a ledger keeps its rows. A store knows tables and transactions, and nothing of what rows mean: chain, tree,
/// leases and idempotency are built on it once, in [`crate::Ledger`]. Every store promises that:
///
/// 1. **One writer.** Between [`Store::begin`] and [`Store::commit`] or [`Store::rollback`] no other writer, of this process
///    or any other, comes between. Writers that wait get their turn, in about the order in which they came.
/// 2. **All or nothing.** A commit puts everything in place that was applied, or none of it, whatever fails.
/// 3. **Durable.** A commit that returned `Ok` survives the crash of the process, of the machine, and of its power.
/// 4. **Seen.** What was committed is seen by every read that starts later, through this handle or another.
/// 5. **Known.** A commit that returned [`crate::Error::NotWritten`] left nothing and never will. Where that cannot be
///    said, it returns [`crate::Error::Unknown`].
/// 6. **Healing.** After any error the next call starts afresh; once the cause is gone it works, without help.
/// 7. **Never twice.** An event with a sequence number or an id that is there already is refused with the whole transaction.
/// 8. **Gone.** After [`Store::scrub`] no file of the store holds a text that was erased.
/// 9. **Bounded.** No call but [`Store::clear`], [`Store::scrub`], [`Store::backup`] and [`Store::examine`] costs more
///    because the log is long.
///
/// `ledger::conformance` is these promises as tests.
pub trait Store: Send {
    /// Takes the writer's place, waiting for it, and begins a transaction.
    fn begin(&mut self) -> Result<Begun>;

    /// The same, waiting for so long at most; then it is [`crate::Error::Busy`]. It stands in line with the others.
    fn begin_within(&mut self, patience: std::time::Duration) -> Result<Begun>;

    /// The same without waiting: nothing, if somebody else has the place or stands in line for it. A store that cannot tell
    /// always gives nothing.
    fn begin_now(&mut self) -> Result<Option<Begun>> {
        Ok(None)
    }

    /// Whether every question is a journey, so that it is better to ask for much at once.
    fn is_far(&self) -> bool {
        false
    }

    /// Whether it pays to read through another handle while this one writes: that one sees what was there when the transaction
    /// began, or what was committed in the same place since, and neither waits for the other.
    fn writes_beside(&self) -> bool {
        false
    }

    /// Connects, where there is something to connect to: whoever is in the writer's place should not wait for that.
    fn make_ready(&mut self) -> Result<()> {
        Ok(())
    }

    /// The store's clock, where it can be asked without a journey.
    fn clock(&self) -> Option<Time> {
        None
    }

    /// Writes a batch into the transaction. It may be called more than once; after an error the transaction is over.
    fn apply(&mut self, batch: &Batch) -> Result<()>;

    /// Takes all rows of a table away, in the transaction.
    fn clear(&mut self, table: Table) -> Result<()>;

    /// Makes what was applied durable and seen, and ends the transaction.
    fn commit(&mut self) -> Result<()>;

    /// Commits, with the promises of [`Store::commit`], and keeps the writer's place if it can: [`Store::begin_next`] begins
    /// the next transaction there, and [`Store::rollback`] gives it up.
    fn commit_and_stay(&mut self) -> Result<()> {
        self.commit()
    }

    /// Writes a last batch and commits as [`Store::commit_and_stay`] does. Where each is a journey, they can be one, and the
    /// beginning of the next transaction with them.
    fn apply_and_stay(&mut self, batch: &Batch) -> Result<()> {
        self.apply(batch)?;
        self.commit_and_stay()
    }

    /// Begins the next transaction in the place that was kept, without waiting; settings are as they were, and not given again.
    /// Where the place was not kept, somebody may have come between who left no event, and so none is begun.
    fn begin_next(&mut self) -> Result<Begun> {
        Err(crate::error::Error::NotWritten(NOT_KEPT.to_owned()))
    }

    /// Whether somebody stands in line for the writer's place, as far as that can be said. Who cannot ask for it without a journey
    /// tells what was so a moment ago.
    fn is_awaited(&mut self) -> bool {
        false
    }

    /// Writes a last batch and commits, with the promises of both. Where that is a journey each, it can be one.
    fn apply_and_commit(&mut self, batch: &Batch) -> Result<()> {
        self.apply(batch)?;
        self.commit()
    }

    /// Ends the transaction without a trace.
    fn rollback(&mut self);

    /// Called after a commit, once its callers have been answered: what need not keep them waiting is done here. It wakes
    /// whoever waits for events.
    fn settle(&mut self);

    /// The rows of some keys, each or nothing, in the order asked. Inside a transaction it sees that one's past.
    fn get(&mut self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>>;

    /// At most `limit` rows from `from` (inclusive) to `to` (exclusive), in the order of their keys. Both are of one
    /// table; without `to` it goes to the table's end.
    fn range(&mut self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>>;

    /// The end of the log.
    fn head(&mut self) -> Result<Head>;

    /// At most `limit` events from `from` on; of one run only, if that is given.
    fn events(&mut self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>>;

    /// At most `limit` events from `from` on, and no more than have so many bytes together, about; but one at least.
    fn events_within(&mut self, from: u64, limit: usize, bytes_max: u64) -> Result<Vec<EventRow>> {
        let sizes = self.sizes(from, limit)?;
        self.events(from, None, crate::pages::fitting(&sizes, bytes_max).unwrap_or(limit))
    }

    /// The sequence number of an event by its id.
    fn find(&mut self, id: &str) -> Result<Option<u64>>;

    /// The texts of the events from `from` to before `to`, in order.
    fn texts(&mut self, from: u64, to: u64) -> Result<Vec<TextRow>>;

    /// How many bytes the bodies and texts of at most `limit` events from `from` on have, each; without reading them.
    fn sizes(&mut self, from: u64, limit: usize) -> Result<Vec<u64>>;

    /// Another handle on the same rows, for reading beside the writer.
    fn another(&self) -> Result<Box<dyn Store>>;

    /// Waits until there are events after `seq` or the time is over, and gives the end of the log. It may be woken in
    /// vain, and never sleeps longer than a second without looking.
    fn wait(&mut self, seq: u64, patience: std::time::Duration) -> Result<Head>;

    /// Called when a handle is put aside for a while: what keeps others from anything is given up.
    fn rest(&mut self) {}

    /// Makes sure that nothing of an erased text is left, free pages and journals included. The row `scrub` of `meta`, which
    /// says that this is due, goes once it is done.
    fn scrub(&mut self) -> Result<()>;

    /// Writes a whole copy to a file, while others go on writing.
    fn backup(&mut self, to: &std::path::Path) -> Result<()>;

    /// Who holds the writer's place, as far as that can be said.
    fn writer(&self) -> Option<String>;

    /// What is wrong with the store itself, below the rows: its files, its schema, rows that cannot be read as such.
    fn examine(&mut self) -> Result<Vec<String>>;

    /// What it is and how it is set, for people: name and value.
    fn describe(&mut self) -> Result<Vec<(String, String)>>;
}
