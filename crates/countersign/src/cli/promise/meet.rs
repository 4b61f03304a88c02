//! `countersign promise meet`

use super::became;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask};
use countersign_domain::validation::payload::EvidenceType;
use serde_json::json;

/// Say that a criterion of a promise is met, and what shows it
///
/// It is a claim, for others to look at. What is met stays met.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise meet promise-1a2b3c4d AC-1 --evidence 'tests/cart.rs:41 sends an empty cart and gets 400' \\
      --type test --as coder-1")]
pub struct Args {
    /// The promise
    #[arg(value_name = "ID")]
    id: String,

    /// The criterion, such as AC-1
    #[arg(value_name = "CRITERION")]
    criterion: String,

    /// What shows that it is met
    #[arg(long, value_name = "TEXT")]
    evidence: String,

    /// What kind of evidence that is: test, browser, api, manual or e2e
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<&'static str>,

    #[command(flatten)]
    once: Once,
}

fn kind(word: &str) -> Result<&'static str, String> {
    let found = EvidenceType::parse(word).map(EvidenceType::as_str);
    found.ok_or_else(|| format!("`{word}` is none of test, browser, api, manual, e2e"))
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({
        "promise_id": args.id, "criterion": args.criterion, "evidence": args.evidence, "evidence_type": args.kind,
    });
    let what = format!("{} is said to be met", args.criterion);
    ask(here, &args.once, "promise.meet", request, |answer| became(answer, &args.id, &what))
}
