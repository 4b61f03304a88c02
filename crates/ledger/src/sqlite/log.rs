//! Events and settings in SQL.

use super::rows::{self, number, unsigned};
use crate::rows::EventRow;
use crate::store::{Batch, Head};
use rusqlite::{Connection, OptionalExtension};

/// Writes all of a batch but its texts.
pub(super) fn write(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    rows::put_events(connection, &batch.events)?;
    let mut empty =
        connection.prepare_cached("UPDATE text SET salt = NULL, body = NULL, blob = NULL WHERE seq = ?1 AND n = ?2")?;
    for (seq, n) in &batch.erase {
        empty.execute((number(*seq), n))?;
    }
    rows::delete(connection, &batch.delete)?;
    rows::put(connection, &batch.put)
}

/// The end of the log.
pub(super) fn head(connection: &Connection) -> rusqlite::Result<Head> {
    let mut last = connection.prepare_cached("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1")?;
    let head = last.query_row([], |row| Ok(Head { seq: unsigned(row, 0)?, hash: rows::hash(row, 1)? })).optional()?;
    Ok(head.unwrap_or(Head::EMPTY))
}

pub(super) fn event(row: &rusqlite::Row<'_>) -> rusqlite::Result<EventRow> {
    let hash = rows::hash(row, 3)?;
    Ok(EventRow { seq: unsigned(row, 0)?, id: row.get(1)?, run: row.get(2)?, hash, body: row.get(4)? })
}

/// All settings, by name.
pub(super) fn meta(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut all = connection.prepare_cached("SELECT name, value FROM meta ORDER BY name")?;
    all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
