//! Opening the database: with the settings that make its promises true, or not at all.

use super::copy;
use super::fault::Fault;
use super::link::{Ask, Session};
use crate::error::Error;
use crate::hash::Hash;

/// The steps that lead from an empty database to the present format; the format is their number. A step is never changed.
pub(super) const STEPS: &[&str] = &[include_str!("steps/0001.sql"), include_str!("steps/0002.sql")];

/// The schema that is in use.
const SCHEMA: &str = "countersign";

/// What our locks are known by: "CSSG".
pub(super) const LOCK: i32 = 0x4353_5347;

/// The oldest server that has all that is used here.
const VERSION_MIN: i64 = 130_000;

/// Commits wait for the disk, and for a standby where one is asked for. Waiting for the writer's place has no limit, and
/// a client that stops in the middle of a transaction loses it. Temporary tables cannot stand in for ours. A statement is
/// planned once, and goes by index whatever the statistics say: a plan made while a table was small is kept when it is not.
pub(super) const SETTLE: &str = "SELECT
    set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    set_config('search_path', 'pg_catalog, pg_temp', false),
    set_config('statement_timeout', '0', false),
    set_config('lock_timeout', '0', false),
    set_config('idle_in_transaction_session_timeout', '60s', false),
    set_config('tcp_keepalives_idle', '10', false),
    set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false),
    set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('enable_seqscan', 'off', false),
    set_config('enable_bitmapscan', 'off', false),
    set_config('enable_hashjoin', 'off', false),
    set_config('enable_mergejoin', 'off', false),
    set_config('max_parallel_workers_per_gather', '0', false),
    set_config('jit', 'off', false),
    (SELECT count(set_config(name, '0', false)) FROM pg_settings
        WHERE name IN ('transaction_timeout', 'idle_session_timeout'))";

const HELD: &str = "SELECT current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_commit'), current_setting('server_encoding'),
    current_setting('server_version_num')::bigint, current_setting('synchronous_standby_names'),
    to_regclass('countersign.format') IS NOT NULL";

/// What the server is.
pub(super) struct Found {
    /// The format of what is there; 0 if nothing is.
    pub(super) format: u32,
}

/// Sets a new session up, makes sure that the server holds what it is told, and says what is there.
pub(super) async fn settle(session: &Session) -> Result<Found, Fault> {
    let answers = session.ask(&[Ask::bare(SETTLE), Ask::bare(HELD)]).await?;
    let Some(row) = answers.get(1).and_then(|rows| rows.first()) else {
        return Err(Fault::Odd("the server says nothing of its settings".to_owned()));
    };
    let refused = |name: &str, got: &str, needed: &str, why: &str| {
        let why = format!("the server's {name} is {got} and must be {needed}; {why}");
        Err(Fault::Said(Error::Unreadable(why)))
    };
    for (at, name) in ["fsync", "full_page_writes"].into_iter().enumerate() {
        let got: &str = row.try_get(at)?;
        if got != "on" {
            return refused(name, got, "on", "without it what was acknowledged could be lost");
        }
    }
    let (commit, encoding, version): (&str, &str, i64) = (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
    if !matches!(commit, "on" | "remote_apply") {
        return refused("synchronous_commit", commit, "on", "without it what was acknowledged could be lost");
    }
    if encoding != "UTF8" {
        return refused("encoding of this database", encoding, "UTF8", "make another one with it");
    }
    if version < VERSION_MIN {
        let got = (version / 10_000).to_string();
        return refused("version", &got, "13 or later", "use a newer server");
    }
    // Without standbys whatever can be seen is on the disk.
    session.settled.set(row.try_get::<_, &str>(5)?.is_empty());
    let format = if row.try_get(6)? { format(session).await? } else { 0 };
    Ok(Found { format })
}

/// The format of what is there.
async fn format(session: &Session) -> Result<u32, Fault> {
    let rows = session.ask_one(Ask::bare("SELECT coalesce(max(step), 0) FROM countersign.format")).await?;
    rows.first().map_or(Ok(0), |row| read_format(row, 0))
}

/// The format in an answer.
pub(super) fn read_format(row: &tokio_postgres::Row, column: usize) -> Result<u32, Fault> {
    let step: i64 = row.try_get(column)?;
    u32::try_from(step).map_err(|_| Fault::Odd(format!("the format is {step}")))
}

/// Whether this binary can use a database of that format as it is.
pub(super) fn fits(found: u32) -> Result<(), Error> {
    let known = STEPS.len() as u32;
    match found {
        found if found == known => Ok(()),
        found if found > known => Err(Error::Newer { what: "format", found, known }),
        0 => Err(Error::Unreadable("there are no ledgers in this database; run `countersign init`".to_owned())),
        _ => Err(Error::Unreadable(format!("the database is of format {found}, and this binary needs {known}"))),
    }
}

/// Brings a database up to the format that `steps` lead to, all at once or not at all. One that has something in it is
/// copied first. Of many that try, one does it.
pub(super) async fn climb(session: &Session, steps: &[&str]) -> Result<(), Fault> {
    session.plain(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let there = session.ask_one(Ask::bare("SELECT to_regnamespace('countersign') IS NOT NULL")).await?;
    // Asking to make what is there would need rights that its users need not have.
    if !there.first().map_or(Ok(false), |row| row.try_get(0))? {
        session.plain("CREATE SCHEMA countersign").await?;
    }
    session.plain(&format_table(SCHEMA)).await?;
    let done = format(session).await? as usize;
    if let Some(made) = steps.get(..done).filter(|made| !made.is_empty() && made.len() < steps.len()) {
        copy::make(session, made).await?;
    }
    lay(session, SCHEMA, steps, done).await?;
    session.plain("COMMIT").await
}

/// Takes the steps after those that are done, in a schema. The steps themselves speak of the one that is in use.
pub(super) async fn lay(session: &Session, schema: &str, steps: &[&str], done: usize) -> Result<(), Fault> {
    session.plain(&format_table(schema)).await?;
    for (number, step) in (1_u32..).zip(steps).skip(done) {
        session.plain(&step.replace(&format!("{SCHEMA}."), &format!("{schema}."))).await?;
        session.plain(&format!("INSERT INTO {schema}.format (step) VALUES ({number})")).await?;
    }
    Ok(())
}

fn format_table(schema: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {schema}.format
            (step bigint PRIMARY KEY, made timestamptz NOT NULL DEFAULT clock_timestamp())"
    )
}

/// Looks the project's number up. Nothing, if it is not there.
pub(super) async fn find_project(session: &Session, project: &str) -> Result<bool, Fault> {
    let ask = Ask::new("SELECT project FROM countersign.head WHERE name = $1", vec![Box::new(project)]);
    let rows = session.ask_one(ask).await?;
    if let Some(row) = rows.first() {
        session.project.set(row.try_get(0)?);
    }
    Ok(!rows.is_empty())
}

/// Makes a project. Says whether it is new.
pub(super) async fn make_project(session: &Session, project: &str) -> Result<bool, Fault> {
    let sql = "INSERT INTO countersign.head (name, seq, hash) VALUES ($1, 0, $2)
        ON CONFLICT (name) DO NOTHING RETURNING project";
    let rows = session.ask_one(Ask::new(sql, vec![Box::new(project), Box::new(Hash::NONE.0.to_vec())])).await?;
    if let Some(row) = rows.first() {
        session.project.set(row.try_get(0)?);
    }
    Ok(!rows.is_empty())
}

/// All projects.
pub(super) async fn projects(session: &Session) -> Result<Vec<String>, Fault> {
    let rows = session.ask_one(Ask::bare("SELECT name FROM countersign.head ORDER BY name")).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::conformance::postgres_server::Server;
    use crate::conformance::text;
    use crate::postgres::Postgres;
    use crate::rows::{EventRow, TextRow};
    use crate::store::{Batch, Store};

    /// What the next format could be.
    const NEXT: &[&str] = &[STEPS[0], STEPS[1], "ALTER TABLE countersign.meta ADD COLUMN note text;"];

    fn event(seq: u64) -> EventRow {
        let body = format!("body {seq}");
        EventRow { seq, id: format!("id-{seq}"), run: None, hash: Hash::of(body.as_bytes()), body }
    }

    fn append(store: &mut dyn Store) {
        let seq = store.begin().unwrap().head.seq + 1;
        let texts = vec![TextRow { seq, n: 0, text: Some(text(&vec![7; 100_000])) }];
        store.apply(&Batch { events: vec![event(seq)], texts, ..Batch::default() }).unwrap();
        store.commit().unwrap();
    }

    fn open_next(server: &Server) -> Result<Postgres, Error> {
        Postgres::open_as(&server.url(), "p", NEXT)
    }

    /// What there is of schemas, and the format of the one in use.
    fn state(server: &Server) -> String {
        server.sql(
            "SELECT string_agg(nspname, ' ' ORDER BY nspname) || ' ' || (SELECT max(step) FROM countersign.format)
                FROM pg_namespace WHERE nspname LIKE 'countersign%'",
        )
    }

    #[test]
    fn a_database_of_an_older_format_is_copied_and_then_brought_up_to_date() {
        let server = Server::start();
        let mut old = Postgres::create(&server.url(), "p").unwrap();
        Postgres::create(&server.url(), "q").unwrap();
        append(&mut old);
        append(&mut old);
        let head = old.head().unwrap();
        let mut upgraded = open_next(&server).unwrap();
        assert_eq!((upgraded.head().unwrap(), upgraded.texts(1, 3).unwrap().len()), (head, 2));
        assert_eq!(state(&server), "countersign countersign_format_2 3");
        let copies = |lines: Vec<(String, String)>| lines.into_iter().find(|(name, _)| name == "copies");
        assert!(copies(upgraded.describe().unwrap()).unwrap().1.starts_with("countersign_format_2, "));
        // A binary that knows only the older format is refused, also one that was there all the while.
        let newer = Error::Newer { what: "format", found: 3, known: 2 };
        assert_eq!(Postgres::open(&server.url(), "p").map(drop), Err(newer.clone()));
        assert_eq!(old.begin().map(drop), Err(newer.clone()));
        assert!(newer.to_string().contains("format 3") && newer.to_string().contains("knows 2"));
        // The next time there is nothing to do.
        open_next(&server).unwrap();
        // The way back: the copy is what there was, down to its names, and goes on.
        drop(upgraded);
        server.sql("DROP SCHEMA countersign CASCADE; ALTER SCHEMA countersign_format_2 RENAME TO countersign");
        let mut back = Postgres::open(&server.url(), "p").unwrap();
        assert_eq!((back.head().unwrap(), back.examine().unwrap()), (head, Vec::<String>::new()));
        assert_eq!(back.texts(1, 3).unwrap().len(), 2);
        append(&mut back);
        Postgres::create(&server.url(), "r").unwrap();
        assert_eq!(Postgres::projects(&server.url()).unwrap(), ["p", "q", "r"]);
        assert_eq!(copies(back.describe().unwrap()), None);
    }

    #[test]
    fn an_upgrade_that_fails_leaves_the_database_as_it_was_and_says_why() {
        let server = Server::start();
        server.sql("CREATE ROLE bob LOGIN; GRANT CREATE ON DATABASE postgres TO bob");
        let url = server.url().replace("postgres@", "bob@");
        let mut store = Postgres::create(&url, "p").unwrap();
        append(&mut store);
        let before = state(&server);
        let fails = |steps: &[&str]| Postgres::open_as(&url, "p", steps).map(drop).unwrap_err().to_string();
        let broken = [STEPS[0], STEPS[1], "CREATE TABLE countersign.extra (a text); INSERT INTO nowhere VALUES (1);"];
        assert!(fails(&broken).contains("nowhere"));
        server.sql("REVOKE CREATE ON DATABASE postgres FROM bob");
        let error = fails(NEXT);
        assert!(error.contains("countersign_format_2") && error.contains("GRANT CREATE ON DATABASE"), "{error}");
        server.sql("GRANT CREATE ON DATABASE postgres TO bob; CREATE SCHEMA countersign_format_2");
        let error = fails(NEXT);
        assert!(error.contains("countersign_format_2, and it is there already"), "{error}");
        server.sql("DROP SCHEMA countersign_format_2");
        assert_eq!((state(&server), store.examine().unwrap()), (before, Vec::new()));
        append(&mut store);
        Postgres::open_as(&url, "p", NEXT).unwrap();
    }

    #[test]
    fn many_that_find_an_older_format_at_once_bring_it_up_to_date_once() {
        let server = Server::start();
        append(&mut Postgres::create(&server.url(), "p").unwrap());
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..6).map(|_| scope.spawn(|| open_next(&server).map(drop))).collect();
            openers.into_iter().for_each(|it| it.join().unwrap().unwrap());
        });
        assert_eq!(state(&server), "countersign countersign_format_2 3");
    }
}
