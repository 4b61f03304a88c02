//! Rows in SQL: statements that get, range, put and delete for each table, many rows at a time.
//!
//! A batch of rows goes to the server as one array for each column, and `unnest` makes rows of them there.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use crate::hash::Hash;
use crate::rows::{Entity, Key, Lease, Liveness, Name, Place, Remembered, Row, RowKey, RowValue, Table};
use crate::time::Time;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a column holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Bytes,
    Number,
}
use Holds::{Bytes, Number, Text};

type Columns = &'static [(&'static str, Holds)];

/// How many rows go to the server in one array at most.
const ROWS_MAX: usize = 4_000;

/// A table's key columns and other columns. `project` comes before them.
const COLUMNS: [(Table, Columns, Columns); 9] = [
    (
        Table::Entity,
        &[("kind", Text), ("id", Text)],
        &[
            ("seq", Number),
            ("version", Number),
            ("birth", Number),
            ("shape", Number),
            ("matter", Text),
            ("class", Text),
            ("facts", Text),
        ],
    ),
    (Table::Index, &[("name", Text), ("at", Bytes), ("kind", Text), ("id", Text)], &[]),
    (Table::Touch, &[("seq", Number), ("kind", Text), ("id", Text)], &[("prev", Number)]),
    (
        Table::Remembered,
        &[("actor", Text), ("command", Text), ("key", Text)],
        &[("request", Bytes), ("code", Text), ("first", Number), ("last", Number)],
    ),
    (
        Table::Lease,
        &[("name", Text)],
        &[("number", Number), ("holder", Text), ("granted", Number), ("ttl", Number), ("ended", Number)],
    ),
    (Table::Tile, &[("level", Number), ("number", Number)], &[("hashes", Bytes)]),
    (Table::Liveness, &[("name", Text)], &[("number", Number), ("beat", Number), ("deadline", Number)]),
    (Table::Due, &[("deadline", Number), ("name", Text)], &[]),
    (Table::Meta, &[("name", Text)], &[("value", Text)]),
];

struct Sql {
    key: Columns,
    all: Vec<(&'static str, Holds)>,
    get: String,
    range: String,
    range_to: String,
    put: String,
    add: String,
    delete: String,
    clear: String,
}

static SQL: LazyLock<Vec<Sql>> =
    LazyLock::new(|| COLUMNS.iter().map(|(table, key, rest)| sql(*table, key, rest)).collect());

fn sql(table: Table, key: Columns, rest: Columns) -> Sql {
    let table = format!("countersign.{}", table.name());
    let all = [key, rest].concat();
    let list = |columns: &[(&str, Holds)], with: &dyn Fn(&str) -> String| {
        columns.iter().map(|(name, _)| with(name)).collect::<Vec<_>>().join(", ")
    };
    let plain = |name: &str| name.to_owned();
    let (keys, columns) = (list(key, &plain), list(&all, &plain));
    let of = |from: &'static str| move |name: &str| format!("{from}.{name}");
    let marks = |from: usize| (from..from + key.len()).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ");
    let (first, second) = (marks(2), marks(2 + key.len()));
    let select = format!("SELECT {columns} FROM {table} WHERE project = $1 AND ({keys}) >= ({first})");
    let order = |limit: usize| format!("ORDER BY {keys} LIMIT ${limit}");
    let same = key.iter().map(|(name, _)| format!("{name} = k.{name}")).collect::<Vec<_>>().join(" AND ");
    // The limit keeps the planner from joining the other way round, which would go through all rows of the project.
    let each = |wanted: &str| {
        format!("CROSS JOIN LATERAL (SELECT {wanted} FROM {table} WHERE project = $1 AND {same} LIMIT 1) t")
    };
    let replace = match rest {
        [] => "NOTHING".to_owned(),
        rest => format!("UPDATE SET {}", list(rest, &|name| format!("{name} = excluded.{name}"))),
    };
    let insert = format!("INSERT INTO {table} (project, {columns}) SELECT $1, * FROM {}", arrays(&all));
    Sql {
        get: format!(
            "SELECT k.nth, {} FROM {} WITH ORDINALITY AS k({keys}, nth) {}",
            list(&all, &of("t")),
            arrays(key),
            each(&columns)
        ),
        range: format!("{select} {}", order(2 + key.len())),
        range_to: format!("{select} AND ({keys}) < ({second}) {}", order(2 + 2 * key.len())),
        put: format!("{insert} ON CONFLICT (project, {keys}) DO {replace}"),
        add: insert,
        delete: format!(
            "DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM {} AS k({keys}) {}))",
            arrays(key),
            each("ctid")
        ),
        clear: format!("DELETE FROM {table} WHERE project = $1"),
        key,
        all,
    }
}

/// `unnest` over an array for each column, the second value of the statement being the first of them.
fn arrays(columns: &[(&str, Holds)]) -> String {
    let kind = |holds: &Holds| match holds {
        Text => "text",
        Bytes => "bytea",
        Number => "bigint",
    };
    let each = columns.iter().zip(2..).map(|((_, holds), n)| format!("${n}::{}[]", kind(holds)));
    format!("unnest({})", each.collect::<Vec<_>>().join(", "))
}

fn of(table: Table) -> &'static Sql {
    &SQL[table as usize]
}

/// One value of a row.
enum Cell<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    Number(i64),
    None,
}

/// Sequence numbers and the like stay far below 2^63; what is asked for need not.
fn number(number: u64) -> Cell<'static> {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn key_cells(key: &RowKey) -> Vec<Cell<'_>> {
    match key {
        RowKey::Entity(Key { kind, id }) => vec![Cell::Text(kind), Cell::Text(id)],
        RowKey::Index(place, Key { kind, id }) => {
            vec![Cell::Text(&place.index), Cell::Bytes(&place.at), Cell::Text(kind), Cell::Text(id)]
        }
        RowKey::Touch(seq, Key { kind, id }) => vec![number(*seq), Cell::Text(kind), Cell::Text(id)],
        RowKey::Remembered(names) => names.iter().map(|name| Cell::Text(name)).collect(),
        RowKey::Lease(name) | RowKey::Liveness(name) | RowKey::Meta(name) => vec![Cell::Text(name)],
        RowKey::Tile(level, tile) => vec![number(u64::from(*level)), number(*tile)],
        RowKey::Due(deadline, name) => vec![Cell::Number(deadline.0), Cell::Text(name)],
    }
}

fn rest_cells<'a>(value: &'a RowValue, out: &mut Vec<Cell<'a>>) {
    match value {
        RowValue::Nothing => {}
        RowValue::Touch(prev) => out.push(number(*prev)),
        RowValue::Entity(it) => {
            out.extend([it.seq, it.version, it.birth, u64::from(it.shape)].map(number));
            out.extend([&*it.matter, &*it.class, &*it.facts].map(Cell::Text));
        }
        RowValue::Remembered(it) => {
            out.extend([Cell::Bytes(&it.request.0), Cell::Text(&it.code), number(it.first), number(it.last)]);
        }
        RowValue::Lease(it) => {
            let ended = it.ended.map_or(Cell::None, number);
            let (granted, ttl) = (Cell::Number(it.granted.0), Cell::Number(it.ttl));
            out.extend([number(it.number), Cell::Text(&it.holder), granted, ttl, ended]);
        }
        RowValue::Tile(hashes) => out.push(Cell::Bytes(hashes)),
        RowValue::Liveness(it) => {
            out.extend([number(it.number), Cell::Number(it.beat.0), Cell::Number(it.deadline.0)]);
        }
        RowValue::Meta(value) => out.push(Cell::Text(value)),
    }
}

/// A value by itself.
fn single(cell: Cell<'_>) -> Value<'_> {
    match cell {
        Cell::Text(text) => Box::new(text),
        Cell::Bytes(bytes) => Box::new(bytes),
        Cell::Number(number) => Box::new(number),
        Cell::None => Box::new(None::<i64>),
    }
}

/// Rows as an array for each column, after the project.
fn columns<'a>(project: i32, columns: &[(&str, Holds)], rows: &[Vec<Cell<'a>>]) -> Vec<Value<'a>> {
    let mut values: Vec<Value<'a>> = vec![Box::new(project)];
    for (at, (_, holds)) in columns.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(at));
        values.push(match holds {
            Text => {
                Box::new(cells.map(|it| if let Cell::Text(text) = it { Some(*text) } else { None }).collect::<Vec<_>>())
            }
            Bytes => Box::new(
                cells.map(|it| if let Cell::Bytes(bytes) = it { Some(*bytes) } else { None }).collect::<Vec<_>>(),
            ),
            Number => Box::new(
                cells.map(|it| if let Cell::Number(number) = it { Some(*number) } else { None }).collect::<Vec<_>>(),
            ),
        });
    }
    values
}

/// Statements for some rows, grouped by table.
fn grouped<'a>(
    project: i32,
    rows: impl Iterator<Item = (Table, Vec<Cell<'a>>)>,
    statement: impl Fn(&'static Sql) -> (&'static str, &'static [(&'static str, Holds)]),
) -> Vec<Ask<'a>> {
    let mut tables: BTreeMap<Table, Vec<Vec<Cell<'a>>>> = BTreeMap::new();
    for (table, cells) in rows {
        tables.entry(table).or_default().push(cells);
    }
    let mut asks = Vec::new();
    for (table, rows) in &tables {
        let (sql, names) = statement(of(*table));
        asks.extend(rows.chunks(ROWS_MAX).map(|rows| Ask::new(sql, columns(project, names, rows))));
    }
    asks
}

/// What puts some rows in place. Those that are known to be new are added, which costs the server much less than to be
/// ready to find them there.
pub(super) fn put<'a>(project: i32, rows: &'a [Row], new: &[bool]) -> Vec<Ask<'a>> {
    let cells = |(key, value): &'a Row| {
        let mut cells = key_cells(key);
        rest_cells(value, &mut cells);
        (key.table(), cells)
    };
    let all = || rows.iter().zip(new.iter().chain(std::iter::repeat(&false)));
    let some = |wanted: bool| all().filter(move |(_, new)| **new == wanted).map(move |(row, _)| cells(row));
    let mut asks = grouped(project, some(false), |sql| (&sql.put, &sql.all));
    asks.extend(grouped(project, some(true), |sql| (&sql.add, &sql.all)));
    asks
}

/// What takes some rows away.
pub(super) fn delete(project: i32, keys: &[RowKey]) -> Vec<Ask<'_>> {
    grouped(project, keys.iter().map(|key| (key.table(), key_cells(key))), |sql| (&sql.delete, sql.key))
}

/// What takes all rows of a table away.
pub(super) fn clear(project: i32, table: Table) -> Ask<'static> {
    Ask::new(&of(table).clear, vec![Box::new(project)])
}

/// The rows of some keys, each or nothing, in the order asked.
pub(super) async fn get(session: &Session, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>, Fault> {
    let mut tables: BTreeMap<Table, Vec<usize>> = BTreeMap::new();
    for (at, key) in keys.iter().enumerate() {
        tables.entry(key.table()).or_default().push(at);
    }
    let ask = |(table, places): (&Table, &Vec<usize>)| {
        let cells: Vec<_> = places.iter().map(|at| key_cells(&keys[*at])).collect();
        Ask::new(&of(*table).get, columns(session.project.get(), of(*table).key, &cells))
    };
    let asks: Vec<_> = tables.iter().map(ask).collect();
    let mut found: Vec<Option<RowValue>> = keys.iter().map(|_| None).collect();
    for ((table, places), rows) in tables.iter().zip(session.ask(&asks).await?) {
        for row in rows {
            let nth = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0);
            let place = nth.checked_sub(1).and_then(|nth| places.get(nth)).and_then(|at| found.get_mut(*at));
            if let Some(place) = place {
                *place = Some(read(*table, &row, 1)?.1);
            }
        }
    }
    Ok(found)
}

/// At most `limit` rows of a stretch.
pub(super) async fn range(
    session: &Session,
    from: &RowKey,
    to: Option<&RowKey>,
    limit: usize,
) -> Result<Vec<Row>, Fault> {
    let table = from.table();
    let sql = if to.is_some() { &of(table).range_to } else { &of(table).range };
    let mut values: Vec<Value<'_>> = vec![Box::new(session.project.get())];
    values.extend(key_cells(from).into_iter().chain(to.into_iter().flat_map(key_cells)).map(single));
    values.push(Box::new(i64::try_from(limit).unwrap_or(i64::MAX)));
    let rows = session.ask_one(Ask::new(sql, values)).await?;
    rows.iter().map(|row| read(table, row, 0)).collect()
}

pub(super) fn hash(row: &tokio_postgres::Row, column: usize) -> Result<Hash, Fault> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map(Hash).map_err(|_| Fault::Odd(format!("a hash has {} bytes", bytes.len())))
}

pub(super) fn unsigned(row: &tokio_postgres::Row, column: usize) -> Result<u64, Fault> {
    narrow(row.try_get(column)?)
}

fn narrow<T: TryFrom<i64>>(found: i64) -> Result<T, Fault> {
    T::try_from(found).map_err(|_| Fault::Odd(format!("a number is {found}, which was never written")))
}

fn read(table: Table, row: &tokio_postgres::Row, first: usize) -> Result<Row, Fault> {
    let text = |column: usize| Ok::<String, Fault>(row.try_get(first + column)?);
    let name = |column: usize| text(column).map(Name::from);
    let bytes = |column: usize| Ok::<Vec<u8>, Fault>(row.try_get(first + column)?);
    let unsigned = |column: usize| unsigned(row, first + column);
    let signed = |column: usize| Ok::<i64, Fault>(row.try_get(first + column)?);
    let time = |column: usize| signed(column).map(Time);
    let key = |column: usize| Ok::<_, Fault>(Key { kind: name(column)?, id: name(column + 1)? });
    Ok(match table {
        Table::Entity => {
            let entity = Entity {
                key: key(0)?,
                seq: unsigned(2)?,
                version: unsigned(3)?,
                birth: unsigned(4)?,
                shape: narrow(signed(5)?)?,
                matter: name(6)?,
                class: name(7)?,
                facts: text(8)?.into(),
            };
            (RowKey::Entity(entity.key.clone()), RowValue::Entity(entity))
        }
        Table::Index => (RowKey::Index(Place { index: name(0)?, at: bytes(1)? }, key(2)?), RowValue::Nothing),
        Table::Touch => (RowKey::Touch(unsigned(0)?, key(1)?), RowValue::Touch(unsigned(3)?)),
        Table::Remembered => {
            let value =
                Remembered { request: hash(row, first + 3)?, code: text(4)?, first: unsigned(5)?, last: unsigned(6)? };
            (RowKey::Remembered([name(0)?, name(1)?, name(2)?]), RowValue::Remembered(value))
        }
        Table::Lease => {
            let ended = row.try_get::<_, Option<i64>>(first + 5)?.map(narrow).transpose()?;
            let value = Lease { number: unsigned(1)?, holder: text(2)?, granted: time(3)?, ttl: signed(4)?, ended };
            (RowKey::Lease(name(0)?), RowValue::Lease(value))
        }
        Table::Tile => (RowKey::Tile(narrow(signed(0)?)?, unsigned(1)?), RowValue::Tile(bytes(2)?)),
        Table::Liveness => {
            let value = Liveness { number: unsigned(1)?, beat: time(2)?, deadline: time(3)? };
            (RowKey::Liveness(name(0)?), RowValue::Liveness(value))
        }
        Table::Due => (RowKey::Due(time(0)?, name(1)?), RowValue::Nothing),
        Table::Meta => (RowKey::Meta(name(0)?), RowValue::Meta(text(1)?)),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::conformance::postgres_server::shared;
    use crate::postgres::{Postgres, log, open};

    /// On an empty database the planner takes every table for small.
    #[test]
    fn every_statement_goes_by_the_whole_key_even_if_it_was_planned_when_there_was_nothing() {
        let server = shared();
        drop(Postgres::create(&server.url(), "plans"));
        let of_rows = SQL.iter().flat_map(|it| [&it.get, &it.range, &it.range_to, &it.delete].map(String::as_str));
        for sql in of_rows.chain(log::BY_KEY) {
            let values = (1..).take_while(|n| sql.contains(&format!("${n}"))).map(|_| "NULL").collect::<Vec<_>>();
            let plan = server.sql(&format!(
                "{}; PREPARE q AS {sql}; EXPLAIN (COSTS OFF) EXECUTE q({})",
                open::SETTLE,
                values.join(", ")
            ));
            let all_of_project = plan.lines().any(|line| line.ends_with("Index Cond: (project = $1)"));
            let bounded = plan.contains("Index Cond") && !all_of_project && !plan.contains("Seq Scan");
            assert!(bounded && !plan.contains("Sort Key: seq"), "{sql}\n{plan}");
        }
    }
}
