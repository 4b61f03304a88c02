//! The binary and its doors. No logic lives here: a door reads what it was given, asks the crates below, and shows the
//! answer.

mod cli;
mod client;
mod company;
mod files;
mod gather;
mod home;
mod http;
mod parallel;
mod place;
mod project;
mod remote;
mod shelf;
mod strangers;
mod terminal;
mod token;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
