//! One connection to the server, and the runtime that drives it.
//!
//! The driver is asynchronous and a store is not: each connection has a runtime of its own on the calling thread, which
//! runs only while something is asked. Questions asked together go out together and cost one round trip.

use super::address::Address;
use super::fault::Fault;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A value for the server.
pub(super) type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// A statement with its values.
pub(super) struct Ask<'a> {
    sql: &'static str,
    values: Vec<Value<'a>>,
}

impl<'a> Ask<'a> {
    pub(super) fn new(sql: &'static str, values: Vec<Value<'a>>) -> Self {
        Self { sql, values }
    }

    pub(super) fn bare(sql: &'static str) -> Self {
        Self::new(sql, Vec::new())
    }
}

/// What the server said without being asked.
#[derive(Default)]
struct Signals {
    /// Somebody notified us, or the connection is gone.
    rung: tokio::sync::Notify,
    /// There was a warning.
    warned: AtomicBool,
}

/// The connection as its runtime sees it.
pub(super) struct Session {
    client: Client,
    statements: RefCell<HashMap<&'static str, Statement>>,
    signals: Arc<Signals>,
    /// The project's number, once it was looked up.
    pub(super) project: Cell<i32>,
    /// Whether it has the writer's place.
    pub(super) holds: Cell<bool>,
    /// Whether all that can be seen here is known to be as durable as the server is asked to make it.
    pub(super) settled: Cell<bool>,
}

/// A session with its runtime.
pub(super) struct Link {
    session: Session,
    runtime: Option<Runtime>,
}

impl Link {
    /// Connects to the first host that takes writes.
    pub(super) fn make(address: &Address) -> Result<Self, Fault> {
        let unmade = |error: std::io::Error| Fault::Lost(format!("no connection can be driven: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unmade)?;
        let session = runtime.block_on(async {
            let connected = tokio::time::timeout(address.patience(), connect(address)).await;
            connected.unwrap_or_else(|_| Err(Fault::late(address.patience())))
        });
        let context = |fault| match fault {
            Fault::Lost(why) => Fault::Lost(format!("{address} cannot be reached: {why}")),
            Fault::Barred(why) => Fault::Barred(format!("{address} cannot be reached: {why}")),
            other => other,
        };
        Ok(Self { session: session.map_err(context)?, runtime: Some(runtime) })
    }

    /// Does something with the session, for so long at most. After [`Fault::Lost`] the link is of no use.
    pub(super) fn run<T>(
        &self,
        at_most: Option<Duration>,
        work: impl AsyncFnOnce(&Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(runtime) = &self.runtime else { return Err(Fault::Lost("the connection is closed".to_owned())) };
        runtime.block_on(async {
            let work = work(&self.session);
            match at_most {
                None => work.await,
                Some(at_most) => {
                    tokio::time::timeout(at_most, work).await.unwrap_or_else(|_| Err(Fault::late(at_most)))
                }
            }
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Whatever it still does, nobody waits for; dropping it in place would wait, and not be allowed everywhere.
            runtime.shutdown_background();
        }
    }
}

async fn connect(address: &Address) -> Result<Session, Fault> {
    let signals = Arc::new(Signals::default());
    let client = match &address.tls {
        None => {
            let (client, connection) = address.config.connect(NoTls).await?;
            tokio::spawn(drive(connection, Arc::clone(&signals)));
            client
        }
        Some(tls) => {
            let connector = MakeRustlsConnect::new(tls.as_ref().clone());
            let (client, connection) = address.config.connect(connector).await?;
            tokio::spawn(drive(connection, Arc::clone(&signals)));
            client
        }
    };
    let (statements, project) = (RefCell::default(), Cell::new(0));
    Ok(Session { client, statements, signals, project, holds: Cell::new(false), settled: Cell::new(false) })
}

/// Servers speak many languages, and say what is meant beside.
fn is_warning(notice: &DbError) -> bool {
    notice.parsed_severity().map_or(notice.severity() == "WARNING", |it| it == Severity::Warning)
}

/// Carries questions and answers until the connection ends.
async fn drive<S, T>(mut connection: Connection<S, T>, signals: Arc<Signals>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notification(_) => signals.rung.notify_one(),
            AsyncMessage::Notice(notice) if is_warning(&notice) => {
                signals.warned.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
    }
    signals.rung.notify_one();
}

impl Session {
    /// Asks everything at once and gives the rows of each. If one fails, the first fault is given, after all were answered.
    pub(super) async fn ask(&self, asks: &[Ask<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
        self.ask_each(asks).await?.into_iter().collect()
    }

    /// The same with the fault of each that fails.
    pub(super) async fn ask_each(&self, asks: &[Ask<'_>]) -> Result<Vec<Result<Vec<Row>, Fault>>, Fault> {
        let statements = self.prepared(asks).await?;
        Ok(together(asks.iter().zip(&statements).map(|(ask, statement)| one(&self.client, ask, statement))).await)
    }

    /// Makes the statements of some questions known to the server.
    pub(super) async fn prepare(&self, asks: &[Ask<'_>]) -> Result<(), Fault> {
        self.prepared(asks).await.map(drop)
    }

    /// Asks one thing.
    pub(super) async fn ask_one(&self, ask: Ask<'_>) -> Result<Vec<Row>, Fault> {
        Ok(self.ask(&[ask]).await?.pop().unwrap_or_default())
    }

    /// Asks for something and does not wait for the answer.
    pub(super) async fn mention(&self, ask: Ask<'_>) -> Result<(), Fault> {
        let asks = [ask];
        let statement = self.prepared(&asks).await?.remove(0);
        let mut asked = Box::pin(one(&self.client, &asks[0], &statement));
        let answered = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context))).await;
        // What is answered before it was sent was not sent.
        if let Poll::Ready(Err(fault)) = answered {
            return Err(fault);
        }
        // A turn of the runtime sends it.
        tokio::task::yield_now().await;
        Ok(())
    }

    /// Runs statements that are not worth keeping, or that are several in one text.
    pub(super) async fn plain(&self, sql: &str) -> Result<(), Fault> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// The statements of some questions; those that this connection does not know yet are prepared together.
    async fn prepared(&self, asks: &[Ask<'_>]) -> Result<Vec<Statement>, Fault> {
        let mut missing: Vec<_> = asks.iter().map(|ask| ask.sql).collect();
        missing.retain(|sql| !self.statements.borrow().contains_key(sql));
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let made = together(missing.iter().map(|sql| self.client.prepare(sql))).await;
            for (sql, statement) in missing.into_iter().zip(made) {
                self.statements.borrow_mut().insert(sql, statement?);
            }
        }
        let known = self.statements.borrow();
        Ok(asks.iter().filter_map(|ask| known.get(ask.sql).cloned()).collect())
    }

    /// Whether the server has warned of something since this was last asked.
    pub(super) fn warned(&self) -> bool {
        self.signals.warned.swap(false, Ordering::SeqCst)
    }

    /// Waits until somebody notifies us, for so long at most.
    pub(super) async fn hear(&self, at_most: Duration) {
        let _ = tokio::time::timeout(at_most, self.signals.rung.notified()).await;
    }
}

async fn one(client: &Client, ask: &Ask<'_>, statement: &Statement) -> Result<Vec<Row>, Fault> {
    let values: Vec<&(dyn ToSql + Sync)> = ask.values.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect();
    Ok(client.query(statement, &values).await?)
}

/// Drives some futures together and gives their outcomes in order. Each is first polled in the order given, which is the
/// order in which the server gets them.
async fn together<T, F: Future<Output = T>>(futures: impl Iterator<Item = F>) -> Vec<T> {
    let mut under_way: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut outcomes: Vec<Option<T>> = under_way.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (future, outcome) in under_way.iter_mut().zip(&mut outcomes) {
            if outcome.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *outcome = Some(done),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}
