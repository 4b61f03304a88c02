//! `countersign run show`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, look};
use crate::cli::words::{text, texts};
use serde_json::{Value, json};
use std::fmt::Write;

/// Show a run as it stands, with what is counted of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run show
  countersign run show --format json")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "run.show", json!({ "run_id": args.of.id() }), said)
}

/// How many tasks there are in each state.
pub fn tally(run: &Value) -> String {
    let counts = run["metrics"]["by_status"].as_object().into_iter().flatten();
    let counts = counts.filter(|(_, count)| count.as_u64() > Some(0));
    let said: Vec<String> = counts.map(|(status, count)| format!("{count} {}", state(run, status))).collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}

/// With the policy `claim`, what is done is so by its worker's word.
fn state(run: &Value, status: &str) -> String {
    match (status, run["policy"].as_str()) {
        ("done", Some("claim")) => "done (claimed)".to_owned(),
        _ => status.replace('_', " "),
    }
}

fn said(run: &Value) -> String {
    let mut out = format!("run {}  {}\n", text(run, "run_id"), text(run, "status"));
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<12} {value}");
    };
    field("objective", &text(run, "objective"));
    for constraint in texts(run, "constraints") {
        field("constraint", &constraint);
    }
    field("led by", &format!("{}, since {}", text(run, "orchestrator"), text(run, "since")));
    field("done means", done_means(run));
    field("tasks", &tally(run));
    let metrics = &run["metrics"];
    let [given, conflicts, again, won] =
        ["dispatches", "lock_conflicts", "retries", "retries_won"].map(|name| times(&metrics[name]));
    field("given out", &format!("{given}; refused for a lock {conflicts}"));
    if metrics["retries"].as_u64() > Some(0) {
        field("tried again", &format!("{again}; with success {won}"));
    }
    let denials = metrics["denials"].as_object().into_iter().flatten();
    let denials: Vec<String> = denials.map(|(code, count)| format!("{count} {code}")).collect();
    if !denials.is_empty() {
        field("refused", &denials.join(", "));
    }
    if run["spent_tokens"].as_u64() > Some(0) || run["spent_usd"].as_f64() > Some(0.0) {
        let (tokens, money) = (run["spent_tokens"].as_u64().unwrap_or(0), run["spent_usd"].as_f64().unwrap_or(0.0));
        field("used", &format!("{tokens} tokens, {money:.2} dollars, as its agents say"));
    }
    let rates = [
        ("packet_pass_rate", "results that passed"),
        ("first_pass_rate", "done at the first attempt"),
        ("retry_success_rate", "retries that helped"),
    ];
    for (name, what) in rates {
        if let Some(rate) = metrics[name].as_f64() {
            field("rate", &format!("{:.0} % {what}", rate * 100.0));
        }
    }
    out
}

fn times(count: &Value) -> String {
    match count.as_u64() {
        None | Some(0) => "never".to_owned(),
        Some(1) => "once".to_owned(),
        Some(count) => format!("{count} times"),
    }
}

fn done_means(run: &Value) -> &'static str {
    match run["policy"].as_str() {
        Some("claim") => "claimed: the worker's word, and a result that passed every check",
        Some("gates") => "verified: claimed, validated by somebody else, judged, and landed",
        _ => "what the run's policy asks for",
    }
}
