//! `countersign token make`

use super::{once, record, tokens};
use crate::cli::asking::{Here, How, OfRun, line, refused, without_nothing, wrong};
use crate::cli::output::{self, Format};
use crate::cli::{Exit, words};
use crate::client::Client;
use crate::place::must_be_usable;
use crate::token::{Token, Tokens, Wanted};
use anyhow::Context;
use countersign_contract::{Text, Timestamp};
use countersign_domain::deciding::Role;
use countersign_domain::ids::{RunId, TaskId};
use countersign_domain::project::{MakeToken, RevokeToken};
use countersign_engine::Bound;
use serde_json::json;

/// Make a token, and print it once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token make --role agent --task T-1 --name coder-1 --expires 8h
  countersign token make --role reviewer --name ana")]
pub struct Args {
    /// What it may ask for: owner, reviewer, orchestrator, agent or auditor
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Role,

    /// The only task that it may speak for; an agent's token must have one
    #[arg(long, value_name = "TASK")]
    task: Option<String>,

    /// In whose name it speaks; otherwise its role's, with the task and the beginning of its run if it has one
    #[arg(long, value_name = "ACTOR")]
    name: Option<String>,

    /// How long it can be used; without end unless given
    #[arg(long, value_name = "TIME", value_parser = words::seconds)]
    expires: Option<i64>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| format!("`{word}` is none of owner, reviewer, orchestrator, agent, auditor"))
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    must_be_usable("--name", args.name.as_deref())?;
    if args.role == Role::Agent && args.task.is_none() {
        return Err(wrong("an agent's token speaks for one task alone; name it with --task"));
    }
    let client = Client::open(here.project, here.global)?;
    let bound = match &args.task {
        None => None,
        Some(task) => match bound(&client, args, task) {
            Ok(bound) => Some(bound),
            Err(failure) => return refused(failure, args.how.format),
        },
    };
    let now = jiff::Timestamp::now();
    let ends = args.expires.map(|seconds| now.checked_add(jiff::SignedDuration::from_secs(seconds))).transpose();
    let ends = ends.map_err(|_| wrong("--expires is further off than any calendar"))?;
    let actor = args.name.clone().unwrap_or_else(|| nameless(args.role, bound.as_ref()));
    let wanted = Wanted { actor: &actor, role: args.role, bound, expires: ends.map(|ends| ends.to_string()) };
    let (token, shown) = Tokens::draw(&wanted);
    if let Err(failure) = record(&client, &recorded(&token)?)? {
        return refused(failure, args.how.format);
    }
    if let Err(error) = tokens(&client)?.add(&token) {
        // What the ledger says was made and cannot be used is taken back; if that fails too, it says more than there is.
        let _ = record(&client, &RevokeToken { token_id: id(&token)? });
        return Err(error);
    }
    match args.how.format {
        Format::Json => output::print(&line(&without_nothing(json!({
            "id": token.id, "token": shown, "role": token.role, "actor": token.actor, "run_id": token.run,
            "task_id": token.task, "expires": token.expires,
        })))),
        Format::Text => once(&shown),
    }
    Ok(Exit::Allowed)
}

/// In whose name a token speaks that was given none: its role's. One that speaks for a task has the task's in it, since
/// whoever shares a name shares what is held in it.
fn nameless(role: Role, bound: Option<&Bound>) -> String {
    match bound {
        None => role.as_str().to_owned(),
        Some(Bound { run, task }) => format!("{}:{task}@{}", role.as_str(), run.get(..8).unwrap_or(run)),
    }
}

fn id(token: &Token) -> anyhow::Result<Text<1, 64>> {
    Text::parse(&token.id).context("the token has no id")
}

/// What the ledger is told of a token.
fn recorded(token: &Token) -> anyhow::Result<MakeToken> {
    Ok(MakeToken {
        token_id: id(token)?,
        actor: Text::parse(&token.actor).context("--name has 1 to 500 characters")?,
        role: Text::parse(&token.role).context("the token has no role")?,
        run_id: token.run.as_deref().and_then(RunId::parse),
        task_id: token.task.as_deref().and_then(TaskId::parse),
        expires: token.expires.as_deref().and_then(Timestamp::parse),
    })
}

/// The task that is meant, which must be there.
fn bound(client: &Client<'_>, args: &Args, task: &str) -> Result<Bound, countersign_engine::Failure> {
    let question = without_nothing(json!({ "run_id": args.of.id(), "task_id": task }));
    let shown = client.look("task.show", &question)?;
    let text = |name: &str| shown["task"][name].as_str().unwrap_or_default().to_owned();
    Ok(Bound { run: text("run_id"), task: text("task_id") })
}
