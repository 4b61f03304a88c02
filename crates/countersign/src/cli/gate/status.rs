//! `countersign gate status`

use super::of::question;
use super::standing::said;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, line, look, pages, refused, without_nothing, wrong};
use crate::cli::output::{self, Format};
use crate::client::Client;
use countersign_engine::Failure;
use serde_json::{Value, json};

/// Show how work stands at its gates: what is claimed, what was found, who must still look
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate status T-1
  countersign gate status promise-1a2b3c4d --format json
  countersign gate status --as coder-1")]
pub struct Args {
    /// The task, or a promise by its id; otherwise every promise of yours that is not kept yet
    #[arg(value_name = "TASK|PROMISE")]
    name: Option<String>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if let Some(name) = &args.name {
        return look(here, &args.how, "gate.status", question(name, &args.of), said);
    }
    let client = Client::open(here.project, here.global)?;
    let gates = match mine(&client, &["pending", "in_progress"])? {
        Ok(gates) => gates,
        Err(failure) => return refused(failure, args.how.format),
    };
    output::print(&match args.how.format {
        Format::Json => line(&json!({ "gates": gates })),
        Format::Text if gates.is_empty() => "you have no promise to keep\n".to_owned(),
        Format::Text => gates.iter().map(said).collect::<Vec<_>>().join("\n"),
    });
    Ok(Exit::Allowed)
}

/// The gates of the caller's promises in these states.
pub fn mine(client: &Client<'_>, states: &[&str]) -> anyhow::Result<Result<Vec<Value>, Failure>> {
    let Ok(call) = client.call() else {
        return Err(wrong("only the server knows who asks; name a task, or a promise by its id"));
    };
    Ok(gates_of(client, &call.actor, states))
}

fn gates_of(client: &Client<'_>, actor: &str, states: &[&str]) -> Result<Vec<Value>, Failure> {
    let all = pages(client, "promise.list", (json!({}), "promises"), None)?;
    let is_mine = |it: &&Value| it["owned_by"] == actor && it["status"].as_str().is_some_and(|it| states.contains(&it));
    let mine = all["promises"].as_array().into_iter().flatten().filter(is_mine);
    let gates = |it: &Value| client.look("gate.status", &without_nothing(json!({ "promise_id": it["promise_id"] })));
    mine.map(gates).collect()
}
