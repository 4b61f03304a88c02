//! `countersign token revoke`

use super::{record, tokens};
use crate::cli::asking::{Here, How, line, refused, wrong};
use crate::cli::output::{self, Format};
use crate::cli::{Exit, words};
use crate::client::Client;
use countersign_contract::Text;
use countersign_diagnostic::Code;
use countersign_domain::deciding::Refusal;
use countersign_domain::project::{RevokeToken, token_key};
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
    // Whoever may not is refused before anything is done, and after it is recorded there is nothing left to do.
    let may = client.call()?.may("token.revoke", &[]).is_ok();
    let was_there = may && tokens(&client)?.revoke(&args.id)?;
    let known = client.engine()?.entity(&token_key(&args.id))?;
    let is_open = known.is_some_and(|token| token.facts["revoked"] != true);
    if may && !was_there && !is_open {
        let reason = format!("there is no token `{}`", countersign_contract::show(&args.id));
        let help = "`countersign token list` shows them";
        let refusal = Refusal::new(Code::DependencyNotMet, reason, help).of_absent();
        return refused(refusal.into(), args.how.format);
    }
    let token_id = Text::parse(&args.id).ok_or_else(|| wrong("an id has 1 to 64 characters"))?;
    if let Err(failure) = record(&client, &RevokeToken { token_id })? {
        return refused(failure, args.how.format);
    }
    let answer = json!({ "id": args.id, "revoked": true });
    output::print(&match args.how.format {
        Format::Json => line(&answer),
        Format::Text => format!("revoked: token {}\n", words::text(&answer, "id")),
    });
    Ok(Exit::Allowed)
}
