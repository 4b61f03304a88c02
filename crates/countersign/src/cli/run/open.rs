//! `countersign run open`

use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask};
use crate::cli::words::text;
use serde_json::json;

/// Begin a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run open --objective 'Round money half to even'
  countersign run open --objective 'Round money half to even' --constraint 'no new dependencies' 'keep the API'")]
pub struct Args {
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    objective: String,

    /// What it must keep to
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    constraint: Vec<String>,

    /// Its id, a UUID of version 4; otherwise one is drawn
    #[arg(long, value_name = "UUID")]
    id: Option<String>,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "objective": args.objective, "constraints": args.constraint, "run_id": args.id });
    ask(here, &args.once, "run.open", request, |answer| {
        let id = text(answer, "run_id");
        format!("opened: run {id}\n  name it  export COUNTERSIGN_RUN={id}  (only needed while several are open)\n")
    })
}
