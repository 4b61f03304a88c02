//! The binary and its doors. No logic lives here: a door reads what it was given, asks the crates below, and shows the
//! answer.

mod checking;
mod cli;
mod client;
mod company;
mod explaining;
mod gather;
mod home;
mod hook;
mod http;
mod install;
mod mcp;
mod parallel;
mod paths;
mod place;
mod project;
mod remote;
mod repairing;
mod session;
mod shelf;
mod strangers;
mod terminal;
mod token;
mod tracing;
mod worktrees;
mod world;

use countersign_runner::files;
use std::process::ExitCode;

/// Most of what a server does for a command is to read and write small documents, on several threads at once. With this
/// allocator it does half as much again in the same time.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
