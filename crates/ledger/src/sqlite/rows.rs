//! Rows in SQL: a statement to get, range, put and delete for each table.

use crate::hash::Hash;
use crate::rows::{Entity, Key, Lease, Liveness, Name, Place, Remembered, Row, RowKey, RowValue, Table};
use crate::time::Time;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, params_from_iter};
use std::sync::OnceLock;

/// A table's name, key columns and other columns.
const COLUMNS: [(Table, &[&str], &[&str]); 9] = [
    (Table::Entity, &["kind", "id"], &["seq", "version", "birth", "shape", "matter", "class", "facts"]),
    (Table::Index, &["name", "at", "kind", "id"], &[]),
    (Table::Touch, &["seq", "kind", "id"], &["prev"]),
    (Table::Remembered, &["actor", "command", "key"], &["request", "code", "first", "last"]),
    (Table::Lease, &["name"], &["number", "holder", "granted", "ttl", "ended"]),
    (Table::Tile, &["level", "number"], &["hashes"]),
    (Table::Liveness, &["name"], &["number", "beat", "deadline"]),
    (Table::Due, &["deadline", "name"], &[]),
    (Table::Meta, &["name"], &["value"]),
];

#[derive(Clone, Copy)]
enum Verb {
    Get,
    Range,
    RangeTo,
    Put,
    PutSome,
    Delete,
}

/// How many rows of a table are put in place by one statement, where there are so many: what it costs to start one is as much
/// as a row.
const SOME: usize = 16;

/// The statements of each table. Each is written when it is first used: many processes start to ask a few of them once.
static SQL: [[OnceLock<String>; 6]; COLUMNS.len()] = [const { [const { OnceLock::new() }; 6] }; COLUMNS.len()];

fn sql(table: Table, verb: Verb) -> &'static str {
    SQL[table as usize][verb as usize].get_or_init(|| write(table, verb))
}

fn write(table: Table, verb: Verb) -> String {
    let (_, key, rest) = COLUMNS[table as usize];
    let table = table.name();
    let all = [key, rest].concat();
    let (keys, columns) = (key.join(", "), all.join(", "));
    let marks =
        |from: usize, count: usize| (from..from + count).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    let first = marks(1, key.len());
    let select = format!("SELECT {columns} FROM {table} WHERE ({keys})");
    let order = |limit: usize| format!("ORDER BY {keys} LIMIT ?{limit}");
    match verb {
        Verb::Get => format!("{select} = ({first})"),
        Verb::Range => format!("{select} >= ({first}) {}", order(key.len() + 1)),
        Verb::RangeTo => {
            let second = marks(key.len() + 1, key.len());
            format!("{select} >= ({first}) AND ({keys}) < ({second}) {}", order(2 * key.len() + 1))
        }
        Verb::Put | Verb::PutSome => {
            let rows = if matches!(verb, Verb::Put) { 1 } else { SOME };
            format!("INSERT OR REPLACE INTO {table}({columns})VALUES{}", values(rows, all.len()))
        }
        Verb::Delete => format!("DELETE FROM {table} WHERE ({keys}) = ({first})"),
    }
}

/// The places of so many rows with so many values each. They are counted by SQLite, and nothing is between them: whenever a
/// statement is used, its text is gone through several times to find it.
pub(super) fn values(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    vec![row; rows].join(",")
}

pub(super) type Values<'a> = Vec<ToSqlOutput<'a>>;

pub(super) fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

pub(super) fn bytes(bytes: &[u8]) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Blob(bytes))
}

/// Sequence numbers and the like stay far below 2^63; what is asked for need not.
pub(super) fn number(number: u64) -> ToSqlOutput<'static> {
    ToSqlOutput::Borrowed(ValueRef::Integer(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn time(time: Time) -> ToSqlOutput<'static> {
    ToSqlOutput::Borrowed(ValueRef::Integer(time.0))
}

fn key_values<'a>(key: &'a RowKey, out: &mut Values<'a>) {
    match key {
        RowKey::Entity(Key { kind, id }) => out.extend([text(kind), text(id)]),
        RowKey::Index(place, Key { kind, id }) => {
            out.extend([text(&place.index), bytes(&place.at), text(kind), text(id)]);
        }
        RowKey::Touch(seq, Key { kind, id }) => out.extend([number(*seq), text(kind), text(id)]),
        RowKey::Remembered([actor, command, key]) => out.extend([text(actor), text(command), text(key)]),
        RowKey::Lease(name) | RowKey::Liveness(name) | RowKey::Meta(name) => out.push(text(name)),
        RowKey::Tile(level, tile) => out.extend([number(u64::from(*level)), number(*tile)]),
        RowKey::Due(deadline, name) => out.extend([time(*deadline), text(name)]),
    }
}

fn rest_values<'a>(value: &'a RowValue, out: &mut Values<'a>) {
    match value {
        RowValue::Nothing => {}
        RowValue::Touch(prev) => out.push(number(*prev)),
        RowValue::Entity(it) => {
            let numbers = [it.seq, it.version, it.birth, u64::from(it.shape)].map(number);
            out.extend(numbers);
            out.extend([text(&it.matter), text(&it.class), text(&it.facts)]);
        }
        RowValue::Remembered(it) => {
            out.extend([bytes(&it.request.0), text(&it.code), number(it.first), number(it.last)]);
        }
        RowValue::Lease(it) => {
            let ended = it.ended.map_or(ToSqlOutput::Borrowed(ValueRef::Null), number);
            let ttl = ToSqlOutput::Borrowed(ValueRef::Integer(it.ttl));
            out.extend([number(it.number), text(&it.holder), time(it.granted), ttl, ended]);
        }
        RowValue::Tile(hashes) => out.push(bytes(hashes)),
        RowValue::Liveness(it) => out.extend([number(it.number), time(it.beat), time(it.deadline)]),
        RowValue::Meta(value) => out.push(text(value)),
    }
}

pub(super) fn hash(row: &rusqlite::Row<'_>, column: usize) -> Result<Hash> {
    row.get::<_, [u8; 32]>(column).map(Hash)
}

pub(super) fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> Result<u64> {
    let found: i64 = row.get(column)?;
    u64::try_from(found).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, found))
}

fn read(table: Table, row: &rusqlite::Row<'_>) -> Result<Row> {
    let text = |column: usize| row.get::<_, String>(column);
    let name = |column: usize| text(column).map(Name::from);
    let time = |column: usize| row.get::<_, i64>(column).map(Time);
    let key = |column: usize| Ok::<_, rusqlite::Error>(Key { kind: name(column)?, id: name(column + 1)? });
    Ok(match table {
        Table::Entity => {
            let entity = Entity {
                key: key(0)?,
                seq: unsigned(row, 2)?,
                version: unsigned(row, 3)?,
                birth: unsigned(row, 4)?,
                shape: row.get(5)?,
                matter: name(6)?,
                class: name(7)?,
                facts: text(8)?.into(),
            };
            (RowKey::Entity(entity.key.clone()), RowValue::Entity(entity))
        }
        Table::Index => (RowKey::Index(Place { index: name(0)?, at: row.get(1)? }, key(2)?), RowValue::Nothing),
        Table::Touch => (RowKey::Touch(unsigned(row, 0)?, key(1)?), RowValue::Touch(unsigned(row, 3)?)),
        Table::Remembered => {
            let value = Remembered {
                request: hash(row, 3)?,
                code: text(4)?,
                first: unsigned(row, 5)?,
                last: unsigned(row, 6)?,
            };
            (RowKey::Remembered([name(0)?, name(1)?, name(2)?]), RowValue::Remembered(value))
        }
        Table::Lease => {
            let ended = row.get::<_, Option<i64>>(5)?.map(|_| unsigned(row, 5)).transpose()?;
            let value =
                Lease { number: unsigned(row, 1)?, holder: text(2)?, granted: time(3)?, ttl: row.get(4)?, ended };
            (RowKey::Lease(name(0)?), RowValue::Lease(value))
        }
        Table::Tile => (RowKey::Tile(row.get(0)?, unsigned(row, 1)?), RowValue::Tile(row.get(2)?)),
        Table::Liveness => {
            let value = Liveness { number: unsigned(row, 1)?, beat: time(2)?, deadline: time(3)? };
            (RowKey::Liveness(name(0)?), RowValue::Liveness(value))
        }
        Table::Due => (RowKey::Due(time(0)?, name(1)?), RowValue::Nothing),
        Table::Meta => (RowKey::Meta(name(0)?), RowValue::Meta(text(1)?)),
    })
}

/// The rows of some keys, each or nothing, in the order asked.
pub(super) fn get(connection: &Connection, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
    let (mut found, mut values) = (Vec::with_capacity(keys.len()), Values::new());
    for keys in keys.chunk_by(|one, next| one.table() == next.table()) {
        let table = keys[0].table();
        let mut statement = connection.prepare_cached(sql(table, Verb::Get))?;
        for key in keys {
            values.clear();
            key_values(key, &mut values);
            let row = statement.query_row(params_from_iter(&values), |row| read(table, row)).optional()?;
            found.push(row.map(|(_, value)| value));
        }
    }
    Ok(found)
}

pub(super) fn range(connection: &Connection, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
    let table = from.table();
    let wanted = sql(table, if to.is_some() { Verb::RangeTo } else { Verb::Range });
    let mut values = Values::new();
    std::iter::once(from).chain(to).for_each(|key| key_values(key, &mut values));
    values.push(number(limit.min(i32::MAX as usize) as u64));
    let mut statement = connection.prepare_cached(wanted)?;
    let rows = statement.query_map(params_from_iter(values), |row| read(table, row))?;
    rows.collect()
}

/// Puts rows in place. Those of one table that follow each other share a statement, some at a time.
pub(super) fn put(connection: &Connection, rows: &[Row]) -> Result<()> {
    for rows in rows.chunk_by(|(one, _), (next, _)| one.table() == next.table()) {
        let table = rows[0].0.table();
        let sql = |count| sql(table, if count == 1 { Verb::Put } else { Verb::PutSome });
        some_at_a_time(connection, rows, sql, |(key, value), values| {
            key_values(key, values);
            rest_values(value, values);
        })?;
    }
    Ok(())
}

/// Runs a statement that takes [`SOME`] rows as long as there are so many, and then one that takes one. What it takes of each
/// row is given.
pub(super) fn some_at_a_time<'a, T>(
    connection: &Connection,
    rows: &'a [T],
    sql: impl Fn(usize) -> &'static str,
    take: impl Fn(&'a T, &mut Values<'a>),
) -> Result<()> {
    let (some, single) = rows.split_at(rows.len() - rows.len() % SOME);
    let mut values = Values::new();
    for (rows, count) in [(some, SOME), (single, 1)] {
        if rows.is_empty() {
            continue;
        }
        let mut statement = connection.prepare_cached(sql(count))?;
        for rows in rows.chunks(count) {
            values.clear();
            rows.iter().for_each(|row| take(row, &mut values));
            statement.execute(params_from_iter(&values))?;
        }
    }
    Ok(())
}

/// Takes rows away, each by a statement: one that takes many gathers them in a table of its own first, and is not faster.
pub(super) fn delete(connection: &Connection, keys: &[RowKey]) -> Result<()> {
    let mut values = Values::new();
    for keys in keys.chunk_by(|one, next| one.table() == next.table()) {
        let mut statement = connection.prepare_cached(sql(keys[0].table(), Verb::Delete))?;
        for key in keys {
            values.clear();
            key_values(key, &mut values);
            statement.execute(params_from_iter(&values))?;
        }
    }
    Ok(())
}
