//! `countersign verify-proof`

use super::asking::{How, answer, line};
use super::output::Format;
use super::{Exit, output, verify};
use countersign_diagnostic::visible;
use countersign_ledger::verify_proof;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Verify a proof that an event is in a ledger, without the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign verify-proof 12.tlog-proof --key countersign.pub

Exit codes: 0 it holds, 1 it does not, 3 it could not be read.")]
pub struct Args {
    /// The proof
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A public key to trust, as a file; otherwise those in the user's configuration
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let text = crate::files::text(&args.file)?;
    match verify_proof(&text, &verify::keys(&args.key)?) {
        Ok(proven) => {
            let checkpoint = proven.checkpoint;
            let shown = json!({
                "holds": true, "project": checkpoint.project, "size": checkpoint.size, "seq": proven.seq,
                "event": serde_json::from_str::<Value>(&proven.body).ok(),
            });
            let said = |_: &_| {
                format!(
                    "the proof holds: event {} is in the ledger of project {} of {} events\n{}\n",
                    proven.seq,
                    visible(&checkpoint.project),
                    checkpoint.size,
                    visible(&proven.body)
                )
            };
            output::print(&answer(&shown, args.how.format, said));
            Ok(Exit::Allowed)
        }
        Err(error) => {
            match args.how.format {
                Format::Json => output::print(&line(&json!({ "holds": false, "reason": error.to_string() }))),
                Format::Text => output::say(&format!("does not match: {error}")),
            }
            Ok(Exit::Refused)
        }
    }
}
