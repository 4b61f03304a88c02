//! `countersign run list`

use super::show::tally;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, list};
use crate::cli::words::{Table, text};
use serde_json::{Value, json};

/// List the runs, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run list
  countersign run list --format json")]
pub struct Args {
    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    list(here, &args.how, "run.list", (json!({}), "runs"), args.limit, table)
}

fn table(shown: &Value) -> String {
    let mut table = Table::new(["RUN", "STATUS", "LED BY", "TASKS", "OBJECTIVE"]);
    for run in shown["runs"].as_array().into_iter().flatten() {
        let [id, status, by, objective] = ["run_id", "status", "orchestrator", "objective"].map(|name| text(run, name));
        table.row([id, status, by, tally(run), objective]);
    }
    table.text_or("there is no run yet; `countersign run PLAN` begins one, and `countersign run open --objective TEXT` one to work by hand")
}
