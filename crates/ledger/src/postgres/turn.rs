//! The writer's place: an advisory lock of the session, and in each transaction the project's row in `head`, locked.
//!
//! Who waits for the place stands in PostgreSQL's own queue. The advisory lock outlasts a commit, so that one transaction can
//! follow on another and nobody comes between; it can be seen by others, which row locks cannot; and it goes with the session,
//! however that ends. Nothing rests on an isolation level: under the locks every statement sees all that was committed before
//! it, and the keys of `event` refuse what slipped through.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use super::open::{self, LOCK};
use super::rows::{hash, unsigned};
use crate::error::Error;
use crate::hash::hex;
use crate::store::{Begun, Head};
use crate::time::Time;
use tokio_postgres::Row;

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const LINE_UP: &str = "SELECT pg_advisory_lock($2::integer, $1::integer)";
const LEAVE: &str = "SELECT pg_advisory_unlock($2::integer, $1::integer)";
const TAKE: &str = "SELECT seq, hash FROM countersign.head WHERE project = $1 FOR UPDATE";
/// What there is to know under the locks; a statement of its own, because one that waited for a lock sees what was there
/// before it waited.
const LOOK: &str = "SELECT last.seq, last.hash,
        ARRAY(SELECT name FROM countersign.meta WHERE project = $1 ORDER BY name),
        ARRAY(SELECT value FROM countersign.meta WHERE project = $1 ORDER BY name),
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        (SELECT coalesce(max(step), 0) FROM countersign.format)
    FROM (SELECT) AS here LEFT JOIN LATERAL (
        SELECT seq, hash FROM countersign.event WHERE project = $1 ORDER BY seq DESC LIMIT 1
    ) last ON true";
/// The same for a transaction that follows on another in the same place. Nobody has written since; but who changes the format waits
/// for no writer's place, and for this row.
const FOLLOW: &str = "SELECT seq, hash, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        (SELECT coalesce(max(step), 0) FROM countersign.format)
    FROM countersign.head WHERE project = $1 FOR UPDATE";
const SETTLE: &str = "UPDATE countersign.head SET seq = seq WHERE project = $1";
const HEAD: &str = "SELECT seq, hash FROM countersign.head WHERE project = $1";
const NOTIFY: &str = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, '')";

const HOLDER: &str = "SELECT a.pid, a.application_name, host(a.client_addr), a.state = 'idle in transaction',
        floor(extract(epoch FROM clock_timestamp() - a.xact_start))::bigint
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1 AND l.objid::bigint = $2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";

const AWAITED: &str = "SELECT EXISTS (SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted AND objsubid = 2 AND classid::bigint = $1 AND objid::bigint = $2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";

/// What becomes of the writer's place once a transaction has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Leave,
    Stay,
}

/// How a transaction has ended.
pub(super) enum Ended {
    /// It is durable, and the place is given up, or goes with the session.
    Left { is_free: bool },
    /// It is durable, and the next one has begun, unless that failed.
    Stayed(Result<Begun, Fault>),
    /// Something in it was refused, and with it all of it.
    Refused(Fault),
}

fn project(session: &Session) -> Value<'static> {
    Box::new(session.project.get())
}

/// Waits for the writer's place and begins a transaction, in one round trip. After an error the session is of no use: it may have
/// the place.
pub(super) async fn begin(session: &Session) -> Result<Begun, Fault> {
    // Who has it already has lost count of it, and whoever asks twice must leave twice.
    if session.holds.get() {
        return Err(Fault::Lost("the writer's place was not given up".to_owned()));
    }
    let mut asks = vec![Ask::bare(BEGIN)];
    if session.settled.get() {
        asks.push(place(session, LINE_UP));
    } else {
        // In line like everybody else, where it can be seen.
        session.ask_one(place(session, LINE_UP)).await?;
        settle(session).await?;
    }
    asks.extend([Ask::new(TAKE, vec![project(session)]), Ask::new(LOOK, vec![project(session)])]);
    let answers = session.ask(&asks).await?;
    let [.., taken, seen] = answers.as_slice() else { return Err(unanswered()) };
    let begun = read_begun(taken, seen)?;
    session.holds.set(true);
    Ok(begun)
}

/// A question about the writer's place.
fn place(session: &Session, sql: &'static str) -> Ask<'static> {
    Ask::new(sql, vec![project(session), Box::new(LOCK)])
}

fn nowhere() -> Fault {
    Fault::Odd("the project is no longer in this database".to_owned())
}

fn read_following(following: &[Row]) -> Result<Begun, Fault> {
    let row = following.first().ok_or_else(nowhere)?;
    open::fits(open::read_format(row, 3)?).map_err(Fault::Said)?;
    let head = Head { seq: unsigned(row, 0)?, hash: hash(row, 1)? };
    Ok(Begun { head, now: Time::shown(row.try_get(2)?).map_err(Fault::Said)?, meta: Vec::new() })
}

fn unanswered() -> Fault {
    Fault::Odd("the server left a question unanswered".to_owned())
}

fn read_begun(taken: &[Row], seen: &[Row]) -> Result<Begun, Fault> {
    let (taken, seen) = (taken.first().ok_or_else(nowhere)?, seen.first().ok_or_else(nowhere)?);
    // Somebody may have brought the database up to date since this session began.
    open::fits(open::read_format(seen, 5)?).map_err(Fault::Said)?;
    let head = Head { seq: unsigned(taken, 0)?, hash: hash(taken, 1)? };
    let last = match seen.try_get::<_, Option<i64>>(0)? {
        Some(_) => Head { seq: unsigned(seen, 0)?, hash: hash(seen, 1)? },
        None => Head::EMPTY,
    };
    if head != last {
        let why = format!("the log should end with event {} and ends with {}", head.seq, last.seq);
        return Err(Fault::Said(Error::Damaged(why)));
    }
    let (names, values): (Vec<String>, Vec<String>) = (seen.try_get(2)?, seen.try_get(3)?);
    let now = Time::shown(seen.try_get(4)?).map_err(Fault::Said)?;
    Ok(Begun { head, now, meta: names.into_iter().zip(values).collect() })
}

/// Makes what can be seen as durable as a commit of our own. With standbys that need not be so: after a crash the primary
/// shows what no standby may have, and an answer that rests on it could be lost with the primary. A commit that waits
/// for the standbys waits for all that came before it.
async fn settle(session: &Session) -> Result<(), Fault> {
    session.warned();
    session.ask_one(Ask::new(SETTLE, vec![project(session)])).await?;
    if session.warned() {
        return Err(Fault::Lost("the standbys have not confirmed what was written".to_owned()));
    }
    session.settled.set(true);
    Ok(())
}

/// Asks for some things, for the end of the transaction, and for what comes then, all at once. If one of the things is refused,
/// the transaction has failed, and its end undoes it; that refusal is given.
pub(super) async fn commit_after(session: &Session, mut asks: Vec<Ask<'_>>, then: Then) -> Result<Ended, Fault> {
    let things = asks.len();
    asks.push(Ask::bare("COMMIT"));
    match then {
        Then::Leave => asks.push(place(session, LEAVE)),
        Then::Stay => {
            asks.extend([Ask::bare(BEGIN), Ask::new(FOLLOW, vec![project(session)])]);
        }
    }
    // Until all are known to the server, nothing is asked for, and so nothing is committed.
    if let Err(fault) = session.prepare(&asks).await {
        return match fault {
            Fault::Refused(..) => Ok(Ended::Refused(fault)),
            fault => Err(Fault::Said(fault.not_written())),
        };
    }
    session.warned();
    let answers = session.ask_each(&asks).await?;
    let has_left = then == Then::Leave && matches!(answers.last(), Some(Ok(rows)) if gave_up(rows));
    session.holds.set(!has_left);
    let mut answers = answers.into_iter();
    for answer in answers.by_ref().take(things) {
        match answer {
            Err(fault @ Fault::Refused(..)) => return Ok(Ended::Refused(fault)),
            answer => drop(answer?),
        }
    }
    answers.next().ok_or_else(unanswered)??;
    if session.warned() {
        // The server's only way to say that somebody ended the wait for the standbys.
        session.settled.set(false);
        return Err(Fault::Lost("the standbys have not confirmed the commit".to_owned()));
    }
    if then == Then::Leave {
        return Ok(Ended::Left { is_free: has_left });
    }
    let next: Result<Vec<_>, Fault> = answers.collect();
    Ok(Ended::Stayed(next.and_then(|answers| match answers.as_slice() {
        [_, following] => read_following(following),
        _ => Err(unanswered()),
    })))
}

/// Ends the transaction without a trace, and gives the place up.
pub(super) async fn rollback(session: &Session) -> Result<(), Fault> {
    let mut asks = vec![Ask::bare("ROLLBACK")];
    if session.holds.get() {
        asks.push(place(session, LEAVE));
    }
    let answers = session.ask(&asks).await?;
    if session.holds.take() && !answers.last().is_some_and(|rows| gave_up(rows)) {
        return Err(Fault::Lost("the writer's place was not given up".to_owned()));
    }
    Ok(())
}

/// Whether the place was had, and is given up.
fn gave_up(rows: &[Row]) -> bool {
    rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false))
}

/// Whether somebody stands in line for the place.
pub(super) async fn is_awaited(session: &Session) -> Result<bool, Fault> {
    let values: Vec<Value<'_>> = vec![Box::new(i64::from(LOCK)), Box::new(i64::from(session.project.get()))];
    let rows = session.ask_one(Ask::new(AWAITED, values)).await?;
    Ok(rows.first().ok_or_else(unanswered)?.try_get(0)?)
}

/// The end of the log.
pub(super) async fn head(session: &Session) -> Result<Head, Fault> {
    let rows = session.ask_one(Ask::new(HEAD, vec![project(session)])).await?;
    match rows.first() {
        Some(row) => Ok(Head { seq: unsigned(row, 0)?, hash: hash(row, 1)? }),
        None => Err(nowhere()),
    }
}

/// The channel on which a project's clients notify each other.
fn channel(project: &str) -> String {
    format!("countersign_{}", hex(&crate::hash::Hash::of(project.as_bytes()).0[..16]))
}

/// Wakes whoever listens, and does not wait for it: what is lost is seen a second later.
pub(super) async fn ring(session: &Session, project: &str) -> Result<(), Fault> {
    session.mention(Ask::new(NOTIFY, vec![Box::new(channel(project))])).await
}

/// Begins to listen.
pub(super) async fn listen(session: &Session, project: &str) -> Result<(), Fault> {
    session.plain(&format!("LISTEN {}", channel(project))).await
}

/// Who has the writer's place.
pub(super) async fn holder(session: &Session) -> Result<Option<String>, Fault> {
    let values: Vec<Value<'_>> = vec![Box::new(i64::from(LOCK)), Box::new(i64::from(session.project.get()))];
    let rows = session.ask_one(Ask::new(HOLDER, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (pid, name): (i32, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
    let (host, idle): (Option<&str>, Option<bool>) = (row.try_get(2)?, row.try_get(3)?);
    let since: Option<i64> = row.try_get(4)?;
    let name = name.filter(|it| !it.is_empty()).unwrap_or("a client");
    let host = host.map(|it| format!(" on {it}")).unwrap_or_default();
    let idle = if idle == Some(true) { ", which asks for nothing" } else { "" };
    let since = since.map(|it| format!(", for {it} s")).unwrap_or_default();
    Ok(Some(format!("{name}{host} (server process {pid}{since}{idle})")))
}
