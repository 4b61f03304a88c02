//! `countersign new`

mod questions;

use super::contracts::Named;
use super::{Exit, contracts, output};
use crate::project::Project;
use crate::{files, terminal};
use anyhow::{Context, bail};
use countersign_contract::{Timestamp, nearest};
use countersign_diagnostic::{Pointer, Repair};
use questions::Questions;
use serde_json::Value;
use std::path::PathBuf;

/// Begin a new document of a contract
///
/// On a terminal each text and number is asked for, with the example's value to keep by pressing Enter; an answer that
/// does not fit its field is asked for again. Otherwise, and with --set, the example is taken with the given values put
/// in. Ids and times are made fresh.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign new assignment
  countersign new assignment --set /task/title='Round half to even' --set '/task/lock_scope=[\"billing/round.py\"]'
  countersign new universal_handoff --out handoff.json")]
pub struct Args {
    /// The contract
    name: String,

    /// Put a value at a JSON pointer; a value that is not JSON is taken as text
    #[arg(long, value_name = "POINTER=VALUE")]
    set: Vec<String>,

    /// Write to this file, which must not exist yet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name, project)? else { return Ok(Exit::Usage) };
    let Some(mut document) = contract.example() else { return Ok(Exit::Failed) };
    // What the times and ids in a schema of the user's mean is not known.
    if matches!(contract, Named::Ours(_)) {
        freshen(&mut document, jiff::Timestamp::now(), &uuid::Uuid::new_v4().to_string());
    }
    for assignment in &args.set {
        if let Err(error) = set(&mut document, assignment) {
            output::say(&format!("error: {error:#}"));
            return Ok(Exit::Usage);
        }
    }
    if args.set.is_empty() && terminal::can_ask() {
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr().lock());
        Questions { contract: &contract, input: &mut input, output: &mut output }.ask(&mut document)?;
    }
    contract.seal(&mut document);
    let text = format!("{document:#}\n");
    match &args.out {
        Some(path) => {
            files::write_new(path, &text)?;
            output::say(&format!("wrote {}; `countersign check {}` checks it", path.display(), path.display()));
        }
        None => output::print(&text),
    }
    Ok(Exit::Allowed)
}

/// Members whose value is made anew, since an example's would be taken for another's.
const FRESH_IDS: &[&str] = &["run_id", "trace_id"];

/// Makes an example today's: its times are now, the days in its ids and paths are today, its run is a new one.
fn freshen(value: &mut Value, now: jiff::Timestamp, id: &str) {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                if FRESH_IDS.contains(&key.as_str()) {
                    *member = id.into();
                } else {
                    freshen(member, now, id);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| freshen(item, now, id)),
        Value::String(text) if Timestamp::parse(text).is_some() => *text = format!("{now:.0}"),
        Value::String(text) => *text = on_day(text, &now.to_string()),
        _ => {}
    }
}

/// The text with every day and month in it (`2025-12-25`, `/2025-12/`) replaced by that of `now`.
fn on_day(text: &str, now: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = [10, 7].into_iter().find(|length| is_date(rest, *length, out.chars().last()));
        let taken = length.unwrap_or(letter.len_utf8());
        out.push_str(length.map_or(&rest[..taken], |length| &now[..length]));
        rest = &rest[taken..];
    }
    out
}

/// Whether a text begins with a day (10 characters), or, between slashes, with a month (7).
fn is_date(text: &str, length: usize, before: Option<char>) -> bool {
    let form = &b"0000-00-00"[..length];
    let Some(head) = text.as_bytes().get(..length) else { return false };
    let fits =
        head.iter().zip(form).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form });
    let alone = length == 10 || (before == Some('/') && text[length..].starts_with('/'));
    fits && alone && !before.is_some_and(|before| before.is_ascii_digit())
}

fn set(document: &mut Value, assignment: &str) -> anyhow::Result<()> {
    let (pointer, value) = assignment
        .split_once('=')
        .filter(|(pointer, _)| pointer.starts_with('/'))
        .with_context(|| format!("`{assignment}` is not POINTER=VALUE, such as /task/title=Tests"))?;
    let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    if !Repair::add(Pointer::at(pointer), value, "").apply(document) {
        let parent = Pointer::at(pointer).parent().unwrap_or_default();
        let keys: Vec<&str> = match document.pointer(parent.as_str()) {
            Some(Value::Object(members)) => members.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let near = nearest(pointer, &keys).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        bail!("there is no place `{pointer}` in this document{near}");
    }
    Ok(())
}
