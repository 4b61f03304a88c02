//! `countersign gate rule`

use super::answering::{Answer, Shown, answer};
use super::of::Of;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once};
use serde_json::json;

/// Judge work that was validated, as a person: because one was asked for, or no other judge answered
///
/// For a person: at a terminal, or with the token of an owner or a reviewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate rule T-1 PASS --reason 'I read the change and its tests'
  countersign gate rule T-1 FAIL --reason 'the tests test nothing' --shown 0123456789abcdef.29000000")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// PASS, WARN (it may pass, with something to be said about it) or FAIL
    #[arg(value_name = "PASS|WARN|FAIL", value_parser = ["PASS", "WARN", "FAIL"], ignore_case = true)]
    verdict: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let verdict = args.verdict.to_ascii_uppercase();
    let question = format!("Judge it as {verdict}?");
    answer(
        here,
        Answer {
            id: "gate.rule",
            of: &args.of,
            shown: &args.shown,
            rest: json!({ "verdict": verdict, "reasoning": args.reason }),
            question: &question,
            once: &args.once,
        },
    )
}
