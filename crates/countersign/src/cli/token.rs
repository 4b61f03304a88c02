//! `countersign token`

mod list;
mod make;
mod revoke;

use super::asking::Here;
use super::{Exit, output};
use crate::client::Client;
use crate::home::Home;
use crate::token::Tokens;
use countersign_engine::Failure;

/// Make, list and take back tokens: what somebody shows to be taken for more than they say they are
///
/// Only an owner may: somebody at a terminal, or the owner's token, which `countersign init` put into the user's
/// configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token make --role agent --task T-1 --name coder-1 --expires 8h
  countersign token list
  countersign token revoke 1f3c5a7b9d2e")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Make(make::Args),
    List(list::Args),
    Revoke(revoke::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Make(args) => make::run(args, here),
        Verb::List(args) => list::run(args, here),
        Verb::Revoke(args) => revoke::run(args, here),
    }
}

/// The tokens of the project, for an owner; or the refusal.
fn tokens(client: &Client<'_>, what: &str) -> anyhow::Result<Result<Tokens, Failure>> {
    if let Err(refusal) = client.call()?.may(what, &[]) {
        return Ok(Err(refusal.into()));
    }
    Ok(Ok(Tokens::of(&Home::find()?, client.engine()?.ledger().project())))
}

/// Says something that was printed once and cannot be had again.
fn once(token: &str) {
    output::print(&format!("{token}\n"));
    output::say("it is shown this once; hand it over in COUNTERSIGN_TOKEN, or in a file with --token-file");
}
