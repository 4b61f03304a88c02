//! `countersign promise show`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, look};
use crate::cli::words::text;
use countersign_contract::{Form, fix};
use countersign_diagnostic::visible_lines;
use serde_json::{Value, json};

/// Show a promise as its contract has it, in YAML, and what its gates say
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise show promise-1a2b3c4d
  countersign promise show promise-1a2b3c4d --format json")]
pub struct Args {
    /// The promise
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "promise.show", json!({ "promise_id": args.id }), said)
}

/// What the gates say is a comment, so that all of it can be checked like any payload.
fn said(shown: &Value) -> String {
    let document = fix::write(&shown["promise"], "", Form::Yaml);
    format!("# {}\n{}\n", text(shown, "reason"), visible_lines(document.trim_end()))
}
