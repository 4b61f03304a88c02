//! The writer's place: the project's row in `head`, locked.
//!
//! Who waits for the lock stands in PostgreSQL's own queue. Nothing rests on an isolation level: under the lock every
//! statement sees all that was committed before it, and the keys of `event` refuse what slipped through.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use super::open::{self, LOCK};
use super::rows::{hash, unsigned};
use crate::error::Error;
use crate::hash::hex;
use crate::store::{Begun, Head};
use crate::time::Time;

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const TAKE: &str = "SELECT seq, hash FROM countersign.head WHERE project = $1 FOR UPDATE";
/// What there is to know under the lock; a statement of its own, because one that waited for the lock sees what was there
/// before it waited. Nobody waits for the lock that it takes: row locks cannot be seen by others, and this one can.
const LOOK: &str = "SELECT last.seq, last.hash,
        ARRAY(SELECT name FROM countersign.meta WHERE project = $1 ORDER BY name),
        ARRAY(SELECT value FROM countersign.meta WHERE project = $1 ORDER BY name),
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        (SELECT coalesce(max(step), 0) FROM countersign.format),
        pg_try_advisory_xact_lock($2::integer, $1::integer)
    FROM (SELECT) AS here LEFT JOIN LATERAL (
        SELECT seq, hash FROM countersign.event WHERE project = $1 ORDER BY seq DESC LIMIT 1
    ) last ON true";
const SETTLE: &str = "UPDATE countersign.head SET seq = seq WHERE project = $1";
const HEAD: &str = "SELECT seq, hash FROM countersign.head WHERE project = $1";
const NOTIFY: &str = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, '')";

const HOLDER: &str = "SELECT a.pid, a.application_name, host(a.client_addr), a.state = 'idle in transaction',
        floor(extract(epoch FROM clock_timestamp() - a.xact_start))::bigint
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1 AND l.objid::bigint = $2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";

fn project(session: &Session) -> Value<'static> {
    Box::new(session.project.get())
}

/// Waits for the writer's place and begins a transaction, in one round trip.
pub(super) async fn begin(session: &Session) -> Result<Begun, Fault> {
    settle(session).await?;
    let asks = [
        Ask::bare(BEGIN),
        Ask::new(TAKE, vec![project(session)]),
        Ask::new(LOOK, vec![project(session), Box::new(LOCK)]),
    ];
    let answers = session.ask(&asks).await?;
    let [_, taken, seen] = answers.as_slice() else {
        return Err(Fault::Odd("the server left a question unanswered".to_owned()));
    };
    let (Some(taken), Some(seen)) = (taken.first(), seen.first()) else {
        return Err(Fault::Odd("the project is no longer in this database".to_owned()));
    };
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
    if session.settled.get() {
        return Ok(());
    }
    session.warned();
    session.ask_one(Ask::new(SETTLE, vec![project(session)])).await?;
    if session.warned() {
        return Err(Fault::Lost("the standbys have not confirmed what was written".to_owned()));
    }
    session.settled.set(true);
    Ok(())
}

/// Ends the transaction for good.
pub(super) async fn commit(session: &Session) -> Result<(), Fault> {
    commit_after(session, Vec::new()).await?.map_or(Ok(()), Err)
}

/// Asks for some things and for the end of the transaction, all at once. If one of them is refused, the transaction has
/// failed, and its end undoes it; that refusal is given.
pub(super) async fn commit_after(session: &Session, mut asks: Vec<Ask<'_>>) -> Result<Option<Fault>, Fault> {
    asks.push(Ask::bare("COMMIT"));
    // Until all are known to the server, nothing is asked for, and so nothing is committed.
    if let Err(fault) = session.prepare(&asks).await {
        return match fault {
            Fault::Refused(..) => Ok(Some(fault)),
            fault => Err(Fault::Said(fault.not_written())),
        };
    }
    session.warned();
    let mut answers = session.ask_each(&asks).await?;
    let committed = answers.pop();
    for answer in answers {
        match answer {
            Err(fault @ Fault::Refused(..)) => return Ok(Some(fault)),
            answer => drop(answer?),
        }
    }
    committed.transpose()?;
    if session.warned() {
        // The server's only way to say that somebody ended the wait for the standbys.
        session.settled.set(false);
        return Err(Fault::Lost("the standbys have not confirmed the commit".to_owned()));
    }
    Ok(None)
}

/// Ends the transaction without a trace.
pub(super) async fn rollback(session: &Session) -> Result<(), Fault> {
    session.ask_one(Ask::bare("ROLLBACK")).await.map(drop)
}

/// The end of the log.
pub(super) async fn head(session: &Session) -> Result<Head, Fault> {
    let rows = session.ask_one(Ask::new(HEAD, vec![project(session)])).await?;
    match rows.first() {
        Some(row) => Ok(Head { seq: unsigned(row, 0)?, hash: hash(row, 1)? }),
        None => Err(Fault::Odd("the project is no longer in this database".to_owned())),
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
