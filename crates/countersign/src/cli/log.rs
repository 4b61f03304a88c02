//! `countersign log`

use super::{Exit, output};
use crate::place::Place;
use crate::terminal::Terminal;
use countersign_diagnostic::visible;
use countersign_engine::{Engine, Stored};
use countersign_ledger::Error;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Show what was recorded, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log
  countersign log --since 4711 --follow
  countersign log --format cloudevents | jq .type")]
pub struct Args {
    /// Only events of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// From this event on
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    since: u64,

    /// Go on as events are recorded, until interrupted
    #[arg(long, short)]
    follow: bool,

    /// At most so many events
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<u64>,

    /// With --follow: how long a ledger that is away is tried again, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "follow")]
    patience: u64,

    /// How events are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// The stored bytes with their hash, one event a line
    Json,
    /// CloudEvents 1.0, one a line
    Cloudevents,
}

const PAGE: usize = 500;

/// How long to wait before a ledger that cannot be read is tried again.
const PAUSE: Duration = Duration::from_secs(1);

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let engine = place.engine()?;
    let mut shown =
        Shown { next: args.since.max(1), left: args.limit.unwrap_or(u64::MAX), terminal: Terminal::stdout() };
    let mut away: Option<Instant> = None;
    loop {
        match shown.go_on(args, &engine) {
            Ok(()) => away = None,
            // A server that is away comes back, and what is recorded then is followed on.
            Err(error) if args.follow && may_pass(&error) => {
                let since = *away.get_or_insert_with(|| {
                    output::say(&format!("note: {error:#}; trying again until it can be read"));
                    Instant::now()
                });
                if since.elapsed() >= Duration::from_secs(args.patience) {
                    let next = shown.next;
                    return Err(error.context(format!(
                        "the ledger was away for {} seconds; `countersign log --follow --since {next}` goes on from here",
                        args.patience
                    )));
                }
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
        if !args.follow || shown.left == 0 || !output::listened_to() {
            return Ok(Exit::Allowed);
        }
    }
}

/// Whether what keeps a ledger from being read can pass by itself.
fn may_pass(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Away(_)))
}

/// How far the log has been shown.
struct Shown {
    next: u64,
    left: u64,
    terminal: Terminal,
}

impl Shown {
    /// Shows what is there, and if more is wanted waits a while for it.
    fn go_on(&mut self, args: &Args, engine: &Engine) -> anyhow::Result<()> {
        // Before the pages: what comes while they are read is not waited for in vain.
        let head = engine.ledger().head()?.seq;
        while self.left > 0 {
            let limit = PAGE.min(usize::try_from(self.left).unwrap_or(PAGE));
            let page = page(engine, self.next, args.run.as_deref(), limit)?;
            let Some(last) = page.last() else { break };
            self.next = last.seq + 1;
            self.left -= page.len() as u64;
            let project = engine.ledger().project();
            let lines: String = page.iter().map(|event| line(event, project, args.format, &self.terminal)).collect();
            output::print(&lines);
        }
        if args.follow && self.left > 0 && output::listened_to() {
            engine.ledger().wait(head.max(self.next - 1), Duration::from_secs(60))?;
        }
        Ok(())
    }
}

fn page(engine: &Engine, from: u64, run: Option<&str>, limit: usize) -> anyhow::Result<Vec<Stored>> {
    let rows = engine.ledger().events(from, run, limit)?;
    Ok(rows.into_iter().map(Stored::of).collect::<Result<_, _>>()?)
}

/// An event as a line.
pub fn line(event: &Stored, project: &str, format: Format, terminal: &Terminal) -> String {
    match format {
        Format::Json => format!("{{\"event\":{},\"hash\":\"{}\"}}\n", event.body, event.hash),
        Format::Cloudevents => format!("{}\n", cloud_event(event, project)),
        Format::Text => {
            let (time, actor, kind) = (event.text("time"), visible(event.text("actor")), visible(event.text("kind")));
            let seq = terminal.bold(&format!("{:>7}", event.seq));
            format!("{seq}  {time}  {actor:<20}  {kind:<20}  {}\n", visible(&event.summary()))
        }
    }
}

/// The event in the form of CloudEvents 1.0. What can be erased is not in it.
pub fn cloud_event(event: &Stored, project: &str) -> Value {
    let mut cloud = json!({
        "specversion": "1.0",
        "id": event.text("id"),
        "source": format!("urn:countersign:project:{project}"),
        "type": format!("dev.countersign.{}", event.text("kind")),
        "time": event.text("time"),
        "datacontenttype": "application/json",
        "sequence": format!("{:020}", event.seq),
        "dataclassification": event.text("class"),
        "eventhash": event.hash.to_string(),
        "data": event.value(),
    });
    let optional = [("cause", "causationid"), ("run", "correlationid")];
    for (field, name) in optional {
        if let Some(value) = event.value()[field].as_str() {
            cloud[name] = json!(value);
        }
    }
    cloud
}
