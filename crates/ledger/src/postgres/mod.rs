//! A store in a PostgreSQL database, shared by the machines of a team.
//!
//! ```text
//! countersign.head                            the end of each log; its row is locked by whoever writes
//! countersign.event  .text  .blob  .meta      what happened, what was said, long texts in parts, settings
//! countersign.entity  .place  …               derived, as in every store
//! countersign.format                          the steps that made the schema
//! countersign_format_1  …                     what there was before an upgrade, as a whole
//! ```
//!
//! Many projects share the tables; the first column of every key says whose a row is. A handle has one connection, made
//! when it is first needed, one more if it waits for events, and one to tell of them where it does not leave the writer's place
//! in between. Connections keep settings, locks and prepared statements, so a pooler between us and the server must pool
//! sessions, not transactions.

mod address;
mod copy;
mod fault;
mod hidden;
mod line;
mod link;
mod log;
mod new;
mod open;
mod rows;
mod told;
mod turn;
mod upkeep;

use crate::erasure;
use crate::error::{Error, Result};
use crate::event::name_fault;
use crate::rows::{EventRow, Row, RowKey, RowValue, Table, TextRow};
use crate::store::{Batch, Begun, Head, NOT_KEPT, Store};
use crate::time::Time;
use address::Address;
use fault::Fault;
use line::Line;
use link::{Ask, Link, Session};
use new::New;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use told::Told;
use turn::{Ended, Then};

/// How long the server may take for a question, for writing a batch, and for making it durable.
const READ: Duration = Duration::from_secs(60);
const WRITE: Duration = Duration::from_secs(120);
const COMMIT: Duration = Duration::from_secs(60);
/// How long it may take to say goodbye.
const ROLLBACK: Duration = Duration::from_secs(5);
/// How long nobody is told in between after that has failed.
const SILENCE: Duration = Duration::from_secs(10);
/// How long it is taken to be so that nobody, or somebody, stands in line.
const ASKED_AGAIN: Duration = Duration::from_millis(20);
/// What works through a whole table.
const LONG: Duration = Duration::from_secs(3600);

/// Where a handle stands between [`Store::begin`] and the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Outside.
    Idle,
    /// Inside. Whether events were added is remembered for those who wait.
    Writing { grown: bool },
    /// Inside of one that something ended. Until the caller ends it too, nothing may be read: it would be from outside.
    Broken,
}

/// Rows of a project in a PostgreSQL database. The clock is the server's.
pub struct Postgres {
    line: Line,
    /// For notifications: to hear them, and to send them while a transaction is under way.
    ear: Line,
    bell: Line,
    stage: Stage,
    /// The transaction that was begun behind the last one.
    next: Option<Begun>,
    /// Whether somebody stood in line when that was last asked, and when it was.
    awaited: Option<(Instant, bool)>,
    told: Arc<Told>,
    /// Events were committed, and nobody was told.
    untold: bool,
    /// Until when nobody is told in between, because that did not go well: others wait for the place meanwhile.
    silent: Option<Instant>,
    new: New,
    /// What ended the transaction in which the handle still is.
    broke: String,
}

impl Postgres {
    /// Makes a project, which must not be there, in the database at a `postgres://` address. The tables are made with the
    /// first one.
    pub fn create(url: &str, project: &str) -> Result<Self> {
        if let Some(why) = name_fault(project) {
            return Err(Error::Malformed(format!("the project's name: {why}")));
        }
        let (address, link) = connect(url)?;
        prepare(&link, true, open::STEPS)?;
        let made = link.run(Some(COMMIT), async |session| open::make_project(session, project).await);
        if !made.map_err(Fault::of_commit)? {
            return Err(Error::Closed(format!("there is a project {project} in this database already")));
        }
        Ok(Self::with(address, project, link))
    }

    /// Opens a project that is there. A database of an older format is brought up to date, after a copy was made.
    pub fn open(url: &str, project: &str) -> Result<Self> {
        Self::open_as(url, project, open::STEPS)
    }

    fn open_as(url: &str, project: &str, steps: &[&str]) -> Result<Self> {
        let (address, link) = connect(url)?;
        prepare(&link, false, steps)?;
        let found = link.run(Some(READ), async |session| open::find_project(session, project).await);
        if !found.map_err(Fault::unreadable)? {
            return Err(line::missing(project));
        }
        Ok(Self::with(address, project, link))
    }

    /// An address as it may be said: hosts and database, without who connects and with which password.
    pub fn said(url: &str) -> Result<String> {
        Address::parse(url).map(|address| format!("postgres://{address}"))
    }

    /// Whether an address has a password in it, which then must be written nowhere.
    pub fn has_password(url: &str) -> Result<bool> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let user = rest.rsplit_once('@').map_or("", |(user, _)| user);
        Address::parse(url)?;
        Ok(user.contains(':') || rest.contains("password="))
    }

    /// The projects in a database, by name.
    pub fn projects(url: &str) -> Result<Vec<String>> {
        let (_, link) = connect(url)?;
        let work = async |session: &Session| match open::settle(session).await?.format {
            0 => Ok(Vec::new()),
            _ => open::projects(session).await,
        };
        link.run(Some(READ), work).map_err(Fault::unreadable)
    }

    fn with(address: Arc<Address>, project: &str, link: Link) -> Self {
        let line = Line::new(&address, &Arc::from(project), false).with(link);
        Self::on(line, Arc::default())
    }

    fn on(line: Line, told: Arc<Told>) -> Self {
        let aside = |listens| Line::new(&line.address, &line.project, listens);
        Self {
            ear: aside(true),
            bell: aside(false),
            line,
            stage: Stage::Idle,
            next: None,
            awaited: None,
            told,
            untold: false,
            silent: None,
            new: New::default(),
            broke: String::new(),
        }
    }

    /// Reads something. Inside of a transaction a fault ends that one.
    fn read<T>(&mut self, read: impl AsyncFn(&Session) -> std::result::Result<T, Fault>) -> Result<T> {
        let answer = match self.stage {
            Stage::Idle => self.line.ask(Some(READ), read),
            Stage::Writing { .. } => self.line.ask_once(Some(READ), read).inspect_err(|fault| {
                self.stage = Stage::Broken;
                self.broke = fault.why();
                self.new.refused(fault);
            }),
            Stage::Broken => Err(Fault::Lost(self.broken_off())),
        };
        answer.map_err(Fault::unreadable)
    }

    fn broken_off(&self) -> String {
        format!("the transaction was broken off: {}", self.broke)
    }

    /// In the transaction, if it was begun.
    fn begun(&mut self, begun: std::result::Result<Begun, Fault>) -> Result<Begun> {
        match begun {
            Ok(begun) => {
                self.stage = Stage::Writing { grown: false };
                self.told.now_is(begun.now);
                Ok(begun)
            }
            Err(fault) => {
                self.line.hang_up();
                Err(fault.not_written())
            }
        }
    }

    /// Writes a last batch and ends the transaction.
    fn end(&mut self, batch: &Batch, then: Then) -> Result<()> {
        let Stage::Writing { grown } = self.stage else {
            let broke = (self.stage == Stage::Broken).then(|| self.broken_off());
            self.rollback();
            return Err(Error::NotWritten(broke.unwrap_or_else(|| "there is no transaction to commit".to_owned())));
        };
        self.next = None;
        let new = self.new.rows(batch);
        let at_most = if batch.is_empty() { COMMIT } else { WRITE };
        let ended =
            self.line.ask_once(Some(at_most), async |session| write_and_commit(session, batch, &new, then).await);
        let failed = match ended {
            Ok(Ended::Refused(refused)) => {
                self.new.refused(&refused);
                refused.not_written()
            }
            Err(fault) => fault.of_commit(),
            Ok(ended) => {
                self.untold |= grown || !batch.events.is_empty();
                self.stage = Stage::Idle;
                match ended {
                    Ended::Stayed(Ok(begun)) => self.next = self.begun(Ok(begun)).ok(),
                    Ended::Left { is_free: true } => {}
                    // Whatever the session still has goes with it.
                    _ => self.line.hang_up(),
                }
                return Ok(());
            }
        };
        // Where not even the commit was asked for, the server still has the transaction.
        self.rollback();
        Err(failed)
    }

    /// Writes something into the transaction. A fault ends it.
    fn write(
        &mut self,
        at_most: Duration,
        work: impl AsyncFn(&Session) -> std::result::Result<(), Fault>,
    ) -> Result<()> {
        let written = match self.stage {
            Stage::Idle => Err(Fault::Lost("no transaction was begun".to_owned())),
            Stage::Writing { .. } => self.line.ask_once(Some(at_most), work),
            Stage::Broken => Err(Fault::Lost(self.broken_off())),
        };
        let written = written.inspect_err(|fault| self.new.refused(fault));
        written.map_err(Fault::not_written).inspect_err(|_| self.rollback())
    }
}

fn connect(url: &str) -> Result<(Arc<Address>, Link)> {
    let address = Arc::new(Address::parse(url)?);
    let link = Link::make(&address).map_err(Fault::unreadable)?;
    Ok((address, link))
}

/// Makes sure that the server and the format of its tables are right. An empty database is filled if `fill` says so.
fn prepare(link: &Link, fill: bool, steps: &[&str]) -> Result<()> {
    let found = link.run(Some(READ), async |session| open::settle(session).await).map_err(Fault::unreadable)?.format;
    let known = steps.len() as u32;
    if found < known && (found > 0 || fill) {
        let climbed = link.run(Some(LONG), async |session| open::climb(session, steps).await);
        return climbed.map_err(Fault::not_written);
    }
    if found == known { Ok(()) } else { open::fits(found) }
}

async fn write_batch(session: &Session, batch: &Batch, new: &[bool]) -> std::result::Result<(), Fault> {
    let asks = batch_asks(session.project.get(), batch, new);
    session.ask(&asks).await.map_err(|fault| unplaced(fault, batch)).map(drop)
}

/// The same and the commit, in one journey. Where a statement is refused, which is what is given, nothing is committed.
async fn write_and_commit(
    session: &Session,
    batch: &Batch,
    new: &[bool],
    then: Then,
) -> std::result::Result<Ended, Fault> {
    let asks = batch_asks(session.project.get(), batch, new);
    Ok(match turn::commit_after(session, asks, then).await? {
        Ended::Refused(fault) => Ended::Refused(unplaced(fault, batch)),
        ended => ended,
    })
}

fn batch_asks<'a>(project: i32, batch: &'a Batch, new: &[bool]) -> Vec<Ask<'a>> {
    let mut asks = log::append(project, &batch.events);
    asks.extend(log::say(project, &batch.texts));
    asks.extend(log::erase(project, &batch.erase));
    asks.extend(rows::delete(project, &batch.delete));
    asks.extend(rows::put(project, &batch.put, new));
    asks
}

/// What it means that the end of the log could not be moved.
fn unplaced(fault: Fault, batch: &Batch) -> Fault {
    match fault {
        Fault::Refused(state, _) if state == SqlState::DIVISION_BY_ZERO => {
            let seq = batch.events.first().map_or(0, |event| event.seq);
            let why = format!("event {seq} is there already, or one is missing before it");
            Fault::Said(Error::NotWritten(why))
        }
        fault => fault,
    }
}

impl Store for Postgres {
    fn begin(&mut self) -> Result<Begun> {
        self.rollback();
        // Without a limit: writers queue, and how long is for the caller to say. A server that is gone is noticed.
        let begun = self.line.ask(None, async |session| turn::begin(session).await);
        self.begun(begun)
    }

    fn begin_within(&mut self, patience: Duration) -> Result<Begun> {
        self.rollback();
        let (started, kept) = (Instant::now(), self.line.is_up());
        let left = || patience.saturating_sub(started.elapsed());
        let begin = async |session: &Session| turn::begin(session).await;
        let begun = match self.line.ask_once(Some(left()), begin) {
            // As in [`Line::ask`], but not if all the time was spent in line.
            Err(Fault::Lost(_)) if kept && !left().is_zero() => self.line.ask_once(Some(left()), begin),
            begun => begun,
        };
        match begun {
            Err(Fault::Lost(_)) if left().is_zero() => Err(Error::busy(patience, self.writer())),
            begun => self.begun(begun),
        }
    }

    fn is_far(&self) -> bool {
        true
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        let new = self.new.rows(batch);
        self.write(WRITE, async |session| write_batch(session, batch, &new).await)?;
        if let Stage::Writing { grown } = &mut self.stage {
            *grown |= !batch.events.is_empty();
        }
        Ok(())
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        let work = async |session: &Session| session.ask_one(rows::clear(session.project.get(), table)).await.map(drop);
        self.write(LONG, work)
    }

    fn commit(&mut self) -> Result<()> {
        self.apply_and_commit(&Batch::default())
    }

    fn commit_and_stay(&mut self) -> Result<()> {
        self.apply_and_stay(&Batch::default())
    }

    fn apply_and_commit(&mut self, batch: &Batch) -> Result<()> {
        self.end(batch, Then::Leave)
    }

    fn apply_and_stay(&mut self, batch: &Batch) -> Result<()> {
        self.end(batch, Then::Stay)
    }

    fn begin_next(&mut self) -> Result<Begun> {
        self.next.take().ok_or_else(|| Error::NotWritten(NOT_KEPT.to_owned()))
    }

    fn is_awaited(&mut self) -> bool {
        if self.stage == Stage::Idle {
            return false;
        }
        match self.awaited {
            Some((asked, awaited)) if asked.elapsed() < ASKED_AGAIN => awaited,
            _ => {
                // Who cannot even ask has lost its transaction, and the turn ends.
                let awaited = self.read(async |session| turn::is_awaited(session).await).unwrap_or(true);
                self.awaited = Some((Instant::now(), awaited));
                awaited
            }
        }
    }

    fn writes_beside(&self) -> bool {
        true
    }

    fn make_ready(&mut self) -> Result<()> {
        self.line.ask_once(Some(READ), async |_| Ok(())).map_err(Fault::unreadable)
    }

    fn clock(&self) -> Option<Time> {
        self.told.now()
    }

    fn rollback(&mut self) {
        (self.next, self.awaited) = (None, None);
        let stage = std::mem::replace(&mut self.stage, Stage::Idle);
        if stage != Stage::Idle && self.line.is_up() {
            let rolled_back = self.line.ask_once(Some(ROLLBACK), async |session| turn::rollback(session).await);
            if rolled_back.is_err() {
                self.line.hang_up();
            }
        }
    }

    /// Notifies outside of the transaction, which would make all commits of the database queue; once for all events that
    /// were committed since.
    fn settle(&mut self) {
        let is_between = self.stage != Stage::Idle;
        let line = if is_between { &mut self.bell } else { &mut self.line };
        let can_tell = if is_between { self.silent.is_none_or(|until| Instant::now() >= until) } else { line.is_up() };
        if !can_tell || !std::mem::take(&mut self.untold) {
            return;
        }
        let project = Arc::clone(&line.project);
        // What cannot be said is not worth failing for: listeners look by themselves.
        let told = line.ask_once(Some(ROLLBACK), async |session| turn::ring(session, &project).await);
        if told.is_err() && is_between {
            self.silent = Some(Instant::now() + SILENCE);
        }
    }

    fn get(&mut self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        self.read(async |session| rows::get(session, keys).await)
    }

    fn range(&mut self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        self.read(async |session| rows::range(session, from, to, limit).await)
    }

    fn head(&mut self) -> Result<Head> {
        self.read(async |session| turn::head(session).await)
    }

    fn events(&mut self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>> {
        self.read(async |session| log::events(session, from, run, limit).await)
    }

    fn find(&mut self, id: &str) -> Result<Option<u64>> {
        self.read(async |session| log::find(session, id).await)
    }

    fn texts(&mut self, from: u64, to: u64) -> Result<Vec<TextRow>> {
        self.read(async |session| log::texts(session, from, to).await)
    }

    fn sizes(&mut self, from: u64, limit: usize) -> Result<Vec<u64>> {
        self.read(async |session| log::sizes(session, from, limit).await)
    }

    /// It connects when it is first used: a server has few connections to give.
    fn another(&self) -> Result<Box<dyn Store>> {
        let line = Line::new(&self.line.address, &self.line.project, false);
        Ok(Box::new(Self::on(line, Arc::clone(&self.told))))
    }

    fn wait(&mut self, seq: u64, patience: Duration) -> Result<Head> {
        let until = Instant::now() + patience;
        loop {
            let head = self.ear.ask(Some(READ), async |session| turn::head(session).await);
            let head = head.map_err(Fault::unreadable)?;
            let left = until.saturating_duration_since(Instant::now());
            if head.seq > seq || left.is_zero() {
                return Ok(head);
            }
            let at_most = left.min(Duration::from_secs(1));
            let hear = async |session: &Session| {
                session.hear(at_most).await;
                Ok(())
            };
            self.ear.ask_once(None, hear).map_err(Fault::unreadable)?;
        }
    }

    /// Rewrites the tables of all projects' texts, during which nobody reads or writes texts. What the server wrote elsewhere
    /// is beyond our reach: its write-ahead log until it was recycled, archives of that log, base backups, dumps,
    /// and the same on each of its standbys.
    fn scrub(&mut self) -> Result<()> {
        self.rollback();
        let mark = erasure::mark(self)?;
        let scrubbed = self.line.ask(Some(LONG), async |session| upkeep::scrub(session).await);
        scrubbed.map_err(Fault::not_written)?;
        erasure::unmark(self, mark)
    }

    fn backup(&mut self, _to: &Path) -> Result<()> {
        let how = format!("pg_dump --schema=countersign --format=custom --file=… for {}", self.line.address);
        Err(Error::Malformed(format!("a database is backed up with PostgreSQL's own tools: {how}")))
    }

    fn writer(&self) -> Option<String> {
        let mut line = Line::new(&self.line.address, &self.line.project, false);
        line.ask_once(Some(ROLLBACK), async |session| turn::holder(session).await).ok()?
    }

    fn examine(&mut self) -> Result<Vec<String>> {
        let mut faults = self.read(async |session| upkeep::examine(session).await)?;
        // Where the schema is another one, there may be nothing to ask.
        if faults.is_empty() {
            faults.extend(self.read(async |session| hidden::faults(session).await)?);
        }
        faults.extend(erasure::fault(self));
        Ok(faults)
    }

    fn describe(&mut self) -> Result<Vec<(String, String)>> {
        let place = format!("{}, project {}", self.line.address, self.line.project);
        self.read(async |session| upkeep::describe(session, &place).await)
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Postgres({}, {}, {:?})", self.line.address, self.line.project, self.stage)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.rollback();
    }
}
