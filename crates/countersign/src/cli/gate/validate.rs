//! `countersign gate validate`

use super::followed;
use super::of::Of;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, UnderLease, ask, text_of};
use anyhow::bail;
use countersign_contract::{Form, parse};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Say what was found when work was validated: a validation response that answers every criterion
///
/// Whoever did the work cannot. A criterion that asks for more than somebody's word holds only with evidence of that kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate validate promise-1a2b3c4d response.json --validator reviewer-1 --as reviewer-1
  countersign gate validate T-1 - --validator reviewer-1 --bound $(git rev-parse HEAD) --lease 7 --as lead < response.yaml")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// The validation response, in JSON or YAML; - is standard input
    #[arg(value_name = "RESPONSE")]
    response: PathBuf,

    /// Who validated
    #[arg(long, value_name = "NAME")]
    validator: String,

    /// What was looked at: a commit, or the hash of contents
    #[arg(long, value_name = "BOUND")]
    bound: Option<String>,

    /// The evidence that was collected: a file with a list, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = args.of.request(json!({
        "lease": args.under.number()?, "bound": args.bound, "validator": args.validator,
        "response": text_of(here, &args.response)?,
        "evidence": args.evidence.as_deref().map(|path| list_in(here, path)).transpose()?,
    }));
    ask(here, &args.once, "gate.validate", request, |answer| followed(answer, &args.of.name))
}

fn list_in(here: &Here<'_>, path: &Path) -> anyhow::Result<Value> {
    let (text, name) = (text_of(here, path)?, path.display());
    let form = Form::of_name(&path.to_string_lossy()).unwrap_or_else(|| Form::of_text(&text));
    match parse(&text, form, here.project.settings.size_max) {
        Ok(document) => match document.root().to_value() {
            list @ Value::Array(_) => Ok(list),
            _ => bail!("`{name}` has no list of evidence; write one, an item for each thing that was looked at"),
        },
        Err(fault) => bail!("`{name}` cannot be read: {}; {}", fault.message, fault.help),
    }
}
