//! `countersign lock who`

use super::table;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, list, wrong};
use crate::cli::words::text;
use crate::paths;
use serde_json::json;

/// Tell who holds a path, something above it or something inside of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign lock who src/money/round.rs")]
pub struct Args {
    /// The path
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let path = paths::in_project(here.project, &args.path).map_err(wrong)?;
    list(here, &args.how, "lock.who", (json!({ "path": path }), "holders"), None, |shown| {
        table(&shown["holders"], &format!("{} is free", text(shown, "path")))
    })
}
