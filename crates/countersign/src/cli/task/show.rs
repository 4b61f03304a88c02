//! `countersign task show`

use super::brief;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, look};
use crate::cli::words::{span, text, texts};
use serde_json::{Value, json};

/// Show a task as it stands, with all that was asked for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task show T-1
  countersign task show T-1 --format json")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "task.show", json!({ "run_id": args.of.id(), "task_id": args.task }), said)
}

fn said(shown: &Value) -> String {
    let mut out = brief(&shown["task"]);
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("  {name:<12} {value}\n"));
        }
    };
    field("lease", text(shown, "lease"));
    field("may not", texts(shown, "forbidden_scope").join(", "));
    field("after", texts(shown, "dependencies").join(", "));
    for criterion in texts(shown, "acceptance_criteria") {
        field("done when", criterion);
    }
    let seconds = |name: &str| span(shown[name].as_i64().unwrap_or(0));
    field(
        "silence",
        format!(
            "at most {}, and a sign of life every {}",
            seconds("timeout_seconds"),
            seconds("heartbeat_interval_seconds")
        ),
    );
    let lines = if shown["worklog_lines"] == 1 { "line" } else { "lines" };
    let written = format!("{} {lines} in the ledger", text(shown, "worklog_lines"));
    field("worklog", format!("{}, {written}", text(shown, "worklog_path")));
    let failures = shown["failures"].as_object().into_iter().flatten();
    for (owner, count) in failures {
        field("failed", format!("under {}, attempts: {count}", countersign_diagnostic::visible(owner)));
    }
    let refused = &shown["refused_result"];
    if refused.is_object() {
        field("last result", format!("refused, {}: {}", text(refused, "code"), text(refused, "reason")));
        for finding in texts(refused, "findings") {
            field("", finding);
        }
    }
    field("result", shown["result"].as_u64().map(|seq| format!("event {seq}")).unwrap_or_default());
    out
}
