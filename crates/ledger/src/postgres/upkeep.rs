//! Looking after the database: what is erased is gone, what does not belong is found, and what there is can be told.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use crate::error::Error;
use crate::event::INLINE_BYTES_MAX;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long to wait for others that still may see what was erased.
const OTHERS_MAX: Duration = Duration::from_secs(3);
const OTHERS_PAUSE: Duration = Duration::from_millis(100);

/// Everything that is in our schema or acts on it, a line for each. A trigger, a rule or a column that somebody added by hand is
/// as good a way to change what is recorded as any; a table elsewhere that inherits one of ours has rows that are read as ours;
/// and an event trigger acts on whatever is made in the database, unless it belongs to an extension.
const SCHEMA: &str = r#"
WITH ours AS (SELECT * FROM pg_class WHERE relnamespace = to_regnamespace('countersign')::oid)
SELECT CASE relkind WHEN 'r' THEN 'table ' WHEN 'S' THEN 'sequence ' ELSE 'relation ' END || relname
    || CASE relpersistence WHEN 'p' THEN '' ELSE ', which does not survive a crash' END
    || CASE WHEN relrowsecurity OR relforcerowsecurity THEN ', which hides rows' ELSE '' END
    FROM ours WHERE relkind <> 'i'
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN o.collname IS NULL THEN '' ELSE ' ' || o.collname END
    || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
    || CASE WHEN a.attidentity <> '' OR a.attgenerated <> '' THEN ' generated' ELSE '' END
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM ours c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    LEFT JOIN pg_collation o ON o.oid = a.attcollation
    WHERE c.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT pg_get_indexdef(i.indexrelid) || CASE WHEN i.indisvalid THEN '' ELSE ', which is not valid' END
    FROM ours c JOIN pg_index i ON i.indrelid = c.oid
UNION ALL
SELECT 'constraint ' || n.conname || ' on ' || c.relname || ' ' || pg_get_constraintdef(n.oid)
    FROM ours c JOIN pg_constraint n ON n.conrelid = c.oid AND n.contype IN ('c', 'f', 'x')
UNION ALL
SELECT pg_get_triggerdef(t.oid) FROM ours c JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal
UNION ALL
SELECT pg_get_ruledef(r.oid) FROM ours c JOIN pg_rewrite r ON r.ev_class = c.oid
UNION ALL
SELECT 'policy ' || p.polname || ' on ' || c.relname FROM ours c JOIN pg_policy p ON p.polrelid = c.oid
UNION ALL
SELECT 'function ' || p.proname FROM pg_proc p WHERE p.pronamespace = to_regnamespace('countersign')::oid
UNION ALL
SELECT 'type ' || t.typname FROM pg_type t WHERE t.typnamespace = to_regnamespace('countersign')::oid
    AND t.typrelid = 0 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
UNION ALL
SELECT 'table ' || i.inhrelid::regclass || ', whose rows are those of ' || c.relname || ' as well'
    FROM ours c JOIN pg_inherits i ON i.inhparent = c.oid WHERE c.relkind IN ('r', 'p')
UNION ALL
SELECT 'table ' || c.relname || ', whose rows are those of ' || i.inhparent::regclass || ' as well'
    FROM ours c JOIN pg_inherits i ON i.inhrelid = c.oid WHERE c.relkind IN ('r', 'p')
UNION ALL
SELECT 'event trigger ' || v.evtname || ' on ' || v.evtevent FROM pg_event_trigger v WHERE v.evtenabled <> 'D'
    AND v.evtowner = (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'countersign')
    AND NOT EXISTS (SELECT FROM pg_depend d
        WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = v.oid AND d.deptype = 'e')"#;

/// What [`SCHEMA`] gives for a database that the steps made.
const EXPECTED: &str = include_str!("steps/schema.txt");

const ORPHANS: &str = "SELECT DISTINCT encode(b.hash, 'hex') FROM countersign.blob b WHERE b.project = $1
    AND NOT EXISTS (SELECT FROM countersign.text t WHERE t.project = $1 AND t.blob = b.hash) LIMIT 20";
/// Texts that lie where no text of their length is put, or in parts that are not found by their hash.
const MISPLACED: &str = "SELECT 'text ' || t.n || ' of event ' || t.seq FROM countersign.text t
    WHERE t.project = $1 AND (octet_length(t.body) > $2::bigint OR t.blob IS NOT NULL AND (
        EXISTS (SELECT FROM countersign.event e WHERE e.project = $1 AND e.seq = t.seq
            AND e.body LIKE '%\"texts\":%' AND position(encode(t.blob, 'hex') IN e.body) = 0)
        OR (SELECT sum(octet_length(b.part)) FROM countersign.blob b WHERE b.project = $1 AND b.hash = t.blob) <= $2::bigint))
    LIMIT 20";
const SWEEP: &str = "DELETE FROM countersign.blob b WHERE b.project = $1
    AND NOT EXISTS (SELECT FROM countersign.text t WHERE t.project = $1 AND t.blob = b.hash)";

const HERE: &str = "SELECT pg_current_xact_id()::xid::text";
/// Whoever may still see rows as they were before a transaction. What they may see is not taken away.
const OTHERS: &str = "SELECT string_agg(who, ', ') FROM (
        SELECT coalesce(nullif(application_name, ''), backend_type) || ' (server process ' || pid || ')' AS who,
            unnest(ARRAY[backend_xmin, backend_xid]) AS since
            FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (datname IS NULL OR datname = current_database())
        UNION ALL SELECT 'replication slot ' || slot_name, xmin FROM pg_replication_slots
        UNION ALL SELECT 'prepared transaction ' || gid, transaction FROM pg_prepared_xacts
    ) others WHERE since IS NOT NULL AND age(since) > age($1::text::xid)";

const DESCRIBE: &str = "SELECT current_setting('server_version'), current_setting('fsync'),
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
    (SELECT coalesce(max(step), 0) FROM countersign.format),
    (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint / 1024 FROM pg_class
        WHERE relnamespace = to_regnamespace('countersign')::oid AND relkind = 'r'),
    (SELECT count(*) FROM countersign.head),
    (SELECT string_agg(nspname, ', ' ORDER BY nspname) FROM pg_namespace WHERE nspname LIKE 'countersign\\_format\\_%')";

fn project(session: &Session) -> Vec<Value<'static>> {
    vec![Box::new(session.project.get())]
}

/// Rewrites the tables that hold texts, so that what was erased is in none of the database's files.
pub(super) async fn scrub(session: &Session) -> Result<(), Fault> {
    session.ask_one(Ask::new(SWEEP, project(session))).await?;
    let here = session.ask_one(Ask::bare(HERE)).await?;
    let here: String = here.first().map_or(Ok(String::new()), |row| row.try_get(0))?;
    wait_for_others(session, &here).await?;
    // Plain VACUUM leaves the bytes in place until something is written over them. A limit, because those who queue
    // behind the exclusive lock wait too.
    session.plain("SET lock_timeout = '30s'").await?;
    let rewritten = session.plain("VACUUM (FULL) countersign.text, countersign.blob").await;
    session.plain("SET lock_timeout = 0").await?;
    rewritten
}

async fn wait_for_others(session: &Session, here: &str) -> Result<(), Fault> {
    let started = Instant::now();
    loop {
        let rows = session.ask_one(Ask::new(OTHERS, vec![Box::new(here.to_owned())])).await?;
        let others: Option<String> = rows.first().map_or(Ok(None), |row| row.try_get(0))?;
        match others {
            None => return Ok(()),
            Some(_) if started.elapsed() < OTHERS_MAX => tokio::time::sleep(OTHERS_PAUSE).await,
            Some(others) => {
                let why = format!("others may still see what was erased: {others}; end them and try again");
                return Err(Fault::Said(Error::NotWritten(why)));
            }
        }
    }
}

/// How the database differs from what was ever made there.
pub(super) async fn examine(session: &Session) -> Result<Vec<String>, Fault> {
    let long = vec![project(session), vec![Box::new(INLINE_BYTES_MAX as i64)]].into_iter().flatten().collect();
    let asks = [Ask::bare(SCHEMA), Ask::new(ORPHANS, project(session)), Ask::new(MISPLACED, long)];
    let mut answers = session.ask(&asks).await?.into_iter().map(|rows| {
        let lines = rows.iter().map(|row| Ok::<_, Fault>(row.try_get::<_, String>(0)?));
        lines.collect::<Result<Vec<_>, _>>()
    });
    let found: BTreeSet<String> = answers.next().transpose()?.unwrap_or_default().into_iter().collect();
    let expected: BTreeSet<String> = EXPECTED.lines().map(str::to_owned).collect();
    let strange = found.difference(&expected).map(|it| format!("the schema has `{it}`, which does not belong there"));
    let missing = expected.difference(&found).map(|it| format!("the schema lacks `{it}`"));
    let mut faults: Vec<_> = strange.chain(missing).collect();
    let orphans = answers.next().transpose()?.unwrap_or_default();
    let orphan = "is a long text that no event names any more; `countersign doctor --fix` removes it";
    faults.extend(orphans.into_iter().map(|hash| format!("{hash} {orphan}")));
    let misplaced = answers.next().transpose()?.unwrap_or_default();
    faults
        .extend(misplaced.into_iter().map(|text| format!("{text} is not where a text of its length and hash is put")));
    Ok(faults)
}

/// What the server is and how it is set.
pub(super) async fn describe(session: &Session, place: &str) -> Result<Vec<(String, String)>, Fault> {
    let rows = session.ask_one(Ask::bare(DESCRIBE)).await?;
    let Some(row) = rows.first() else { return Ok(Vec::new()) };
    let text = |column: usize| Ok::<String, Fault>(row.try_get(column)?);
    let number = |column: usize| Ok::<i64, Fault>(row.try_get(column)?);
    let standbys = match text(3)?.as_str() {
        "" => String::new(),
        names => format!(", standbys {names}"),
    };
    let line = |name: &str, value: String| (name.to_owned(), value);
    let copies: Option<String> = row.try_get(7)?;
    let copies = copies.map(|names| {
        line("copies", format!("{names}, from before an upgrade, with texts that were erased since; drop them in time"))
    });
    let lines = [
        line("store", format!("PostgreSQL {}, {place}", text(0)?)),
        line("format", number(4)?.to_string()),
        line("durability", format!("fsync {}, synchronous_commit {}{standbys}", text(1)?, text(2)?)),
        line("size", format!("{} KiB, of {} projects", number(5)?, number(6)?)),
    ];
    Ok(lines.into_iter().chain(copies).collect())
}
