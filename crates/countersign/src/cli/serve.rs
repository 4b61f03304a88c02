//! `countersign serve`

use super::{Exit, Global, output};
use crate::home::Home;
use crate::http::{BODY_MAX, Hosts, Listening, Server, Settings, Tls};
use crate::place::Place;
use crate::project::Project;
use crate::token::Tokens;
use crate::tracing::Tracing;
use anyhow::{Context, bail};
use countersign_engine::Engine;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Answer over HTTP, and act on deadlines when they are due
///
/// Every caller needs a token of this project; `/openapi.json` lists what can be asked. Ends on SIGTERM or SIGINT, when
/// what was accepted is answered; a second signal ends it at once. Traces go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT or
/// the settings name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign serve
  countersign serve --listen 127.0.0.1:0
  countersign serve --listen 0.0.0.0:7117 --tls-cert server.pem --tls-key server.key --allow-host agents.example")]
pub struct Args {
    /// The address to listen on; with port 0, any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7117")]
    listen: SocketAddr,

    /// The certificate and its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Listen beyond this machine without TLS, where a proxy in front has it
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_listen: bool,

    /// Another name that the server may be called by, with or without a port
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// How many bytes the body of a request may have
    #[arg(long, value_name = "BYTES", default_value_t = BODY_MAX as u32, value_parser = clap::value_parser!(u32).range(1..=super::SIZE_LIMIT))]
    max_body: u32,

    /// How many requests a second one token may make
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,

    /// How many seconds a request may take to arrive, a question to be answered, and a command to get the writer's place
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// How many threads may wait for the ledger at once.
const BLOCKING_MAX: usize = 640;
/// How long the end waits for what callers have gone away from.
const LAST_PATIENCE: Duration = Duration::from_secs(60);

pub fn run(args: &Args, global: &Global, project: Project) -> anyhow::Result<Exit> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
        _ => None,
    };
    if !args.listen.ip().is_loopback() && tls.is_none() && !args.insecure_listen {
        bail!(
            "{} can be reached from other machines, and tokens would cross the network in the clear; give --tls-cert and \
             --tls-key, or listen on 127.0.0.1",
            args.listen
        );
    }
    let engine = Place::of(&project, global.ledger.as_deref())?.engine()?;
    let engine = Arc::new(engine.with_patience(Duration::from_secs(args.patience)));
    let tokens = Tokens::of(&Home::find()?, engine.ledger().project());
    let tracing = Tracing::beside_server(&engine, &project);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .max_blocking_threads(BLOCKING_MAX)
        .enable_all()
        .build()
        .context("the server cannot be started")?;
    // The last who knows the ledger lets go of it here, and not where it was served.
    let kept = Arc::clone(&engine);
    let exit = runtime.block_on(serve(args, engine, Arc::new(project), tokens, tls));
    runtime.shutdown_timeout(if matches!(exit, Ok(Exit::Allowed)) { LAST_PATIENCE } else { Duration::ZERO });
    tracing.end();
    drop(kept);
    exit
}

/// How many threads answer callers. The ledger has two of its own that never rest where many ask, and whoever shares a processor
/// with them is only in their way. Two at least, so that one who looks something up on a slow disk keeps nobody else waiting.
fn workers() -> usize {
    const OF_THE_LEDGER: usize = 2;
    const LEAST: usize = 2;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.saturating_sub(OF_THE_LEDGER).max(LEAST)
}

async fn serve(
    args: &Args,
    engine: Arc<Engine>,
    project: Arc<Project>,
    tokens: Tokens,
    tls: Option<Tls>,
) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let patience = Duration::from_secs(args.patience);
    let listening = Listening::at(args.listen, tls, patience).await?;
    let (end, ending) = watch::channel(false);
    let settings = Settings {
        hosts: Hosts::new(listening.address()?, &args.allow_host),
        body_max: args.max_body as usize,
        rate: args.rate,
        patience,
    };
    // A ledger that is far is asked through a runtime of its own, which is refused to whoever is asynchronous themselves.
    let make = move |ending| Server::new(engine, project, tokens, settings, ending);
    let made = ending.clone();
    let server = tokio::task::spawn_blocking(move || make(made)).await.context("the server cannot be started")??;
    let router = server.router();
    let time = tokio::spawn(Arc::clone(&server).keep_time());
    let url = listening.url()?;
    let mut waiting = ending;
    let serving = tokio::spawn(listening.serve(router, async move {
        let _ = waiting.wait_for(|ending| *ending).await;
    }));
    output::print(&format!("listening on {url}\n"));
    signals.next().await;
    end.send_replace(true);
    output::say("ending: what was accepted is answered first");
    let all = async {
        serving.await.context("the server broke off")?;
        // What was taken up is waited for twice as long as for the writer's place.
        let _ = tokio::time::timeout(LAST_PATIENCE.max(2 * patience), server.rest()).await;
        anyhow::Ok(())
    };
    tokio::select! {
        ended = all => ended?,
        () = signals.next() => {
            output::say("ended at once; what was not answered may have been done or not");
            return Ok(Exit::Failed);
        }
    }
    let _ = time.await;
    Ok(Exit::Allowed)
}

/// What asks a process to end.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    pub(super) fn new() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self {})
    }

    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
