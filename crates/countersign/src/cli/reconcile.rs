//! `countersign reconcile`

use super::Exit;
use super::asking::{Here, How, OfRun, look_and_judge};
use super::words::text;
use serde_json::{Value, json};

/// Compare the operator ledger with locks, leases, worklogs and, in a git repository, the working tree
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign reconcile
  countersign reconcile --format json

Exit codes: 0 everything agrees, 1 something does not, 2 wrong usage, 3 could not be told.")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let judge = |shown: &Value| if shown["clean"] == true { Exit::Allowed } else { Exit::Refused };
    look_and_judge(here, &args.how, "reconcile", json!({ "run_id": args.of.id() }), said, judge)
}

fn said(shown: &Value) -> String {
    let mut out = String::new();
    let findings = shown["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    for finding in findings {
        let [code, reason, help] = ["code", "reason", "help"].map(|name| text(finding, name));
        out.push_str(&format!("{code}: {reason}\n  help: {help}\n"));
    }
    let tree = if shown["tree"] == true { "" } else { "; there is no working tree of git to compare with" };
    let tasks = match shown["tasks"].as_u64() {
        Some(1) => "1 task".to_owned(),
        tasks => format!("{} tasks", tasks.unwrap_or(0)),
    };
    let verdict = match findings.len() {
        0 => format!("reconciled: {tasks}, everything agrees"),
        1 => format!("reconciled: {tasks}, 1 thing does not agree"),
        count => format!("reconciled: {tasks}, {count} things do not agree"),
    };
    format!("{out}{verdict}{tree}\n")
}
