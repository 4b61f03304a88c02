//! Events and texts in SQL.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use super::rows::{hash, unsigned};
use crate::error::Error;
use crate::event::{INLINE_BYTES_MAX, Text};
use crate::hash::Hash;
use crate::rows::{EventRow, TextRow};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How much goes to the server in one statement, about.
const STATEMENT_BYTES: usize = 4 * 1024 * 1024;
/// How long a part of a long text is.
const PART_BYTES: usize = 256 * 1024;

/// Changes nothing if the log does not end where it must; then there is nothing to divide by, and the transaction fails.
const ADVANCE: &str = "WITH moved AS (
        UPDATE countersign.head SET seq = $2, hash = $3 WHERE project = $1 AND seq = $4 RETURNING 1
    ) SELECT 1 / count(*) FROM moved";
const APPEND: &str = "INSERT INTO countersign.event (project, seq, id, run, hash, body)
    SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::text[])";
const SAY: &str = "INSERT INTO countersign.text (project, seq, n, salt, body, blob)
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])";
const KEEP: &str = "INSERT INTO countersign.blob (project, hash, n, part)
    SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[]) ON CONFLICT DO NOTHING";
/// Long texts go with the last text that names them. Limits and sums keep the planner to this order: from the keys to
/// the rows, and never through all rows of the project.
const DROP: &str = "DELETE FROM countersign.blob WHERE ctid = ANY (ARRAY(
    SELECT part.ctid FROM (
        SELECT DISTINCT t.blob FROM unnest($2::bigint[], $3::bigint[]) AS k(seq, n) CROSS JOIN LATERAL (
            SELECT blob FROM countersign.text WHERE project = $1 AND seq = k.seq AND n = k.n LIMIT 1
        ) t WHERE t.blob IS NOT NULL
    ) gone CROSS JOIN LATERAL (
        SELECT count(*) AS others FROM countersign.text o WHERE o.project = $1 AND o.blob = gone.blob
            AND NOT EXISTS (SELECT FROM unnest($2::bigint[], $3::bigint[]) AS k(seq, n)
                WHERE k.seq = o.seq AND k.n = o.n)
    ) still CROSS JOIN LATERAL (
        SELECT ctid FROM countersign.blob WHERE project = $1 AND hash = gone.blob OFFSET 0
    ) part WHERE still.others = 0))";
const EMPTY: &str = "UPDATE countersign.text SET salt = NULL, body = NULL, blob = NULL WHERE ctid = ANY (ARRAY(
    SELECT t.ctid FROM unnest($2::bigint[], $3::bigint[]) AS k(seq, n) CROSS JOIN LATERAL (
        SELECT ctid FROM countersign.text WHERE project = $1 AND seq = k.seq AND n = k.n LIMIT 1
    ) t))";

const EVENTS: &str = "SELECT seq, id, run, hash, body FROM countersign.event
    WHERE project = $1 AND seq >= $2 ORDER BY seq LIMIT $3";
const EVENTS_OF_RUN: &str = "SELECT seq, id, run, hash, body FROM countersign.event
    WHERE project = $1 AND run = $4 AND seq >= $2 ORDER BY seq LIMIT $3";
const FIND: &str = "SELECT seq FROM countersign.event WHERE project = $1 AND id = $2";
const TEXTS: &str = "SELECT seq, n, salt, body, blob FROM countersign.text
    WHERE project = $1 AND seq >= $2 AND seq < $3 ORDER BY seq, n";
const SIZES: &str = "SELECT octet_length(e.body) + coalesce((
        SELECT sum(coalesce(octet_length(t.body), 0) + coalesce((
            SELECT sum(octet_length(b.part)) FROM countersign.blob b WHERE b.project = $1 AND b.hash = t.blob), 0))
        FROM countersign.text t WHERE t.project = $1 AND t.seq = e.seq), 0)::bigint
    FROM countersign.event e WHERE e.project = $1 AND e.seq >= $2 ORDER BY e.seq LIMIT $3";
const PARTS: &str = "SELECT n, part FROM countersign.blob WHERE project = $1 AND hash = $2 ORDER BY n";

/// What must not cost more because the log is long.
#[cfg(test)]
pub(super) const BY_KEY: [&str; 8] = [DROP, EMPTY, EVENTS, EVENTS_OF_RUN, FIND, TEXTS, SIZES, PARTS];

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What adds some events, in order. The first change moves the end of the log, and all fails if that is not where the events
/// begin.
pub(super) fn append(project: i32, events: &[EventRow]) -> Vec<Ask<'_>> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Vec::new() };
    let values: Vec<Value<'_>> = vec![
        Box::new(project),
        Box::new(signed(last.seq)),
        Box::new(last.hash.0.as_slice()),
        Box::new(signed(first.seq.saturating_sub(1))),
    ];
    let mut asks = vec![Ask::new(ADVANCE, values)];
    asks.extend(chunks(events, |event| event.body.len()).map(|events| {
        let values: Vec<Value<'_>> = vec![
            Box::new(project),
            Box::new(events.iter().map(|it| signed(it.seq)).collect::<Vec<_>>()),
            Box::new(events.iter().map(|it| it.id.as_str()).collect::<Vec<_>>()),
            Box::new(events.iter().map(|it| it.run.as_deref()).collect::<Vec<_>>()),
            Box::new(events.iter().map(|it| it.hash.0.as_slice()).collect::<Vec<_>>()),
            Box::new(events.iter().map(|it| it.body.as_str()).collect::<Vec<_>>()),
        ];
        Ask::new(APPEND, values)
    }));
    asks
}

/// What adds some texts.
pub(super) fn say(project: i32, texts: &[TextRow]) -> Vec<Ask<'_>> {
    let long = |row: &TextRow| row.text.as_ref().is_some_and(|it| it.body.len() > INLINE_BYTES_MAX);
    let mut asks = Vec::new();
    for text in texts.iter().filter(|row| long(row)).filter_map(|row| row.text.as_ref()) {
        asks.extend(keep(project, text));
    }
    let inline = |row: &TextRow| row.text.as_ref().map_or(0, |it| if long(row) { 0 } else { it.body.len() });
    asks.extend(chunks(texts, inline).map(|texts| {
        let text = |row: &'_ TextRow| row.text.clone();
        let hashes = texts.iter().map(|row| row.text.as_ref().filter(|_| long(row)).map(|it| it.hash().0.to_vec()));
        let values: Vec<Value<'_>> = vec![
            Box::new(project),
            Box::new(texts.iter().map(|it| signed(it.seq)).collect::<Vec<_>>()),
            Box::new(texts.iter().map(|it| i64::from(it.n)).collect::<Vec<_>>()),
            Box::new(texts.iter().map(|row| text(row).map(|it| it.salt.to_vec())).collect::<Vec<_>>()),
            Box::new(
                texts
                    .iter()
                    .map(|row| row.text.as_ref().filter(|_| !long(row)).map(|it| it.body.as_slice()))
                    .collect::<Vec<_>>(),
            ),
            Box::new(hashes.collect::<Vec<_>>()),
        ];
        Ask::new(SAY, values)
    }));
    asks
}

/// What keeps a long text, in parts.
fn keep(project: i32, text: &Text) -> Vec<Ask<'_>> {
    let hash = text.hash().0;
    let parts: Vec<(i64, &[u8])> = (0..).zip(text.body.chunks(PART_BYTES)).collect();
    let some = |parts: &[(i64, &'_ [u8])]| {
        let numbers: Vec<_> = parts.iter().map(|(n, _)| *n).collect();
        (numbers, parts.iter().map(|(_, part)| part.to_vec()).collect::<Vec<_>>())
    };
    let ask = |parts: &[(i64, &[u8])]| {
        let (numbers, parts) = some(parts);
        let values: Vec<Value<'static>> =
            vec![Box::new(project), Box::new(hash.to_vec()), Box::new(numbers), Box::new(parts)];
        Ask::new(KEEP, values)
    };
    chunks(&parts, |(_, part)| part.len()).map(ask).collect()
}

/// What empties some texts.
pub(super) fn erase(project: i32, places: &[(u64, u32)]) -> Vec<Ask<'static>> {
    if places.is_empty() {
        return Vec::new();
    }
    let values = || -> Vec<Value<'static>> {
        let seqs = places.iter().map(|(seq, _)| signed(*seq)).collect::<Vec<_>>();
        let numbers = places.iter().map(|(_, n)| i64::from(*n)).collect::<Vec<_>>();
        vec![Box::new(project), Box::new(seqs), Box::new(numbers)]
    };
    vec![Ask::new(DROP, values()), Ask::new(EMPTY, values())]
}

/// Runs of items that are about as long as one statement should be.
fn chunks<T>(items: &[T], length: impl Fn(&T) -> usize) -> impl Iterator<Item = &[T]> {
    const ITEMS_MAX: usize = 4_000;
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |item: &T| {
            let first = bytes == 0;
            bytes += length(item) + 1;
            first || bytes <= STATEMENT_BYTES
        };
        let count = rest.iter().take(ITEMS_MAX).map(fits).take_while(|fits| *fits).count();
        let (now, later) = rest.split_at(count);
        rest = later;
        (!now.is_empty()).then_some(now)
    })
}

pub(super) async fn events(
    session: &Session,
    from: u64,
    run: Option<&str>,
    limit: usize,
) -> Result<Vec<EventRow>, Fault> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut values: Vec<Value<'_>> = vec![Box::new(session.project.get()), Box::new(signed(from)), Box::new(limit)];
    values.extend(run.map(|run| Box::new(run) as Value<'_>));
    let sql = if run.is_some() { EVENTS_OF_RUN } else { EVENTS };
    let read = |row: &tokio_postgres::Row| {
        let (seq, hash) = (unsigned(row, 0)?, hash(row, 3)?);
        Ok(EventRow { seq, id: row.try_get(1)?, run: row.try_get(2)?, hash, body: row.try_get(4)? })
    };
    session.ask_one(Ask::new(sql, values)).await?.iter().map(read).collect()
}

pub(super) async fn find(session: &Session, id: &str) -> Result<Option<u64>, Fault> {
    let rows = session.ask_one(Ask::new(FIND, vec![Box::new(session.project.get()), Box::new(id)])).await?;
    rows.first().map(|row| unsigned(row, 0)).transpose()
}

pub(super) async fn texts(session: &Session, from: u64, to: u64) -> Result<Vec<TextRow>, Fault> {
    let project = session.project.get();
    let values: Vec<Value<'_>> = vec![Box::new(project), Box::new(signed(from)), Box::new(signed(to))];
    let rows = session.ask_one(Ask::new(TEXTS, values)).await?;
    let mut long = HashMap::new();
    for row in &rows {
        if row.try_get::<_, Option<&[u8]>>(4)?.is_some() {
            let hash = hash(row, 4)?;
            if let Entry::Vacant(entry) = long.entry(hash) {
                entry.insert(whole(session, hash).await?);
            }
        }
    }
    rows.iter().map(|row| text(row, &long)).collect()
}

pub(super) async fn sizes(session: &Session, from: u64, limit: usize) -> Result<Vec<u64>, Fault> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: Vec<Value<'_>> = vec![Box::new(session.project.get()), Box::new(signed(from)), Box::new(limit)];
    session.ask_one(Ask::new(SIZES, values)).await?.iter().map(|row| unsigned(row, 0)).collect()
}

/// A long text, put together. Nothing, if a part is missing.
async fn whole(session: &Session, hash: Hash) -> Result<Option<Vec<u8>>, Fault> {
    let values: Vec<Value<'_>> = vec![Box::new(session.project.get()), Box::new(hash.0.to_vec())];
    let rows = session.ask_one(Ask::new(PARTS, values)).await?;
    let mut body = Vec::new();
    for (at, row) in (0_i64..).zip(&rows) {
        if row.try_get::<_, i64>(0)? != at {
            return Ok(None);
        }
        body.extend_from_slice(row.try_get(1)?);
    }
    Ok((!rows.is_empty()).then_some(body))
}

fn text(row: &tokio_postgres::Row, long: &HashMap<Hash, Option<Vec<u8>>>) -> Result<TextRow, Fault> {
    let (seq, n) = (unsigned(row, 0)?, unsigned(row, 1)?);
    let damaged = |why: &str| Fault::Said(Error::Damaged(format!("text {n} of event {seq} {why}")));
    let salt: Option<&[u8]> = row.try_get(2)?;
    let inline: Option<Vec<u8>> = row.try_get(3)?;
    let body = match (inline, row.try_get::<_, Option<&[u8]>>(4)?) {
        (Some(_), Some(_)) => return Err(damaged("is both in one piece and in parts")),
        (inline, None) => inline,
        (None, Some(_)) => {
            let body = long.get(&hash(row, 4)?).cloned().flatten();
            Some(body.ok_or_else(|| damaged("is missing in part"))?)
        }
    };
    let n = u32::try_from(n).map_err(|_| damaged("has a number that was never written"))?;
    TextRow::of_columns(seq, n, salt, body).map_err(Fault::Said)
}
