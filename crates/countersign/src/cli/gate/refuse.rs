//! `countersign gate refuse`

use super::action::{Answer, answer};
use crate::cli::Exit;
use crate::cli::asking::Here;
use crate::cli::task::answering::Asked;

/// Refuse an action of a plan: its task has failed, and nothing was done
///
/// For a person: at a terminal, or with the token of an owner or a reviewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate refuse T-7 --reason 'the release was put off'
  countersign gate refuse T-7 --reason 'put off' --shown 0123456789abcdef.29000000")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    answer(here, &Answer { id: "delegation.refuse", asked: &args.asked, question: "Refuse it for good?" })
}
