//! `countersign gate accept`

use super::answering::{Answer, Shown, answer};
use super::of::{Of, criteria};
use crate::cli::Exit;
use crate::cli::asking::{Here, Once};
use serde_json::json;

/// Accept work of which some criteria do not hold, naming each of them
///
/// For a person: at a terminal, or with the token of an owner or a reviewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate accept T-1 --failures AC-2 --reason 'the slow path is replaced next week'
  countersign gate accept promise-1a2b3c4d --failures AC-2,AC-3 --reason 'known' --shown 0123456789abcdef.29000000 \\
      --token-file owner.token")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// Every criterion that does not hold and is accepted all the same
    #[arg(long, value_name = "AC-1,AC-2", value_delimiter = ',', num_args = 1.., required = true)]
    failures: Vec<String>,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let failures = criteria(&args.failures);
    let question = format!("Accept these failures: {}?", failures.join(", "));
    answer(
        here,
        Answer {
            id: "gate.accept",
            of: &args.of,
            shown: &args.shown,
            rest: json!({ "failures": failures, "reason": args.reason }),
            question: &question,
            once: &args.once,
        },
    )
}
