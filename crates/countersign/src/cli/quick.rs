//! Verbs that are started again and again: by hooks, by agents, by hand-overs, by every step of a pipeline.
//!
//! To describe all verbs to the reader of command lines takes longer than to check a document or to answer a hook. So these
//! verbs are first read with nobody beside them. A command line that is not right is then read as every other is, and what is
//! said of it is the same.

use super::{Cli, Everywhere, Verb, check, delegate, hook};
use clap::Parser;

#[derive(Parser)]
#[command(name = "countersign", disable_help_flag = true, disable_help_subcommand = true)]
struct Alone<V: clap::Subcommand> {
    #[command(flatten)]
    everywhere: Everywhere,
    #[command(subcommand)]
    verb: V,
}

#[derive(clap::Subcommand)]
enum Check {
    Check(check::Args),
}

#[derive(clap::Subcommand)]
enum Delegate {
    Delegate(delegate::Args),
}

#[derive(clap::Subcommand)]
enum Hook {
    Hook(hook::Args),
}

/// The command line, if it begins with one of these verbs and is right.
pub fn read() -> Option<Cli> {
    let verb = std::env::args_os().nth(1)?;
    match verb.to_str()? {
        "check" => alone(|Check::Check(args)| Verb::Check(args)),
        "delegate" => alone(|Delegate::Delegate(args)| Verb::Delegate(args)),
        "hook" => alone(|Hook::Hook(args)| Verb::Hook(args)),
        _ => None,
    }
}

fn alone<V: clap::Subcommand>(verb: impl FnOnce(V) -> Verb) -> Option<Cli> {
    let read = Alone::<V>::try_parse().ok()?;
    Some(Cli { everywhere: read.everywhere, verb: verb(read.verb) })
}
