//! `countersign gate waiting`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, list};
use crate::cli::words::{Table, text, texts};
use serde_json::{Value, json};

/// List the work of a run that waits for validators who look by themselves
///
/// They answer with `gate validate`, and name with --bound what they have looked at. What waits for a person is in
/// `countersign inbox`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate waiting --validator critic
  countersign gate waiting --format json")]
pub struct Args {
    /// Only what waits for this validator
    #[arg(long, value_name = "NAME")]
    validator: Option<String>,

    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let question = json!({ "run_id": args.of.id(), "validator": args.validator });
    list(here, &args.how, "gate.waiting", (question, "items"), args.limit, table)
}

fn table(shown: &Value) -> String {
    let mut table = Table::new(["TASK", "VALIDATORS", "BOUND", "TITLE"]);
    for item in shown["items"].as_array().into_iter().flatten() {
        let [task, bound, title] = ["task_id", "bound", "title"].map(|name| text(item, name));
        table.row([task, texts(item, "validators").join(", "), bound, title]);
    }
    table.text_or("nothing waits for a validator")
}
