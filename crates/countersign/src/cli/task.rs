//! `countersign task`

mod add;
pub mod answering;
mod assignment;
mod block;
mod cancel;
mod claim;
mod extend;
mod fail;
mod graph;
mod heartbeat;
mod list;
mod next;
mod reassign;
mod release;
mod replan;
mod show;
mod spec;
mod submit;
mod unblock;

use super::Exit;
use super::asking::Here;
use super::words::{status, text, texts, until};
use serde_json::Value;

/// Ask for tasks, do them, and see how they stand
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task add T-1 --title 'Round invoice totals' --lock src/money --accept 'tests pass'
  countersign task next --as coder-1
  countersign task claim T-1 --as coder-1
  countersign task submit result.json --as coder-1

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 could not be done.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Add(Box<add::Args>),
    Next(next::Args),
    Claim(claim::Args),
    Heartbeat(heartbeat::Args),
    Extend(extend::Args),
    Release(release::Args),
    Submit(submit::Args),
    Block(block::Args),
    Unblock(unblock::Args),
    Replan(Box<replan::Args>),
    Fail(fail::Args),
    Cancel(cancel::Args),
    Reassign(reassign::Args),
    Show(show::Args),
    List(list::Args),
    Graph(graph::Args),
    Assignment(assignment::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Add(args) => add::run(args, here),
        Verb::Next(args) => next::run(args, here),
        Verb::Claim(args) => claim::run(args, here),
        Verb::Heartbeat(args) => heartbeat::run(args, here),
        Verb::Extend(args) => extend::run(args, here),
        Verb::Release(args) => release::run(args, here),
        Verb::Submit(args) => submit::run(args, here),
        Verb::Block(args) => block::run(args, here),
        Verb::Unblock(args) => unblock::run(args, here),
        Verb::Replan(args) => replan::run(args, here),
        Verb::Fail(args) => fail::run(args, here),
        Verb::Cancel(args) => cancel::run(args, here),
        Verb::Reassign(args) => reassign::run(args, here),
        Verb::Show(args) => show::run(args, here),
        Verb::List(args) => list::run(args, here),
        Verb::Graph(args) => graph::run(args, here),
        Verb::Assignment(args) => assignment::run(args, here),
    }
}

/// How a task stands after a command, in a line.
fn stands(answer: &Value, task: &str) -> String {
    let task = if answer["task_id"].is_string() { text(answer, "task_id") } else { task.to_owned() };
    if answer["status"].is_null() {
        return format!("{task}: it was so already\n");
    }
    let reason = text(answer, "reason");
    let why = if reason.is_empty() { String::new() } else { format!(", {reason}") };
    format!("{task}: {}{why}\n", status(answer))
}

/// A task that its worker has taken, and how they go on.
fn claimed(answer: &Value) -> String {
    let [task, owner, lease] = ["task_id", "owner", "lease"].map(|name| text(answer, name));
    let lapses = until(answer["expires_at"].as_str().unwrap_or("?"));
    format!(
        "claimed: {task} for {owner}, under lease {lease}\n  \
         lapses  {lapses}, unless there is a sign of life\n  \
         alive   countersign task heartbeat {task}\n  \
         go on   export COUNTERSIGN_LEASE={lease}\n  \
         read    countersign task assignment {task}\n  \
         end     countersign task submit RESULT.json\n"
    )
}

/// A task as it stands, in a few lines.
fn brief(task: &Value) -> String {
    let mut out = format!("{}  {}  {}\n", text(task, "task_id"), status(task), text(task, "title"));
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("  {name:<12} {value}\n"));
        }
    };
    field("priority", text(task, "priority"));
    field("owner", text(task, "owner"));
    field("lapses", task["expires_at"].as_str().map(until).unwrap_or_default());
    field("may change", texts(task, "lock_scope").join(", "));
    field("waits for", texts(task, "waiting_for").join(", "));
    field("blocked by", text(task, "blocker"));
    out
}
