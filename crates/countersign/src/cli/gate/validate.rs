//! `countersign gate validate`

use super::collecting::{self, Collecting};
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
/// Whoever did the work cannot. A criterion that asks for more than somebody's word holds only with evidence of that kind, which
/// Countersign collects itself: in a run, and for a promise with --checks. What is given with --evidence is on the record as
/// somebody's word. Of a task this is said by the process that carries its run out, by a peer whom the plan names for it, with a
/// token of its own, and while nobody carries it out by a person.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate validate promise-1a2b3c4d response.json --validator reviewer-1 --as reviewer-1
  countersign gate validate promise-1a2b3c4d --checks checks.yaml --as reviewer-1
  countersign gate validate T-1 response.json --validator critic --bound COMMIT --token-file critic.token
  countersign gate validate T-1 - --validator reviewer-1 --bound $(git rev-parse HEAD) --lease 7 --token-file ann < response.yaml

The checks are written as for `countersign validate`:
  AC-1: {test: [python3, -m, pytest, -q, tests/test_cart.py]}")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// The validation response, in JSON or YAML; - is standard input
    #[arg(value_name = "RESPONSE", required_unless_present = "checks")]
    response: Option<PathBuf>,

    /// Who validated
    #[arg(long, value_name = "NAME", required_unless_present = "checks")]
    validator: Option<String>,

    /// Have Countersign look at a promise itself: what decides each criterion, in YAML or JSON, by the ids of the criteria
    #[arg(long, value_name = "FILE", conflicts_with_all = ["response", "validator", "evidence"])]
    checks: Option<PathBuf>,

    /// A host that the checks may ask, beside this machine; may be given several times
    #[arg(long, value_name = "HOST", requires = "checks")]
    allow_host: Vec<String>,

    /// What was looked at: a commit, or the hash of contents
    #[arg(long, value_name = "BOUND")]
    bound: Option<String>,

    /// What the validator writes down as evidence: a file with a list, in JSON or YAML
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if let Some(checks) = &args.checks {
        let Args { of, bound, allow_host, once, .. } = args;
        return collecting::run(here, &Collecting { of, bound: bound.as_deref(), checks, allow_host, once });
    }
    let request = args.of.request(json!({
        "lease": args.under.number()?, "bound": args.bound, "validator": args.validator,
        "response": args.response.as_deref().map(|path| text_of(here, path)).transpose()?,
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
