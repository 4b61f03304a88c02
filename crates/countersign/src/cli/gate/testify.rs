//! `countersign gate testify`

use super::answering::{Answer, Shown, answer};
use super::of::{Of, criteria};
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, wrong};
use serde_json::{Value, json};

/// Validate work as a person: say which criteria hold and which do not, as you saw it
///
/// Criteria that are not named were not looked at. Where more than somebody's word is asked for, a pass is not enough.
/// For a person: at a terminal, or with the token of an owner or a reviewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate testify T-1 --pass AC-1,AC-3 --fail AC-2 --evidence 'I paid with an empty cart; AC-2: no reason is shown'
  countersign gate testify T-1 --pass AC-1 --evidence 'I opened the page' --shown 0123456789abcdef.29000000")]
pub struct Args {
    #[command(flatten)]
    of: Of,

    /// The criteria that hold
    #[arg(long, value_name = "AC-1,AC-2", value_delimiter = ',', num_args = 1..)]
    pass: Vec<String>,

    /// The criteria that do not
    #[arg(long, value_name = "AC-1,AC-2", value_delimiter = ',', num_args = 1..)]
    fail: Vec<String>,

    /// What you saw
    #[arg(long, value_name = "TEXT")]
    evidence: String,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let (pass, fail) = (criteria(&args.pass), criteria(&args.fail));
    if pass.is_empty() && fail.is_empty() {
        return Err(wrong(
            "say of at least one criterion that it holds, with --pass, or that it does not, with --fail",
        ));
    }
    if let Some(both) = pass.iter().find(|id| fail.contains(id)) {
        return Err(wrong(format!("{both} is said to hold and not to hold; name it once")));
    }
    let found = |ids: &[&str], status: &str| -> Vec<Value> {
        ids.iter().map(|id| json!({ "criterion": id, "status": status, "evidence": args.evidence })).collect()
    };
    let results = [found(&pass, "PASS"), found(&fail, "FAIL")].concat();
    let named = |ids: &[&str]| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let question = format!("Did you see that it holds: {}; and that it does not: {}?", named(&pass), named(&fail));
    answer(
        here,
        Answer {
            id: "gate.testify",
            of: &args.of,
            shown: &args.shown,
            rest: json!({ "results": results }),
            question: &question,
            once: &args.once,
        },
    )
}
