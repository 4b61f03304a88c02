//! `countersign gate check`

use super::of::question;
use super::standing::{may_stop, name};
use super::status::mine;
use crate::cli::asking::{OfRun, without_nothing};
use crate::cli::words::text;
use crate::cli::{Exit, Global, failed, output};
use crate::client::Client;
use crate::project::Project;
use serde_json::Value;

/// Tell a stop hook whether the work may stop
///
/// It may when every gate is passed, or when it was cancelled. Nothing is printed on standard output; why not stands on
/// standard error, where clients hand it to the agent. Without a name every promise that you own and have begun must be kept;
/// where there is no project, nothing was promised.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate check T-1
  countersign gate check promise-1a2b3c4d
  countersign gate check --as coder-1

Exit codes: 0 it may stop, 2 it may not, or that could not be told.")]
pub struct Args {
    /// The task, or a promise by its id; otherwise every promise of yours that is in progress
    #[arg(value_name = "TASK|PROMISE")]
    name: Option<String>,

    #[command(flatten)]
    of: OfRun,
}

/// Clients take 2 alone for a no, so it is the answer whenever there is no yes.
pub fn run(args: &Args, global: &Global, project: impl FnOnce() -> anyhow::Result<Project>) -> Exit {
    match stops(args, global, project) {
        Ok(true) => Exit::Allowed,
        Ok(false) => Exit::Usage,
        Err(error) => {
            output::say(&format!("error: {error:#}"));
            Exit::Usage
        }
    }
}

fn stops(args: &Args, global: &Global, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<bool> {
    let project = project()?;
    let named = global.ledger.is_some() || global.server.is_some();
    if args.name.is_none() && project.root.is_none() && !named {
        return Ok(true);
    }
    let client = Client::open(&project, global)?;
    let gates = match &args.name {
        Some(name) => client.look("gate.status", &without_nothing(question(name, &args.of))).map(|shown| vec![shown]),
        None => mine(&client, &["in_progress"])?,
    };
    let gates = match gates {
        Ok(gates) => gates,
        Err(failure) => {
            failed(failure)?;
            return Ok(false);
        }
    };
    let open: Vec<&Value> = gates.iter().filter(|shown| !may_stop(shown)).collect();
    for shown in &open {
        output::say(&format!("{} may not stop: gate {}, {}", name(shown), text(shown, "gate"), text(shown, "reason")));
        output::say(&format!("  help: {}", next(shown)));
    }
    Ok(open.is_empty())
}

/// What brings it on.
fn next(shown: &Value) -> String {
    let name = name(shown);
    match (shown["stale"].is_string(), shown["status"] == "verified") {
        (true, true) => return "what is kept stays so; make another promise for what is there now".to_owned(),
        (true, false) => {
            return format!(
                "have what is there now looked at: `countersign gate validate {name} RESPONSE --validator NAME`"
            );
        }
        (false, _) => {}
    }
    match (shown["gate"].as_u64(), shown["waits_for_a_person"] == true) {
        (Some(1), _) if shown["task_id"].is_string() => "bring its result: `countersign task submit RESULT`".to_owned(),
        (Some(1), _) => format!("meet what is left: `countersign promise meet {name} AC-N --evidence TEXT`"),
        (_, true) => "a person must answer; `countersign gate status` shows them what is asked".to_owned(),
        _ => format!("somebody else must see that it holds; `countersign gate status {name}` shows what was found"),
    }
}
