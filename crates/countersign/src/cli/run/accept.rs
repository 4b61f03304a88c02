//! `countersign run accept`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, ask, refused};
use crate::cli::gate::action;
use crate::cli::words::text;
use serde_json::json;

/// Accept something that was changed beside a run, exactly as it is: a commit, or contents by their hash
///
/// For a person: at a terminal, or with the token of an owner or a reviewer. Whatever a run is to be based on is what was there
/// when it began, and what its tasks have landed since; for anything else somebody answers. A commit is accepted with all that
/// leads to it. Tasks of the run that wait for such an answer go on, and look again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run accept 9fceb02d0ae598e95dc970b74767f19372d61af8 --reason 'I made this commit myself'
  countersign run accept $(git rev-parse HEAD) --reason 'the release notes' --token-file owner.token")]
pub struct Args {
    /// The full name of a commit, or a hash as `countersign inbox` shows it
    #[arg(value_name = "COMMIT|HASH")]
    content: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if let Some(refusal) = action::of_agent() {
        return refused(refusal.into(), args.once.how.format);
    }
    let request = json!({ "run_id": args.of.id(), "content": args.content, "reason": args.reason });
    ask(here, &args.once, "run.accept", request, |answer| {
        format!("accepted in run {}\n  go on  countersign run --resume\n", text(answer, "run_id"))
    })
}
