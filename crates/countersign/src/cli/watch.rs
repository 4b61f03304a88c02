//! `countersign watch`

use super::Exit;
use super::asking::{Here, How, OfRun, line, pages, refused, without_nothing};
use super::output::{self, Format};
use super::words::{Table, left, since, status, text, texts};
use crate::client::Client;
use crate::terminal::Terminal;
use countersign_engine::Failure;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Watch the tasks of the open runs, and act on time when a worker falls silent
///
/// On a terminal a table is drawn anew whenever something changes; otherwise a line is printed for each task that
/// changes. Leases that lapse meanwhile are taken back at once, so that others need not wait for the next command.
/// It needs the ledger itself and asks no server, which acts on time by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign watch
  countersign watch --once
  countersign watch --format json | jq .task_id")]
pub struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

/// How many lapsed leases are dealt with at a time.
const BATCH: usize = 64;
/// How often times are drawn anew where a person looks.
const TICK: Duration = Duration::from_secs(1);
/// How long to wait at most where nobody looks. Signs of life leave no event, so the next deadline is looked up again.
const REST: Duration = Duration::from_secs(30);

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    let terminal = Terminal::stdout();
    let drawn = args.how.format == Format::Text && terminal.edge().is_some() && !args.once;
    let mut screen = Screen { terminal, lines: 0 };
    let mut known = BTreeMap::new();
    loop {
        // Before anything is read: what comes meanwhile is not waited for in vain.
        let head = client.engine()?.ledger().head()?.seq;
        let settled = settle(&client)?;
        let tasks = match tasks(&client, args) {
            Ok(tasks) => tasks,
            Err(failure) => return refused(failure, args.how.format),
        };
        match (drawn, args.how.format) {
            (true, _) => screen.draw(&tasks),
            (false, Format::Text) if args.once => output::print(&table(&tasks).text_or(NOTHING)),
            (false, format) => output::print(&changed(&tasks, &mut known, format)),
        }
        if args.once || !output::listened_to() {
            return Ok(Exit::Allowed);
        }
        let longest = if drawn { TICK } else { REST };
        client.engine()?.ledger().wait(head.max(settled), patience(&client, longest)?)?;
    }
}

const NOTHING: &str = "no run is open";

/// Acts on what is due, and says where the log ends if something was.
fn settle(client: &Client<'_>) -> anyhow::Result<u64> {
    let now = jiff::Timestamp::now().as_millisecond();
    if client.engine()?.next_due()?.is_none_or(|due| due > now) {
        return Ok(0);
    }
    while client.engine()?.settle(BATCH)? == BATCH {}
    Ok(client.engine()?.ledger().head()?.seq)
}

/// How long nothing can be due. At least a tick: where the store's clock is behind ours, it is asked again, not at once.
fn patience(client: &Client<'_>, longest: Duration) -> anyhow::Result<Duration> {
    let now = jiff::Timestamp::now().as_millisecond();
    let due = client.engine()?.next_due()?.map(|due| Duration::from_millis(u64::try_from(due - now + 1).unwrap_or(0)));
    Ok(due.unwrap_or(longest).clamp(TICK.min(longest), longest))
}

/// The tasks of the run that is meant, or of all that are open.
fn tasks(client: &Client<'_>, args: &Args) -> Result<Vec<Value>, Failure> {
    let runs = match args.of.id() {
        Some(run) => vec![run.to_owned()],
        None => {
            let runs = pages(client, "run.list", (json!({}), "runs"), None)?;
            let open = runs["runs"].as_array().into_iter().flatten().filter(|run| run["status"] == "open");
            open.filter_map(|run| Some(run["run_id"].as_str()?.to_owned())).collect()
        }
    };
    let mut all = Vec::new();
    for run in runs {
        let shown = pages(client, "task.list", (json!({ "run_id": run }), "tasks"), None)?;
        all.extend(shown["tasks"].as_array().into_iter().flatten().cloned());
    }
    Ok(all)
}

/// What is worked on comes first, what is over last. Where there are several runs, each task says whose it is, since ids are
/// those of a run.
fn table(tasks: &[Value]) -> Table {
    let order = ["in_progress", "blocked", "todo"];
    let place = |task: &Value| order.iter().position(|it| task["status"] == **it).unwrap_or(order.len());
    let mut tasks: Vec<&Value> = tasks.iter().collect();
    tasks.sort_by_key(|task| place(task));
    let several = are_of_several(tasks.iter().copied());
    let mut table = Table::new(["RUN", "TASK", "STATUS", "OWNER", "SILENT", "LEFT", "WAITS FOR", "TITLE"]);
    for task in tasks {
        let [run, id, owner, title] = ["run_id", "task_id", "owner", "title"].map(|name| text(task, name));
        let run = if several { run } else { String::new() };
        let silent = since(task, "last_heartbeat_at");
        table.row([run, id, status(task), owner, silent, left(task, "expires_at"), waits(task), title]);
    }
    table
}

fn are_of_several<'a>(mut tasks: impl Iterator<Item = &'a Value>) -> bool {
    let first = tasks.next().map(|task| &task["run_id"]);
    tasks.any(|task| Some(&task["run_id"]) != first)
}

fn waits(task: &Value) -> String {
    match task["blocker"].is_string() {
        true => text(task, "blocker"),
        false => texts(task, "waiting_for").join(", "),
    }
}

/// A line for each task that stands otherwise than before.
fn changed(tasks: &[Value], known: &mut BTreeMap<String, Value>, format: Format) -> String {
    let mut out = String::new();
    let several = are_of_several(tasks.iter());
    for task in tasks {
        let name = format!("{}/{}", text(task, "run_id"), text(task, "task_id"));
        let version = task["version"].clone();
        if known.insert(name, version.clone()).as_ref() == Some(&version) {
            continue;
        }
        out.push_str(&match format {
            Format::Json => line(&without_nothing(task.clone())),
            Format::Text => {
                let [id, owner, title] = ["task_id", "owner", "title"].map(|name| text(task, name));
                let by = if owner.is_empty() { String::new() } else { format!(" by {owner}") };
                let why = if task["blocker"].is_string() { format!(": {}", waits(task)) } else { String::new() };
                let of = if several { format!(" of {}", text(task, "run_id")) } else { String::new() };
                format!("{id}{of}: {}{by}{why}  ({title})\n", status(task))
            }
        });
    }
    out
}

/// A table that is drawn over itself. Nothing of the terminal is changed but its last lines, so that there is nothing to
/// restore, however it ends.
struct Screen {
    terminal: Terminal,
    lines: usize,
}

impl Screen {
    fn draw(&mut self, tasks: &[Value]) {
        // It may have been made wider or narrower since.
        self.terminal = Terminal::stdout();
        let table = table(tasks);
        let mut lines = match table.is_empty() {
            true => vec![NOTHING.to_owned()],
            false => table.lines(&self.terminal),
        };
        let room = self.terminal.height().saturating_sub(2).max(2);
        if lines.len() > room {
            let more = lines.len() - room + 1;
            lines.truncate(room - 1);
            lines.push(format!("… and {more} more; `countersign task list` shows all"));
        }
        let mut out = if self.lines > 0 { format!("\u{1b}[{}A\r\u{1b}[J", self.lines) } else { String::new() };
        for line in &lines {
            out.push_str(line);
            out.push('\n');
        }
        self.lines = lines.len();
        output::print(&out);
    }
}
