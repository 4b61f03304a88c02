//! `countersign bundle make`

use crate::cli::asking::{Here, How, OfRun, line, refused, without_nothing};
use crate::cli::output::{self, Format};
use crate::cli::{Exit, words};
use crate::client::Client;
use crate::files;
use countersign_diagnostic::visible_json;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Make a bundle: a run as it stands, for an orchestrator with a fresh context
///
/// It is printed, or written to a file. With --format json it comes with its count of tokens, under `bundle`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign bundle make --out bundle.json
  countersign bundle make --max-tokens 4000 > bundle.json")]
pub struct Args {
    /// How many tokens it may have; finished tasks that nothing waits for are left out first
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: Option<u32>,

    /// Write it to this file, which must not exist yet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    let question = without_nothing(json!({ "run_id": args.of.id(), "max_tokens": args.max_tokens }));
    let made = match client.look("bundle.make", &question) {
        Ok(made) => made,
        Err(failure) => return refused(failure, args.how.format),
    };
    let bundle = format!("{}\n", visible_json(&format!("{:#}", made["bundle"])));
    if let Some(path) = &args.out {
        files::write_new(path, &bundle)?;
    }
    match (args.how.format, &args.out) {
        (Format::Json, _) => output::print(&line(&made)),
        (Format::Text, Some(path)) => output::print(&format!("made: {}, {}\n", path.display(), size(&made))),
        (Format::Text, None) => {
            output::print(&bundle);
            output::say(&size(&made));
        }
    }
    Ok(Exit::Allowed)
}

fn size(made: &Value) -> String {
    let left_out = match made["left_out"].as_u64() {
        Some(0) | None => String::new(),
        Some(count) => format!(", {count} finished tasks left out"),
    };
    format!("{} tokens{left_out}", words::text(made, "tokens"))
}
