//! Events and settings in SQL.

use super::rows::{self, bytes, number, text, unsigned};
use crate::rows::EventRow;
use crate::store::{Batch, Head};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension};
use std::sync::OnceLock;

/// Writes all of a batch but its texts.
pub(super) fn write(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    rows::some_at_a_time(connection, &batch.events, insert, |row, values| {
        let run = row.run.as_deref().map_or(ToSqlOutput::Borrowed(ValueRef::Null), text);
        values.extend([number(row.seq), text(&row.id), run, bytes(&row.hash.0), text(&row.body)]);
    })?;
    for (seq, n) in &batch.erase {
        let empty = "UPDATE text SET salt = NULL, body = NULL, blob = NULL WHERE seq = ?1 AND n = ?2";
        connection.prepare_cached(empty)?.execute((number(*seq), n))?;
    }
    rows::delete(connection, &batch.delete)?;
    rows::put(connection, &batch.put)
}

/// The statement that adds so many events: one, or as many as are added at a time.
fn insert(count: usize) -> &'static str {
    static SQL: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
    SQL[usize::from(count > 1)]
        .get_or_init(|| format!("INSERT INTO event(seq,id,run,hash,body)VALUES{}", rows::values(count, 5)))
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
