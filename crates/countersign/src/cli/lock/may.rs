//! `countersign lock may`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, look_and_judge, wrong};
use crate::cli::words::text;
use crate::paths;
use serde_json::{Value, json};

/// Tell whether you may change a path now, and why not
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign lock may src/money/round.rs --as coder-1

Exit codes: 0 you may, 1 you may not, 2 wrong usage, 3 could not be told.")]
pub struct Args {
    /// The path
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let path = paths::in_project(here.project, &args.path).map_err(wrong)?;
    let judge = |shown: &Value| if shown["allowed"] == true { Exit::Allowed } else { Exit::Refused };
    look_and_judge(here, &args.how, "lock.may", json!({ "path": path }), said, judge)
}

fn said(shown: &Value) -> String {
    let [path, reason] = ["path", "reason"].map(|name| text(shown, name));
    match shown["allowed"] == true {
        true => format!("yes: {path}; {reason}\n"),
        false => format!("no [{}]: {path}; {reason}\n  help: {}\n", text(shown, "code"), text(shown, "help")),
    }
}
