//! `countersign token`

mod list;
mod make;
mod revoke;

use super::asking::Here;
use super::{Exit, output};
use crate::client::Client;
use crate::home::Home;
use crate::token::Tokens;
use countersign_domain::deciding::Command;
use countersign_engine::Failure;

/// Make, list and take back tokens: what somebody shows to be taken for more than they say they are
///
/// Only an owner may: somebody at a terminal, or the owner's token, which `countersign init` put into the user's
/// configuration. That a token was made or taken back is recorded in the ledger, without what has to be shown.
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

/// The tokens of the project.
fn tokens(client: &Client<'_>) -> anyhow::Result<Tokens> {
    Ok(Tokens::of(&Home::find()?, client.engine()?.ledger().project()))
}

/// Has the ledger record what becomes of a token; or gives the refusal, which is recorded as well.
fn record<C: Command>(client: &Client<'_>, command: &C) -> anyhow::Result<Result<(), Failure>> {
    Ok(client.engine()?.submit(client.around()?, client.call()?, command).map(drop))
}

/// Says something that was printed once and cannot be had again.
fn once(token: &str) {
    output::print(&format!("{token}\n"));
    output::say("it is shown this once; hand it over in COUNTERSIGN_TOKEN, or in a file with --token-file");
}
