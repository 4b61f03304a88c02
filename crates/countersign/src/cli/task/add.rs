//! `countersign task add`

use super::spec::Spec;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, ask, text_of, wrong};
use crate::cli::words::texts;
use anyhow::bail;
use countersign_contract::{Form, parse};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Ask for a task, or for a whole graph of them from a file
///
/// Overlapping scopes are no fault here: whether a scope is free is judged when a task is claimed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task add T-1 --title 'Round invoice totals' --lock src/money --accept 'tests pass'
  countersign task add T-2 --title 'Describe it' --lock docs --accept 'reviewed' --after T-1 --timeout 1h --priority high
  countersign task add --file graph.yaml

A file has a list of up to 1000 tasks, or `tasks:` with one. They may depend on each other and on what was added before. Its
paths are meant from the project's root:
  - task_id: T-1
    title: Round invoice totals
    lock_scope: [src/money]
    acceptance_criteria: [tests pass]
  - task_id: T-2
    title: Describe it
    lock_scope: [docs]
    acceptance_criteria: [the rule is described]
    dependencies: [T-1]
    timeout_seconds: 3600")]
pub struct Args {
    /// Its id: `T-` and a number, or a UUID
    #[arg(value_name = "TASK", required_unless_present = "file", conflicts_with = "file")]
    task: Option<String>,

    /// Take the tasks from this file, all of them or none; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    spec: Spec,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let tasks = match &args.file {
        Some(path) => {
            must_be_alone(args, here)?;
            tasks_in(here, path)?
        }
        None => json!([one(args, here)?]),
    };
    let request = json!({ "run_id": args.of.id(), "tasks": tasks });
    ask(here, &args.once, "task.add", request, |answer| format!("added: {}\n", texts(answer, "task_ids").join(", ")))
}

fn one(args: &Args, here: &Here<'_>) -> anyhow::Result<Value> {
    let missing = args.spec.missing();
    if !missing.is_empty() {
        return Err(wrong(format!(
            "a task needs {}; `countersign task add --help` has an example",
            missing.join(", ")
        )));
    }
    let mut task = Map::new();
    task.insert("task_id".to_owned(), json!(args.task));
    args.spec.put_over(&mut task, here)?;
    Ok(task.into())
}

/// A file says all of its tasks. What is said beside it would be for none of them, or for each.
fn must_be_alone(args: &Args, here: &Here<'_>) -> anyhow::Result<()> {
    let mut beside = Map::new();
    args.spec.put_over(&mut beside, here)?;
    if beside.is_empty() {
        return Ok(());
    }
    Err(wrong("with --file, everything about its tasks stands in the file; write it there, or leave --file out"))
}

fn tasks_in(here: &Here<'_>, path: &Path) -> anyhow::Result<Value> {
    let (text, name) = (text_of(here, path)?, path.display());
    let form = Form::of_name(&path.to_string_lossy()).unwrap_or_else(|| Form::of_text(&text));
    let document = match parse(&text, form, here.project.settings.size_max) {
        Ok(document) => document,
        Err(fault) => bail!("`{name}` cannot be read: {}; {}", fault.message, fault.help),
    };
    let root = document.root().to_value();
    match root {
        Value::Array(_) => Ok(root),
        Value::Object(mut root) if root.contains_key("tasks") => Ok(root.remove("tasks").unwrap_or_default()),
        _ => bail!("`{name}` has no list of tasks; write one, or `tasks:` with one"),
    }
}
