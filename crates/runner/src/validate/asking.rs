//! A program that validates.

use super::Job;
use super::checks::shaped;
use super::clock::Clock;
use super::ground::Ground;
use crate::agent::{self, Limits};
use countersign_domain::plan::payload::Agent;
use serde_json::json;

/// What a program answers, or why it has given no answer.
pub(super) type Answer = Result<String, String>;

/// Runs a program with the request on standard input, where the work lies, and gives what it answers.
///
/// # Errors
/// It cannot be started.
pub(super) fn ask(job: &Job<'_>, program: &[String], ground: &mut Ground, clock: &Clock) -> Result<Answer, String> {
    let folder = match ground.fresh() {
        Ok(Some(folder)) => folder,
        Ok(None) => return Ok(Err("there was nothing for it to look at".to_owned())),
        Err(why) => return Ok(Err(why)),
    };
    if clock.is_over() {
        return Ok(Err("there was no time left to ask it".to_owned()));
    }
    let agent: Agent = shaped("--agent", &json!({ "command": program }).to_string())?;
    let spool = tempfile::tempdir().map_err(|error| format!("a folder for its output cannot be made: {error}"))?;
    let mut variables = vec![("COUNTERSIGN_ACTOR".to_owned(), job.validator.to_owned())];
    variables.push(("COUNTERSIGN_TASK".to_owned(), job.request.task_id.to_string()));
    let mark = spool.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let job_of_agent = agent::Job {
        agent: &agent,
        folder: &folder,
        input: job.input.as_bytes(),
        prompt: job.input,
        schema: "",
        changes: false,
        attempt: &format!("validate.{}.{mark}", std::process::id()),
        variables: &variables,
        spool: spool.path(),
        limits: Limits::default(),
    };
    let running = agent::start(&job_of_agent)?;
    let ended = running.wait(job.stop, Some(clock.until()), &mut |_| {});
    Ok(agent::answer_of(&agent, &ended))
}
