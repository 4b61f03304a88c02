//! What is asked for with a task, as flags.

use crate::cli::asking::{Here, wrong};
use crate::cli::words::seconds;
use crate::paths;
use countersign_domain::work::payload::Priority;
use serde_json::{Map, Value, json};

/// What is asked for with a task. Paths are meant from the current directory.
#[derive(Debug, clap::Args)]
pub struct Spec {
    /// One line
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What it may change: files, or folders with all that is in them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    lock: Vec<String>,

    /// What it may not change
    #[arg(long, value_name = "PATH", num_args = 1..)]
    forbid: Vec<String>,

    /// When it is done, a criterion each
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    accept: Vec<String>,

    /// The tasks that must be done before
    #[arg(long, value_name = "TASK", num_args = 1..)]
    after: Vec<String>,

    /// How long its worker may be silent; 20m unless given
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    timeout: Option<i64>,

    /// How often its worker gives a sign of life; 2m unless given
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    heartbeat: Option<i64>,

    /// How soon: low, normal, high or critical; normal unless given
    #[arg(long, value_name = "WORD", value_parser = priority)]
    priority: Option<&'static str>,

    /// Others may go on beside it
    #[arg(long)]
    parallel: bool,

    /// Where its worker keeps a log; worklogs/TASK.jsonl unless given
    #[arg(long, value_name = "PATH")]
    worklog: Option<String>,

    /// A file that its worker should read
    #[arg(long, value_name = "PATH", num_args = 1..)]
    context_file: Vec<String>,

    /// Something that its worker should know
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    context_note: Vec<String>,

    /// A command that its worker may need
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    context_command: Vec<String>,

    /// Something that its worker must keep to
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    context_constraint: Vec<String>,
}

fn priority(word: &str) -> Result<&'static str, String> {
    let found = Priority::parse(word).map(Priority::as_str);
    found.ok_or_else(|| format!("`{word}` is none of low, normal, high, critical"))
}

impl Spec {
    /// The flags that a new task cannot do without and that were not given.
    pub fn missing(&self) -> Vec<&'static str> {
        let needed =
            [("--title", self.title.is_none()), ("--lock", self.lock.is_empty()), ("--accept", self.accept.is_empty())];
        needed.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }

    /// Puts what was given over what there is.
    pub fn put_over(&self, task: &mut Map<String, Value>, here: &Here<'_>) -> anyhow::Result<()> {
        let place = |path: &String| paths::in_project(here.project, path).map_err(wrong);
        let places = |paths: &[String]| paths.iter().map(place).collect::<anyhow::Result<Vec<String>>>();
        let mut put = |name: &str, value: Value| {
            let is_given = !value.is_null() && value != json!([]);
            if is_given {
                task.insert(name.to_owned(), value);
            }
        };
        put("title", json!(self.title));
        put("lock_scope", json!(places(&self.lock)?));
        put("forbidden_scope", json!(places(&self.forbid)?));
        put("acceptance_criteria", json!(self.accept));
        put("dependencies", json!(self.after));
        put("timeout_seconds", json!(self.timeout));
        put("heartbeat_interval_seconds", json!(self.heartbeat));
        put("priority", json!(self.priority));
        put("type", json!(self.parallel.then_some("parallelizable")));
        put("worklog_path", json!(self.worklog.as_ref().map(place).transpose()?));
        put("context_package", json!(self.context(places(&self.context_file)?)));
        Ok(())
    }

    fn context(&self, files: Vec<String>) -> Vec<Value> {
        let kinds = [
            ("file", &files),
            ("note", &self.context_note),
            ("command", &self.context_command),
            ("constraint", &self.context_constraint),
        ];
        let items = kinds.into_iter().flat_map(|(kind, values)| values.iter().map(move |value| (kind, value)));
        items.map(|(kind, value)| json!({ "kind": kind, "value": value })).collect()
    }
}
