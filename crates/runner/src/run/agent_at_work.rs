//! An agent at work: it is given its assignment, watched, and what it used and said is kept.

use super::answering::written;
use super::attempt::Attempt;
use super::effect::Effect;
use super::life::Life;
use super::no::No;
use super::work::spool;
use super::{Note, Run};
use crate::agent::{self, Ended, How, Job, Limits, Pulse};
use countersign_contract::ContractInfo;
use countersign_domain::work::effect::EffectKind;
use countersign_domain::work::payload::SubagentResult;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How much of a judge's reasons the next attempt is told.
const REASONING_MAX: usize = 2_000;

/// Runs the agent to its end. While it shows that it lives, so does its lease.
pub(super) fn run_agent(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value, folder: &Path) -> Result<Ended, No> {
    let task = attempt.task();
    let shown = run.desk.look("task.assignment", &run.desk.of_task(task)).map_err(No::from)?;
    let (mut assignment, mut prompt) = (shown["assignment"].clone(), text(&shown, "prompt"));
    if let Some(before) = before(gate) {
        if let Some(context) = assignment["context_package"].as_array_mut() {
            context.push(json!({ "kind": "note", "value": before }));
        }
        let fenced = countersign_contract::Untrusted::new(before).fenced("what became of the attempt before");
        prompt.push_str(&format!("\nFor your information:\n{fenced}\n"));
    }
    super::handing::tell(run, attempt, &mut assignment, &mut prompt)?;
    let input = format!("{assignment}\n");
    let schema = (ContractInfo::of::<SubagentResult>().schema)().to_string();
    let spool = spool(run, attempt);
    let mut variables = run.setup.variables.to_vec();
    for (name, value) in [
        ("COUNTERSIGN_RUN", run.setup.run.to_owned()),
        ("COUNTERSIGN_TASK", task.to_owned()),
        ("COUNTERSIGN_LEASE", attempt.lease.to_string()),
        ("COUNTERSIGN_ACTOR", attempt.worker().to_owned()),
    ] {
        variables.push((name.to_owned(), value));
    }
    let job = Job {
        agent: attempt.agent,
        folder,
        input: input.as_bytes(),
        prompt: &prompt,
        schema: &schema,
        changes: true,
        attempt: &super::recover::attempt_name(run.setup.run, task, attempt.lease),
        variables: &variables,
        spool: &spool,
        limits: Limits::default(),
    };
    let running = agent::start(&job).map_err(|why| No::filed("DEPENDENCY_NOT_MET", why))?;
    let effect = Effect { run, attempt, kind: EffectKind::Agent, who: None };
    effect.start(&running.mark())?;
    let mut life = Life::new(run, attempt, shown_timeout(&assignment));
    let mut said = String::new();
    let stop = attempt.stop.for_some();
    let ended = running.wait(&stop, None, &mut |pulse: &Pulse<'_>| {
        if let Some(line) = pulse.line {
            run.note(&Note::Said { task, line });
            said.push_str(line);
            said.push('\n');
        }
        life.pulse(pulse, &stop);
    });
    let _ = std::fs::remove_dir_all(&spool);
    let how = how(&ended, life.silent);
    run.note(&Note::Ended { task, how: &how, took: ended.took });
    effect.finish_agent(&how, &ended);
    log(run, attempt, &ended, &said);
    if life.silent {
        let reason =
            format!("{} gave no sign of life for {} s and was ended", attempt.worker(), life.timeout.as_secs());
        return Err(No::filed("TASK_TIMEOUT", reason));
    }
    Ok(ended)
}

/// How the agent ended, in words.
pub(super) fn how(ended: &Ended, silent: bool) -> String {
    match ended.how {
        How::Exited(code) => format!("exited with {code}"),
        How::Signaled(signal) => format!("ended by signal {signal}"),
        How::TimedOut => "ended because the time was over".to_owned(),
        How::Stopped if silent => "ended because it was silent".to_owned(),
        How::Stopped => "stopped".to_owned(),
    }
}

fn shown_timeout(assignment: &Value) -> Duration {
    Duration::from_secs(assignment["task"]["timeout_seconds"].as_u64().unwrap_or(1200))
}

/// Keeps what the agent wrote to standard error, as its worklog.
fn log(run: &Run<'_>, attempt: &Attempt<'_>, ended: &Ended, said: &str) {
    if said.trim().is_empty() {
        return;
    }
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["action"] = json!("standard error");
    request["decision"] = json!(said);
    request["result"] = json!(format!("{:?} after {} ms", ended.how, ended.took.as_millis()));
    request["next_step"] = json!("its result is looked at");
    if let Err(no) = run.desk.ask_as(attempt.worker(), None, "worklog.add", &request) {
        run.note(&Note::Flag { task: attempt.task(), text: &no.reason });
    }
}

/// What the next attempt is told of the one before.
fn before(gate: &Value) -> Option<String> {
    let last = gate["last"].as_str()?;
    let mut told = format!("An earlier attempt did not pass. {last}");
    for response in gate["last_responses"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let response = written(response);
        for result in response["criteria_results"].as_array().into_iter().flatten() {
            if result["status"] != "PASS" {
                let part = |name: &str| result[name].as_str().unwrap_or_default().chars().take(500).collect::<String>();
                told.push_str(&format!("\n{} {}: {}", part("criterion_id"), part("status"), part("evidence")));
            }
        }
    }
    if let Some(reasoning) = gate["last_reasoning"].as_str() {
        told.push_str("\nThe judge gave these reasons: ");
        told.extend(reasoning.chars().take(REASONING_MAX));
    }
    Some(told)
}

fn text(shown: &Value, name: &str) -> String {
    shown[name].as_str().unwrap_or_default().to_owned()
}
