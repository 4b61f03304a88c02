//! `countersign token list`

use super::tokens;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, line, refused, without_nothing};
use crate::cli::output::{self, Format};
use crate::cli::words::{Table, text};
use crate::client::Client;
use serde_json::{Value, json};

/// List the tokens of the project, without what has to be shown
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token list")]
pub struct Args {
    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    if let Err(refusal) = client.call()?.may("token.list", &[]) {
        return refused(refusal.into(), args.how.format);
    }
    let tokens = tokens(&client)?.all()?;
    let token = |token: &crate::token::Token| {
        without_nothing(json!({
            "id": token.id, "role": token.role, "actor": token.actor, "run_id": token.run, "task_id": token.task,
            "made": token.made, "expires": token.expires, "over": token.is_over(),
        }))
    };
    let all: Vec<Value> = tokens.iter().map(token).collect();
    output::print(&match args.how.format {
        Format::Json => line(&json!({ "tokens": all })),
        Format::Text => table(&all),
    });
    Ok(Exit::Allowed)
}

fn table(tokens: &[Value]) -> String {
    let mut table = Table::new(["TOKEN", "ROLE", "SPEAKS FOR", "TASK", "RUN", "MADE", "ENDS"]);
    for token in tokens {
        let [id, role, actor, task, run, made, expires] =
            ["id", "role", "actor", "task_id", "run_id", "made", "expires"].map(|name| text(token, name));
        let ends = if token["over"] == true { format!("{expires}, which is over") } else { expires };
        table.row([id, role, actor, task, run, made, ends]);
    }
    table.text_or("there is no token")
}
