//! `countersign token revoke`

use super::tokens;
use crate::cli::asking::{Here, How, line, refused};
use crate::cli::output::{self, Format};
use crate::cli::{Exit, words};
use crate::client::Client;
use countersign_diagnostic::Code;
use countersign_domain::deciding::Refusal;
use serde_json::json;

/// Take a token back: nobody can use it any more
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token revoke 1f3c5a7b9d2e")]
pub struct Args {
    /// The token's id, as `countersign token list` shows it
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    let tokens = match tokens(&client, "token.revoke")? {
        Ok(tokens) => tokens,
        Err(failure) => return refused(failure, args.how.format),
    };
    if !tokens.revoke(&args.id)? {
        let reason = format!("there is no token `{}`", countersign_contract::show(&args.id));
        let help = "`countersign token list` shows them";
        let refusal = Refusal::new(Code::DependencyNotMet, reason, help).of_absent();
        return refused(refusal.into(), args.how.format);
    }
    let answer = json!({ "id": args.id, "revoked": true });
    output::print(&match args.how.format {
        Format::Json => line(&answer),
        Format::Text => format!("revoked: token {}\n", words::text(&answer, "id")),
    });
    Ok(Exit::Allowed)
}
