//! `countersign man`

use super::{Exit, output};
use anyhow::Context;
use std::path::PathBuf;

/// Print the manual page, or write the pages of all verbs into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign man | man -l -
  countersign man --out /usr/local/share/man/man1")]
pub struct Args {
    /// Write the pages here: countersign.1, countersign-check.1, and so on
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, command: &clap::Command) -> anyhow::Result<Exit> {
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            clap_mangen::generate_to(command.clone(), folder)
                .with_context(|| format!("the pages cannot be written to {}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Allowed)
}
