//! How an agent is called.
//!
//! The options of the known agents are those that their own references list: for `claude` the CLI reference and the
//! page on headless use (`-p`, `--output-format stream-json` with `--verbose`, `--json-schema`, `--model`, `--permission-mode`; the prompt may
//! come from standard input), for `codex` the reference of `codex exec` and its declaration in
//! `codex-rs/exec/src/cli.rs` (`--json`, `--output-schema FILE`, `-o FILE`, `--model`, `--sandbox`; `-` reads the
//! prompt from standard input).

use super::Job;
use countersign_domain::plan::payload::Preset;
use std::path::PathBuf;

/// Linux takes no single argument beyond 128 KiB.
const ARGUMENT_MAX: usize = 120 << 10;

/// In which way an agent answers.
#[derive(Clone, Debug)]
pub(super) enum Manner {
    /// What it writes to standard output is the answer.
    Program,
    /// Messages as JSON Lines, and the answer in the last.
    Claude,
    /// Events as JSON Lines, and the answer in a file.
    Codex { last: PathBuf },
}

/// A list of arguments, and what stands on standard input.
pub(super) struct Invocation {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) input: Vec<u8>,
    pub(super) manner: Manner,
}

/// How the agent of a job is called. Makes the files that the call names.
pub(super) fn of(job: &Job) -> Result<Invocation, String> {
    match (&job.agent.command, job.agent.preset) {
        (Some(command), None) => {
            let mut words = command.iter().map(|word| word.as_str().to_owned());
            let program = words.next().ok_or("an agent's `command` is empty; name a program")?;
            let input = job.input.to_vec();
            Ok(Invocation { program, arguments: words.collect(), input, manner: Manner::Program })
        }
        (None, Some(Preset::Claude)) => claude(job),
        (None, Some(Preset::Codex)) => codex(job),
        (Some(_), Some(_)) => Err("an agent is a `command` or a `preset`, not both; take one of them out".into()),
        (None, None) => {
            Err("an agent without `command` and `preset` claims its tasks itself, and there is nothing to start".into())
        }
    }
}

fn claude(job: &Job) -> Result<Invocation, String> {
    if job.schema.len() > ARGUMENT_MAX {
        let size = job.schema.len();
        return Err(format!("the schema of the answer has {size} bytes; `claude` can be given {ARGUMENT_MAX} at most"));
    }
    // As a stream, so that it is seen to live, and what tools it used is known.
    let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose", "--json-schema", job.schema]);
    if job.changes {
        // Without it, nobody is there to allow an edit, and every edit is refused. Commands still are as configured.
        arguments.extend(words(&["--permission-mode", "acceptEdits"]));
    }
    arguments.extend(model(job)?);
    Ok(Invocation { program: "claude".into(), arguments, input: job.prompt.into(), manner: Manner::Claude })
}

fn codex(job: &Job) -> Result<Invocation, String> {
    std::fs::create_dir_all(job.spool)
        .map_err(|error| format!("the folder for output {} cannot be made: {error}", job.spool.display()))?;
    // It is started in another folder than ours.
    let spool = std::path::absolute(job.spool)
        .map_err(|error| format!("the folder for output {} cannot be found: {error}", job.spool.display()))?;
    let (schema, last) = (spool.join("schema.json"), spool.join("last_message"));
    std::fs::write(&schema, job.schema)
        .map_err(|error| format!("the schema of the answer cannot be written to {}: {error}", schema.display()))?;
    // What an earlier attempt said must not be taken for this one's answer.
    match std::fs::remove_file(&last) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("an old answer {} cannot be removed: {error}", last.display()));
        }
        _ => {}
    }
    let sandbox = if job.changes { "workspace-write" } else { "read-only" };
    let mut arguments = words(&["exec", "--json", "--sandbox", sandbox]);
    for (option, path) in [("--output-schema", &schema), ("-o", &last)] {
        let path = path.to_str().ok_or_else(|| format!("{} is no text, which `codex` needs", path.display()))?;
        arguments.extend(words(&[option, path]));
    }
    arguments.extend(model(job)?);
    arguments.push("-".into());
    Ok(Invocation { program: "codex".into(), arguments, input: job.prompt.into(), manner: Manner::Codex { last } })
}

fn model(job: &Job) -> Result<Vec<String>, String> {
    match job.agent.model.as_ref().map(|model| model.as_str()) {
        Some(model) if model.starts_with('-') => {
            Err(format!("model `{}` would be read as an option; name a model", model.escape_debug()))
        }
        Some(model) => Ok(words(&["--model", model])),
        None => Ok(Vec::new()),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
