//! `countersign promise`

mod adopt;
mod cancel;
mod create;
mod list;
mod meet;
mod release;
mod show;
mod start;

use super::Exit;
use super::asking::Here;
use super::words::text;
use serde_json::Value;

/// Promise something with criteria, meet them one by one, and let others see whether that is so
///
/// What its owner says to be met is a claim. It is kept when somebody else has validated it: see `countersign gate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise create --title 'Refuse empty carts' --criterion 'an empty cart is answered with 400' --as coder-1
  countersign promise meet promise-1a2b3c4d AC-1 --evidence 'tests/cart.rs:41 gets 400' --as coder-1
  countersign promise show promise-1a2b3c4d
  countersign gate status promise-1a2b3c4d

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 could not be done.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Create(create::Args),
    Start(start::Args),
    Meet(meet::Args),
    Release(release::Args),
    Adopt(adopt::Args),
    Cancel(cancel::Args),
    Show(show::Args),
    List(list::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Create(args) => create::run(args, here),
        Verb::Start(args) => start::run(args, here),
        Verb::Meet(args) => meet::run(args, here),
        Verb::Release(args) => release::run(args, here),
        Verb::Adopt(args) => adopt::run(args, here),
        Verb::Cancel(args) => cancel::run(args, here),
        Verb::Show(args) => show::run(args, here),
        Verb::List(args) => list::run(args, here),
    }
}

/// What became of a promise, in a line. Nothing was recorded where everything was so already.
fn became(answer: &Value, promise: &str, what: &str) -> String {
    if answer["seq"].is_null() {
        return format!("{promise}: it was so already\n");
    }
    format!("{}: {what}\n", text(answer, "promise"))
}
