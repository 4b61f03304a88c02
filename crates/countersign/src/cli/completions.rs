//! `countersign completions`

use super::{Exit, output};

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign completions bash > /etc/bash_completion.d/countersign
  countersign completions zsh > ~/.zfunc/_countersign")]
pub struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub fn run(args: &Args, command: &mut clap::Command) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "countersign", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(Exit::Allowed)
}
