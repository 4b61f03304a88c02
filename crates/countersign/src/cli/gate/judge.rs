//! `countersign gate judge`

use super::followed;
use super::of::Of;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, UnderLease, ask};
use serde_json::json;

/// Say what a judge said that is a program, an agent or an endpoint
///
/// A person who judges uses `gate rule`. UNREACHED says that nobody answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate judge promise-1a2b3c4d PASS --judge judge-1 --reason 'the evidence covers every criterion' --as lead
  countersign gate judge T-1 UNREACHED --judge judge-1 --reason 'no answer within 60s' --bound $(git rev-parse HEAD) \\
      --lease 7 --as lead")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// PASS, WARN (it may pass, with something to be said about it), FAIL or UNREACHED
    #[arg(
        value_name = "PASS|WARN|FAIL|UNREACHED",
        value_parser = ["PASS", "WARN", "FAIL", "UNREACHED"],
        ignore_case = true
    )]
    verdict: String,

    /// Who judged
    #[arg(long, value_name = "NAME")]
    judge: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// What was validated: a commit, or the hash of contents
    #[arg(long, value_name = "BOUND")]
    bound: Option<String>,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = args.of.request(json!({
        "lease": args.under.number()?, "bound": args.bound, "judge": args.judge, "reasoning": args.reason,
        "verdict": args.verdict.to_ascii_uppercase(),
    }));
    ask(here, &args.once, "gate.judge", request, |answer| followed(answer, &args.of.name))
}
