//! `countersign gate validate --checks`: Countersign looks at a promise itself.

use super::followed;
use super::of::Of;
use crate::cli::asking::{Here, Once, conclude, refused, text_of, without_nothing, wrong};
use crate::cli::validate::criteria_of;
use crate::cli::words::text;
use crate::cli::{Exit, interrupt, output};
use crate::client::Client;
use crate::world::Collecting as Seen;
use anyhow::{Context, bail};
use countersign_contract::check;
use countersign_diagnostic::Source;
use countersign_domain::validation::payload::ValidationRequest;
use countersign_domain::validation::row::BUILTIN;
use countersign_engine::World;
use countersign_runner::agent::Stop;
use countersign_runner::validate::{Checks, Job, collect};
use serde_json::{Value, json};
use std::path::Path;

/// How long all checks together may take.
const PATIENCE_SECONDS: u64 = 900;

/// What was typed.
pub struct Collecting<'a> {
    /// The promise.
    pub of: &'a Of,
    /// The commit that is looked at, if one is named.
    pub bound: Option<&'a str>,
    /// The file with the checks.
    pub checks: &'a Path,
    /// Hosts that may be asked.
    pub allow_host: &'a [String],
    /// How it is asked.
    pub once: &'a Once,
}

/// Carries the checks out, and says at the gate what they came to. A commit is looked at in a clean checkout: the one that is
/// named, or the one that is checked out if nothing differs from it. Otherwise the tree is looked at as it lies.
pub fn run(here: &Here<'_>, typed: &Collecting<'_>) -> anyhow::Result<Exit> {
    let Collecting { of, bound, checks, allow_host, once } = typed;
    let client = Client::open(here.project, here.global)?.with_key(once.key.as_deref())?;
    let (engine, around, call) = (client.engine()?, client.around()?, client.call()?);
    if !of.name.starts_with("promise-") {
        return Err(wrong("the checks of a task are those of its plan, and its run carries them out; name a promise"));
    }
    let shown = match client.look("gate.status", &of.request(json!({}))) {
        Ok(shown) => shown,
        Err(failure) => return refused(failure, once.how.format),
    };
    let before = around.tree(None);
    let clean = before.as_ref().filter(|tree| tree.changed.is_empty()).and_then(|tree| tree.commit.as_deref());
    let input = asked(&shown, bound.or(clean)).to_string();
    let source = Source { name: "the request", text: &input };
    let request: ValidationRequest = match check::read(&here.project.checker(), source) {
        Ok(request) => request,
        Err(decision) => bail!("this cannot be looked at: {}", decision.reason),
    };
    let written = text_of(here, checks)?;
    let checks =
        Checks::read(&checks.to_string_lossy(), &written, &criteria_of(&request)).map_err(anyhow::Error::msg)?;
    let root =
        here.project.tree_root().map_or_else(std::env::current_dir, Ok).context("there is no current directory")?;
    let stop = Stop::default();
    let signals = interrupt::stops(&stop, true)?;
    let job = Job {
        request: &request,
        input: &input,
        root: &root,
        worktree: None,
        checks: &checks,
        program: None,
        validator: BUILTIN,
        allowed_hosts: allow_host,
        pictures: None,
        stop: &stop,
    };
    let (response, evidence) = collect(&job).map_err(anyhow::Error::msg)?;
    drop(signals);
    if bound.is_none() && around.tree(None) != before {
        bail!("what lies here has changed while it was looked at; leave it alone, or name a commit with --bound");
    }
    for result in response["criteria_results"].as_array().into_iter().flatten().filter(|it| it["status"] != "PASS") {
        let [id, status, says] = ["criterion_id", "status", "evidence"].map(|name| text(result, name));
        output::say(&format!("{id} {status}: {says}"));
    }
    let said = json!({ "bound": bound, "validator": BUILTIN, "response": response, "evidence": evidence });
    let said = without_nothing(of.request(said));
    let came = engine.ask(&Seen(around), call, "gate.validate", &said.to_string());
    conclude(came, once.how.format, |answer| followed(answer, &of.name))
}

/// The validation request that a promise amounts to.
fn asked(shown: &Value, commit: Option<&str>) -> Value {
    let criteria = shown["criteria"].as_array().into_iter().flatten();
    let criteria: Vec<Value> = criteria.map(|it| json!({ "id": it["id"], "description": it["description"] })).collect();
    let mut asked = json!({
        "task_id": shown["promise_id"], "validation_type": "code", "acceptance_criteria": criteria,
        "timeout_seconds": PATIENCE_SECONDS,
    });
    if let Some(commit) = commit {
        asked["claimed_evidence"] = json!({ "commit_hash": commit });
    }
    asked
}
