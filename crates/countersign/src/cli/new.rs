//! `countersign new`

mod questions;

use super::contracts::Named;
use super::{Exit, contracts, output};
use crate::project::Project;
use crate::{files, terminal};
use anyhow::{Context, bail};
use countersign_contract::{Form, Timestamp, fix, nearest, show};
use countersign_diagnostic::{Pointer, Repair};
use questions::Questions;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Begin a new document of a contract
///
/// On a terminal each text and number is asked for, with the example's value to keep by pressing Enter; an answer that
/// does not fit its field is asked for again. Otherwise, and with --set, the example is taken with the given values put
/// in, as long as they fit. Times are now, and ids by which others know the document are new; those of other things, such as
/// the tasks of its run, are the example's until you set them. A file is written in the form that its ending says, where the contract has that form.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign new assignment
  countersign new assignment --set /task/title='Round half to even' --set '/task/lock_scope=[\"billing/round.py\"]'
  countersign new universal_handoff --out handoff.json
  countersign new subagent_result --out result.md")]
pub struct Args {
    /// The contract
    name: String,

    /// Put a value at a JSON pointer, instead of what is there (`/-` is the end of a list); a value that is not JSON is taken as text
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
        Fresh::new(jiff::Timestamp::now(), uuid::Uuid::new_v4()).freshen(&mut document);
    }
    let form = match form(args.out.as_deref(), &contract) {
        Ok(form) => form,
        Err(error) => return Ok(wrong_usage(&error)),
    };
    if let Err(error) = set_all(&mut document, &args.set, &contract) {
        return Ok(wrong_usage(&error));
    }
    if args.set.is_empty() && terminal::can_ask() {
        let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr().lock());
        Questions { contract: &contract, input: &mut input, output: &mut output }.ask(&mut document)?;
    }
    contract.seal(&mut document);
    let text = written(&document, form);
    match &args.out {
        Some(path) => {
            files::write_new(path, &text)?;
            output::say(&format!("wrote {}; `countersign check {}` checks it", path.display(), path.display()));
        }
        None => output::print(&text),
    }
    Ok(Exit::Allowed)
}

fn wrong_usage(error: &anyhow::Error) -> Exit {
    output::say(&format!("error: {error:#}"));
    Exit::Usage
}

/// How the document is written: as the ending of the file's name says.
fn form(out: Option<&Path>, contract: &Named) -> anyhow::Result<Form> {
    let form = out.and_then(|path| Form::of_name(&path.to_string_lossy())).unwrap_or(Form::Json);
    let forms = contract.forms();
    if !forms.contains(&form) {
        let fit: Vec<&str> = forms.iter().map(|form| form.as_str()).collect();
        bail!("`{}` is not written as {}; name a file of {}", contract.name(), form.as_str(), fit.join(", "));
    }
    Ok(form)
}

fn written(document: &Value, form: Form) -> String {
    match form {
        Form::Json => format!("{document:#}\n"),
        Form::JsonLines => format!("{document}\n"),
        Form::Yaml => fix::write(document, "", Form::Yaml),
        Form::Markdown => format!("---\n{}---\n", fix::write(document, "", Form::Yaml)),
    }
}

/// Members whose value is made anew, since an example's would be taken for another's. Nobody is asked for them.
const FRESH_IDS: &[&str] = &["run_id", "trace_id"];

/// What makes an example today's and nobody else's.
struct Fresh {
    /// The time, to the second.
    now: String,
    /// The number in ids that carry their day, by chance; of no more than six digits, so that a plan can try it again.
    number: String,
    /// An id, and its first digits for ids that have room for those.
    id: String,
}

impl Fresh {
    fn new(now: jiff::Timestamp, id: uuid::Uuid) -> Self {
        let number = (id.as_u128() % 999_000 + 1_000).to_string();
        Self { now: format!("{now:.0}"), number, id: id.to_string() }
    }

    fn freshen(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    match member.as_str().and_then(|text| self.id(key, text)) {
                        Some(id) => *member = id.into(),
                        None => self.freshen(member),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.freshen(item)),
            Value::String(text) if Timestamp::parse(text).is_some() => text.clone_from(&self.now),
            Value::String(text) => *text = self.dated(text),
            _ => {}
        }
    }

    /// The id in a member that has one of the document's own. `T-12` is a task of a run, and new with it.
    fn id(&self, key: &str, text: &str) -> Option<String> {
        let short = self.id.get(..8)?;
        match key {
            _ if FRESH_IDS.contains(&key) => Some(self.id.clone()),
            "delta_id" => Some(format!("d-{short}")),
            "id" if text.starts_with("promise-") => Some(format!("promise-{short}")),
            "task_id" if !text.starts_with("T-") => Some(format!("task-{short}")),
            _ => None,
        }
    }

    /// The text with every day and month in it (`2025-12-25`, `/2025-12/`) replaced by that of now, and the number of an id
    /// behind its day (`DI-2025-12-25-001`) by a new one.
    fn dated(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = [10, 7].into_iter().find(|length| is_date(rest, *length, out.chars().last()));
            let taken = length.unwrap_or(letter.len_utf8());
            out.push_str(length.map_or(&rest[..taken], |length| &self.now[..length]));
            rest = &rest[taken..];
            if length == Some(10)
                && let Some(behind) = behind_number(rest)
            {
                out.push('-');
                out.push_str(&self.number);
                rest = behind;
            }
        }
        out
    }
}

/// What follows the number of an id (`-001`), if a text begins with one.
fn behind_number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-')?;
    let behind = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    (digits.len() - behind.len() >= 3).then_some(behind)
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

/// Puts the values in, and refuses one that does not fit its place.
fn set_all(document: &mut Value, assignments: &[String], contract: &Named) -> anyhow::Result<()> {
    let places = assignments.iter().map(|it| set(document, it)).collect::<anyhow::Result<Vec<Pointer>>>()?;
    for place in places {
        if let Some(fault) = questions::fault(contract, document, &place) {
            bail!("what is set at `{}` does not fit: {fault}", show(place.as_str()));
        }
    }
    Ok(())
}

/// Puts a value in the place of the one that is there, or where there is none yet.
fn set(document: &mut Value, assignment: &str) -> anyhow::Result<Pointer> {
    let (pointer, value) = assignment
        .split_once('=')
        .filter(|(pointer, _)| pointer.starts_with('/'))
        .with_context(|| format!("`{assignment}` is not POINTER=VALUE, such as /task/title=Tests"))?;
    let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    let place = Pointer::at(pointer);
    let replaced = Repair::replace(place.clone(), value.clone(), "").apply(document);
    if !replaced && !Repair::add(place.clone(), value, "").apply(document) {
        let parent = Pointer::at(pointer).parent().unwrap_or_default();
        let keys: Vec<&str> = match document.pointer(parent.as_str()) {
            Some(Value::Object(members)) => members.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let near = nearest(pointer, &keys).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        bail!("there is no place `{pointer}` in this document{near}");
    }
    Ok(place)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use countersign_contract::{SIZE_MAX, parse};
    use countersign_domain::delegation::trying::id_of_try;

    #[test]
    fn two_documents_that_are_begun_are_known_by_different_names() {
        let made =
            |seconds: i64, id: u128| Fresh::new(jiff::Timestamp::new(seconds, 0).unwrap(), uuid::Uuid::from_u128(id));
        for contract in countersign_domain::contracts() {
            let [one, other] = [made(1_800_000_000, 7 << 100), made(1_800_000_001, 9 << 100)].map(|fresh| {
                let mut document = (contract.example)();
                fresh.freshen(&mut document);
                let text = document.to_string();
                contract.index(&parse(&text, Form::Json, SIZE_MAX).unwrap()).unwrap().0
            });
            // A plan tries an instruction again, for which its number leaves room.
            let tried = one.iter().filter(|name| name.contains("DI-"));
            let tried = tried.filter_map(|name| name.split('/').find(|part| part.starts_with("DI-")));
            assert!(tried.into_iter().all(|id| id_of_try(id, 1).is_some()), "{one:?}");
            // Who has a hand in a task is told by its id, which is one of the run's.
            let same: Vec<_> = one.iter().filter(|name| other.contains(name) && !name.starts_with("task/")).collect();
            assert!(same.is_empty(), "{}: {same:?}", contract.name);
        }
    }
}
