//! The agents of the demonstration, as programs: an assignment on standard input, a result on standard output. They know
//! nothing but what stands in the assignment; one that is told what was wrong does better.

use super::handing;
use super::scenery::mended;
use crate::cli::asking::wrong;
use crate::cli::{Exit, output};
use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::Path;

/// An agent of `countersign demo`
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// Which
    #[arg(value_enum)]
    name: Name,
}

/// The agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    Honest,
    Boaster,
    Wanderer,
    Skipper,
    Mortal,
    Optimist,
}

/// The one that is to be trusted.
pub const HONEST: &str = "honest";

/// What the agent of this name is going to do.
pub fn does(name: &str) -> &'static str {
    match Name::from_str(name, false) {
        Ok(Name::Honest) => "does what it is asked for",
        Ok(Name::Boaster) => "claims tests that it never ran",
        Ok(Name::Wanderer) => "changes more than it may, and does not say so",
        Ok(Name::Skipper) => "skips the test that fails, then takes it out",
        Ok(Name::Mortal) => "dies in the middle of its work",
        Ok(Name::Optimist) => "calls half of the work all of it",
        Err(_) => "is not known here",
    }
}

/// What the skipper wants left out.
const UNWANTED: &str = "a negative amount is refused";

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    // It changes files where it stands, and so works only where it was put.
    if std::env::var_os("COUNTERSIGN_ATTEMPT").is_none() {
        return Err(wrong("this is an agent of `countersign demo`, and is started by it alone"));
    }
    let assignment: Value = serde_json::from_reader(std::io::stdin().lock()).context("there is no assignment")?;
    let told = told(&assignment);
    if let Some(words) = handing::told(&assignment) {
        output::say(&words);
    }
    let changed = match args.name {
        Name::Honest => {
            output::say("I wrote it, and ran its tests");
            put(&[("till/sum.sh", mended("till/sum.sh"))])?
        }
        Name::Boaster if told.contains("AC-1 FAIL") => {
            output::say("I see: a half goes to the even cent");
            put(&[("till/round.sh", mended("till/round.sh"))])?
        }
        Name::Boaster => {
            output::say("all three tests pass, I am sure");
            put(&[("till/round.sh", "echo $((($1 + 5) / 10))\n")])?
        }
        Name::Wanderer => wander(&told)?,
        Name::Skipper => skip(&told)?,
        Name::Mortal if told.contains("signal") => {
            output::say("once more, from the beginning");
            put(&[("till/receipt.sh", mended("till/receipt.sh"))])?
        }
        Name::Mortal => {
            let whole = mended("till/receipt.sh");
            put(&[("till/receipt.sh", &whole[..whole.len() / 2])])?;
            output::say("half of it is written");
            die();
            Vec::new()
        }
        Name::Optimist => {
            output::say("the manual is complete");
            put(&[("doc/manual.md", mended("doc/manual.md"))])?
        }
    };
    let mut result = result(&assignment, &changed);
    if args.name == Name::Honest {
        result["x_handoff"] = handing::draft();
    }
    output::print(&format!("{result}\n"));
    Ok(Exit::Allowed)
}

/// Everything that the assignment says beside the task.
fn told(assignment: &Value) -> String {
    let context = assignment["context_package"].as_array().into_iter().flatten();
    context.filter_map(|item| item["value"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Tidies up somebody else's file as well, unless it was told not to.
fn wander(told: &str) -> anyhow::Result<Vec<String>> {
    let own = put(&[("till/change.sh", mended("till/change.sh"))])?;
    if told.contains("till/change.sh and nothing else") {
        output::say("only what I was given, this time");
    } else {
        output::say("done; nothing else was touched");
        put(&[("till/sum.sh", "# tidied up\nawk '{ s += $1 } END { print s }'\n")])?;
    }
    Ok(own)
}

/// Has the test left out that fails; then takes it out; then does the work.
fn skip(told: &str) -> anyhow::Result<Vec<String>> {
    let careless = "case $1 in *[!0-9-]* | '') exit 1 ;; esac\n";
    if told.is_empty() {
        output::say("every test passes; one of them is not needed");
        return put(&[("till/refuse.sh", careless), ("tests/skip", &format!("{UNWANTED}\n"))]);
    }
    if told.contains("skipped test is not") {
        output::say("every test passes; none is skipped");
        let tests = std::fs::read_to_string("tests/refuse.t").context("tests/refuse.t cannot be read")?;
        let fewer: String =
            tests.lines().filter(|line| !line.contains(UNWANTED)).map(|line| format!("{line}\n")).collect();
        return put(&[("till/refuse.sh", careless), ("tests/refuse.t", &fewer)]);
    }
    output::say("very well, negative amounts are refused");
    put(&[("till/refuse.sh", mended("till/refuse.sh"))])
}

/// As a machine without memory left would end it.
fn die() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}

/// Writes files, and gives their names.
fn put(files: &[(&str, &str)]) -> anyhow::Result<Vec<String>> {
    for (name, text) in files {
        let path = Path::new(name);
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
        written.with_context(|| format!("{name} cannot be written"))?;
    }
    Ok(files.iter().map(|(name, _)| (*name).to_owned()).collect())
}

/// What every agent says: that all is done, and that it has seen it.
fn result(assignment: &Value, changed: &[String]) -> Value {
    let task = &assignment["task"];
    let changes: Vec<Value> = changed
        .iter()
        .map(|name| json!({ "resource": name, "action": "modified", "summary": "written for this task" }))
        .collect();
    let criteria = task["acceptance_criteria"].as_array().into_iter().flatten();
    let answers: Vec<Value> = criteria
        .map(|criterion| json!({ "criterion": criterion, "status": "pass", "evidence": "I ran it, and it holds" }))
        .collect();
    json!({
        "schema_version": "1.0.0", "run_id": assignment["run_id"], "task_id": task["task_id"], "status": "done",
        "changes": changes, "acceptance_check": answers, "notes_for_orchestrator": [], "worklog_path": task["worklog_path"],
    })
}
