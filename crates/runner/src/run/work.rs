//! The work itself: an agent is given its assignment, and what it left becomes a claim.

use super::attempt::Attempt;
use super::desk::No;
use super::{Note, Run};
use crate::agent::{self, Ended, How, Job, Limits, Pulse, Stop, Usage};
use crate::worktree::Worktree;
use countersign_contract::ContractInfo;
use countersign_domain::deciding::Tree;
use countersign_domain::work::payload::SubagentResult;
use countersign_domain::work::places::Placed;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What was claimed, for others to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claimed {
    /// What it is known by: a commit, or the hash of contents.
    pub(super) bound: String,
    /// The commit that it was made on top of; none where there is no repository.
    pub(super) base: Option<String>,
    /// What really differs.
    pub(super) changed: Vec<String>,
    /// What the worker said that it changed.
    pub(super) declared: Vec<String>,
    /// The result as the worker wrote it.
    pub(super) result: String,
    /// What does not fit together in it.
    pub(super) flags: Vec<String>,
}

/// Has an agent do a task. None, if it said itself that it could not.
pub(super) fn work(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value) -> Result<Option<Claimed>, No> {
    let task = attempt.task();
    let shown = run.desk.look("task.show", &run.desk.of_task(task)).map_err(plain)?;
    let number = shown["task"]["attempt"].as_u64().unwrap_or(1);
    run.note(&Note::Begun { task, agent: attempt.worker(), attempt: number, lease: attempt.lease });
    let tree = match (run.ground.trees(), &attempt.base) {
        (Some(trees), Some(base)) => {
            Some(trees.make(&run.ground.name(task, &attempt.lease.to_string()), base).map_err(plain)?)
        }
        _ => None,
    };
    let done = in_tree(run, attempt, gate, tree.as_ref());
    if let Some(tree) = &tree {
        run.ground.drop(tree);
    }
    done
}

fn in_tree(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value, tree: Option<&Worktree>) -> Result<Option<Claimed>, No> {
    let task = attempt.task();
    let folder = tree.map_or(run.ground.root(), |tree| tree.folder.as_path());
    let ended = run_agent(run, attempt, gate, folder)?;
    let answer = agent::answer_of(attempt.agent, &ended);
    let code = match ended.how {
        How::TimedOut | How::Stopped => "TASK_TIMEOUT",
        _ => "DEPENDENCY_NOT_MET",
    };
    let result = answer.map_err(|reason| No { code: Some(code.to_owned()), reason })?;
    let (bound, changed, world) = match tree {
        Some(tree) => {
            let claimed = claim(run, attempt, tree)?;
            let all = claimed.changed.iter().chain(&claimed.left_out);
            let changed = all.map(|path| (path.clone(), Some(claimed.commit.clone()))).collect();
            let seen = Tree { commit: Some(claimed.commit.clone()), changed };
            (claimed.commit, claimed.changed, Some(seen))
        }
        None => (run.ground.content(&scope(attempt)).map_err(plain)?, Vec::new(), None),
    };
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(attempt.lease);
    request["result"] = json!(result);
    let answer = run.desk.ask_as(attempt.worker(), world, "task.submit", &request)?;
    // Only a claim that all is done goes on to the gates.
    if answer["status"].is_string() {
        let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
        match answer["status"].as_str() {
            Some("todo") => run.note(&Note::Again { task, reason: &reason }),
            _ => super::attempt::stopped(run, task, &reason),
        }
        return Ok(None);
    }
    let declared = declared(run, answer["result"].as_u64());
    let changed = if tree.is_some() { changed } else { declared.clone() };
    run.note(&Note::Claimed { task, changes: changed.len() });
    let flags = flags(&ended, &changed);
    for flag in &flags {
        run.note(&Note::Flag { task, text: flag });
    }
    let base = tree.map(|tree| tree.base.clone());
    Ok(Some(Claimed { bound, base, changed, declared, result, flags }))
}

/// What the agent left, as a commit that stays.
fn claim(run: &Run<'_>, attempt: &Attempt<'_>, tree: &Worktree) -> Result<crate::worktree::Claimed, No> {
    let Some(trees) = run.ground.trees() else { return Err(plain("there is no repository".to_owned())) };
    let trailers = super::landing::trailers(run, attempt);
    let message = format!("{}: {}", attempt.task(), attempt.planned.title.as_str());
    let claimed = trees.commit_all(tree, &message, &trailers).map_err(plain)?;
    run.ground.keep(attempt.task(), &claimed.commit).map_err(plain)?;
    Ok(claimed)
}

/// Runs the agent to its end. While it shows that it lives, so does its lease.
fn run_agent(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value, folder: &Path) -> Result<Ended, No> {
    let task = attempt.task();
    let shown = run.desk.look("task.assignment", &run.desk.of_task(task)).map_err(plain)?;
    let (mut assignment, mut prompt) = (shown["assignment"].clone(), text(&shown, "prompt"));
    if let Some(before) = before(gate) {
        if let Some(context) = assignment["context_package"].as_array_mut() {
            context.push(json!({ "kind": "note", "value": before }));
        }
        let fenced = countersign_contract::Untrusted::new(before).fenced("what became of the attempt before");
        prompt.push_str(&format!("\nFor your information:\n{fenced}\n"));
    }
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
    let running = agent::start(&job).map_err(|why| No { code: Some("DEPENDENCY_NOT_MET".to_owned()), reason: why })?;
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(attempt.lease);
    request["kind"] = json!("agent");
    request["mark"] = json!(running.mark());
    run.desk.ask("effect.start", &request)?;
    let mut life = Life::new(run, attempt, shown_timeout(&assignment));
    let mut said = String::new();
    let stop = Stop::default();
    let ended = running.wait(&stop, None, &mut |pulse: &Pulse<'_>| {
        if let Some(line) = pulse.line {
            run.note(&Note::Said { task, line });
            said.push_str(line);
            said.push('\n');
        }
        life.pulse(pulse, &stop);
    });
    let _ = std::fs::remove_dir_all(&spool);
    finish(run, attempt, &ended, life.silent);
    log(run, attempt, &ended, &said);
    if life.silent {
        let reason =
            format!("{} gave no sign of life for {} s and was ended", attempt.worker(), life.timeout.as_secs());
        return Err(No { code: Some("TASK_TIMEOUT".to_owned()), reason });
    }
    Ok(ended)
}

fn shown_timeout(assignment: &Value) -> Duration {
    Duration::from_secs(assignment["task"]["timeout_seconds"].as_u64().unwrap_or(1200))
}

/// Whether an agent is alive: output is a sign, and so is a heartbeat of its own. Silence beyond the timeout ends it.
struct Life<'r, 'a> {
    run: &'r Run<'a>,
    attempt: &'r Attempt<'r>,
    timeout: Duration,
    bytes: u64,
    /// When it gave the last sign that we know of.
    sign: Instant,
    /// When the ledger was told of one.
    told: Instant,
    silent: bool,
}

impl<'r, 'a> Life<'r, 'a> {
    fn new(run: &'r Run<'a>, attempt: &'r Attempt<'r>, timeout: Duration) -> Self {
        let now = Instant::now();
        Self { run, attempt, timeout, bytes: 0, sign: now, told: now, silent: false }
    }

    fn pulse(&mut self, pulse: &Pulse<'_>, stop: &Stop) {
        if self.run.stop.is_asked() {
            stop.stop();
            return;
        }
        let bytes = pulse.out_bytes + pulse.err_bytes;
        if bytes != self.bytes {
            self.bytes = bytes;
            self.sign = Instant::now();
        }
        // A quarter of the time is early enough, and seldom enough.
        if self.sign > self.told && self.told.elapsed() >= self.timeout / 4 {
            self.tell();
        }
        if self.sign.elapsed() >= self.timeout && !self.gave_a_sign_itself() {
            self.silent = true;
            stop.stop();
        }
    }

    fn tell(&mut self) {
        let mut request = self.run.desk.of_task(self.attempt.task());
        request["lease"] = json!(self.attempt.lease);
        if self.run.desk.ask_as(self.attempt.worker(), None, "task.heartbeat", &request).is_ok() {
            self.told = Instant::now();
        }
    }

    /// Whether the agent has given a sign to the ledger meanwhile, so that its lease lasts on.
    fn gave_a_sign_itself(&mut self) -> bool {
        let shown = self.run.desk.look("task.show", &self.run.desk.of_task(self.attempt.task())).unwrap_or_default();
        let beat: Option<jiff::Timestamp> = shown["task"]["last_heartbeat_at"].as_str().and_then(|it| it.parse().ok());
        let age = beat.map(|beat| jiff::Timestamp::now().duration_since(beat));
        let age = age.and_then(|age| Duration::try_from(age).ok()).unwrap_or(Duration::MAX);
        let is_held = shown["lease"].as_u64() == Some(self.attempt.lease);
        let alive = is_held && age < self.timeout;
        if alive {
            self.sign = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        }
        alive
    }
}

/// Says how the agent ended and what it used.
fn finish(run: &Run<'_>, attempt: &Attempt<'_>, ended: &Ended, silent: bool) {
    let task = attempt.task();
    let how = match ended.how {
        How::Exited(code) => format!("exited with {code}"),
        How::Signaled(signal) => format!("ended by signal {signal}"),
        How::TimedOut => "ended because the time was over".to_owned(),
        How::Stopped if silent => "ended because it was silent".to_owned(),
        How::Stopped => "stopped".to_owned(),
    };
    run.note(&Note::Ended { task, how: &how, took: ended.took });
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(attempt.lease);
    request["kind"] = json!("agent");
    request["outcome"] = json!(how);
    if let How::Exited(code) = ended.how {
        request["exit_code"] = json!(code);
    }
    request["took_ms"] = json!(u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX));
    request["out_bytes"] = json!(ended.out_bytes);
    request["err_bytes"] = json!(ended.err_bytes);
    if let Some(usage) = &ended.usage {
        request["usage"] = usage_of(usage);
    }
    if let Err(no) = run.desk.ask("effect.finish", &request) {
        run.note(&Note::Flag { task, text: &no.reason });
    }
}

fn usage_of(usage: &Usage) -> Value {
    let cached = usage.cache_creation_tokens.unwrap_or(0) + usage.cache_read_tokens.unwrap_or(0);
    let input = usage.input_tokens.map(|tokens| tokens + cached);
    let mut shown = json!({
        "input_tokens": input, "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd,
        "tool_uses": usage.tool_uses, "turns": usage.turns, "model": usage.model,
    });
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown
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

/// What does not fit together: work that no tool can have done.
fn flags(ended: &Ended, changed: &[String]) -> Vec<String> {
    let Some(usage) = &ended.usage else { return Vec::new() };
    let mut flags = Vec::new();
    if usage.tool_uses == Some(0) {
        flags.push("the agent claims to be done, and by its own figures used no tool".to_owned());
    }
    if usage.file_changes == Some(0) && usage.commands == Some(0) && !changed.is_empty() {
        flags.push("files differ, and by the agent's own figures it neither changed one nor ran a command".to_owned());
    }
    flags
}

/// What the next attempt is told of the one before.
fn before(gate: &Value) -> Option<String> {
    let last = gate["last"].as_str()?;
    let mut told = format!("An earlier attempt did not pass. {last}");
    for response in gate["last_responses"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let response: Value = serde_json::from_str(response).unwrap_or_default();
        for result in response["criteria_results"].as_array().into_iter().flatten() {
            if result["status"] != "PASS" {
                let part = |name: &str| result[name].as_str().unwrap_or_default().chars().take(500).collect::<String>();
                told.push_str(&format!("\n{} {}: {}", part("criterion_id"), part("status"), part("evidence")));
            }
        }
    }
    Some(told)
}

/// A claim that was made before: people were asked about it, or the runner was gone.
pub(super) fn again(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value) -> Result<Claimed, String> {
    let claim = gate["claim"].as_u64();
    let (result, declared) = (run.desk.text(claim.unwrap_or(0))?, declared(run, claim));
    let bound = gate["bound"].as_str().map(str::to_owned);
    if run.ground.trees().is_none() {
        let found = run.ground.content(&scope(attempt))?;
        let bound = bound.unwrap_or(found);
        let changed = declared.clone();
        return Ok(Claimed { bound, base: None, changed, declared, result, flags: Vec::new() });
    }
    let Some(commit) = bound.or_else(|| run.ground.kept(attempt.task())) else {
        return Err("the commit that was claimed is gone; the work must be done again".to_owned());
    };
    let (base, changed) = run.ground.change(&commit, attempt.task())?;
    Ok(Claimed { bound: commit, base: Some(base), changed, declared, result, flags: Vec::new() })
}

/// What a peer claims that works in the project's folder.
pub(super) fn in_place(run: &Run<'_>, attempt: &Attempt<'_>) -> Result<Claimed, String> {
    let shown = run.desk.look("task.show", &run.desk.of_task(attempt.task()))?;
    let claim = shown["result"].as_u64();
    let (result, declared) = (run.desk.text(claim.unwrap_or(0))?, declared(run, claim));
    let bound = run.ground.content(&scope(attempt))?;
    let changed = declared.clone();
    Ok(Claimed { bound, base: None, changed, declared, result, flags: Vec::new() })
}

fn declared(run: &Run<'_>, result: Option<u64>) -> Vec<String> {
    let facts = result.and_then(|seq| run.desk.facts(seq));
    let changes = facts.iter().flat_map(|facts| facts["changes"].as_array().into_iter().flatten());
    changes.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a task may change.
pub(super) fn scope(attempt: &Attempt<'_>) -> Vec<String> {
    attempt.planned.lock_scope.iter().map(|path| path.place().to_owned()).collect()
}

/// Where the files of an attempt are.
pub(super) fn spool(run: &Run<'_>, attempt: &Attempt<'_>) -> PathBuf {
    run.setup.spool.join(format!("{}.{}", attempt.task(), attempt.lease))
}

fn text(shown: &Value, name: &str) -> String {
    shown[name].as_str().unwrap_or_default().to_owned()
}

fn plain(reason: String) -> No {
    No { code: None, reason }
}
