//! `countersign delegate --resolve`

use crate::cli::Exit;
use crate::cli::asking::{Here, ask_of, wrong};
use crate::cli::output::Format;
use crate::client::Client;
use countersign_diagnostic::visible;
use serde_json::{Value, json};

/// How it goes on with an instruction that its requester may not go on with.
#[derive(Debug, clap::Args)]
pub struct Resolving {
    /// Answer what `countersign inbox` asks about an instruction; for a person, with --decision, --reason and --shown
    #[arg(long, value_name = "ID", conflicts_with_all = ["instruction", "next", "alerts"], requires = "decision")]
    pub resolve: Option<String>,

    /// With --resolve: `retry`, its requester may try it again under a new id; `abandon`, it is given up
    #[arg(long, value_name = "DECISION", value_parser = ["retry", "abandon"], requires = "resolve")]
    decision: Option<String>,

    /// With --resolve: why it is decided so
    #[arg(long, value_name = "TEXT", requires = "resolve")]
    reason: Option<String>,

    /// With --resolve: the mark that `countersign inbox` shows with it, so that the answer counts for what was seen
    #[arg(long, value_name = "MARK", requires = "resolve")]
    shown: Option<String>,
}

pub fn run(id: &str, resolving: &Resolving, here: &Here<'_>, format: Format) -> anyhow::Result<Exit> {
    let reason = resolving.reason.as_deref().ok_or_else(|| wrong("say why, with --reason"))?;
    let shown = resolving.shown.as_deref().ok_or_else(|| {
        wrong("an answer counts for what was shown: give the mark that `countersign inbox` shows, as --shown")
    })?;
    let request = json!({ "instruction_id": id, "shown": shown, "decision": resolving.decision, "reason": reason });
    let client = Client::open(here.project, here.global)?;
    let said = |answer: &Value| {
        let decision = resolving.decision.as_deref().unwrap_or_default();
        let now = if answer["seq"].is_null() { "it was so already" } else { decision };
        format!("{}: {now}\n  look  countersign delegate --next {0}\n", visible(id))
    };
    ask_of(&client, format, "delegation.resolve", request, said)
}
