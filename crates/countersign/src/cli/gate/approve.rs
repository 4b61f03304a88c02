//! `countersign gate approve`

use super::action::{Answer, answer};
use crate::cli::Exit;
use crate::cli::asking::Here;
use crate::cli::task::answering::Asked;

/// Let an action of a plan be carried out, once, exactly as it was shown
///
/// For a person: at a terminal, or with the token of an owner or a reviewer. The answer counts for the instruction that was shown,
/// for a day.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate approve T-7 --reason 'the release is announced for today'
  countersign gate approve T-7 --reason 'announced' --shown 0123456789abcdef.29000000")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    answer(here, &Answer { id: "delegation.approve", asked: &args.asked, question: "Let it be carried out?" })
}
