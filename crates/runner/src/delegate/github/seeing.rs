//! Looking without changing anything: whether what was done is there, and whether what forbade it still does.

use super::pages::{self, Listed, Page};
use super::progress::Progress;
use super::step::{Probe, state};
use super::{GithubExecutor, Stop, table, triggered, waiting};
use crate::delegate::Seen;
use countersign_contract::{List, Name};
use countersign_domain::delegation::action::Parameters;
use countersign_domain::delegation::payload::{DelegationInstruction, TextOr};
use serde_json::Value;
use std::cell::RefCell;

/// How often something is looked for that was just done: platforms show some things a moment later.
const LOOKS_MAX: u32 = 3;
/// The same for what a workflow does, which begins and ends when there is somebody to run it.
const SLOW_LOOKS_MAX: u32 = 5;

impl GithubExecutor {
    /// Looks whether what was answered with success is there, as its parameters have it.
    pub(super) fn seen(&self, instruction: &DelegationInstruction, response: &Value) -> Result<Seen, String> {
        let order = table::order(instruction);
        let main = order.steps.get(order.main).ok_or("nothing was to be sent for it")?;
        let number = response.pointer("/PLATFORM_EVIDENCE/RESOURCE_NUMBER").and_then(Value::as_i64);
        let probe = shown_at(instruction, number);
        let probe = probe.as_ref().unwrap_or(&main.probe);
        let mut progress = Progress::default();
        if let Some(number) = number {
            progress.main["number"] = number.into();
        }
        let looks_max = if is_slow(&instruction.action.parameters) { SLOW_LOOKS_MAX } else { LOOKS_MAX };
        for looks in 1..=looks_max {
            match self.find_by(probe, &mut progress) {
                Ok(Some(_)) => return Ok(Seen { holds: true, says: said(&progress, "shows it as it was asked for") }),
                Ok(None) => {
                    let status = progress.seen.as_ref().and_then(|seen| seen.status);
                    if let Some(status @ (401 | 403)) = status {
                        return Err(format!("the platform answered {status} when it was asked what is there"));
                    }
                }
                Err(Stop::Unknown(why)) => return Err(why),
                Err(Stop::Refused(refused)) => return Ok(Seen { holds: false, says: refused.message() }),
            }
            if looks < looks_max && !self.may_wait(waiting::backoff(looks), &mut progress) {
                if self.stop.is_asked() {
                    return Err("it was called off before the platform showed it".to_owned());
                }
                break;
            }
        }
        if let Some(why) = self.not_yet(instruction, &mut progress) {
            return Err(why);
        }
        Ok(Seen { holds: false, says: said(&progress, "does not show it as it was asked for") })
    }

    /// Why something that was begun may still come about: what a workflow does takes its time, and the platform shows it then.
    fn not_yet(&self, instruction: &DelegationInstruction, progress: &mut Progress) -> Option<String> {
        match &instruction.action.parameters {
            Parameters::CancelWorkflow(_) => {
                let Page { status, body: run, .. } = self.read(&table::order(instruction).shows?, progress).ok()?;
                let goes_on = status < 300 && run["status"].as_str().is_some_and(|status| status != "completed");
                goes_on.then(|| "the run was told to stop, and has not yet".to_owned())
            }
            Parameters::TriggerWorkflow(_) => {
                Some("the platform took it, and does not show a run of the workflow yet".to_owned())
            }
            _ => None,
        }
    }

    /// What stands against an action, as far as reading shows it. Of all actions only a merge has a state that tells.
    pub(super) fn standing_against(&self, instruction: &DelegationInstruction) -> Result<Option<String>, String> {
        let Parameters::MergePullRequest(it) = &instruction.action.parameters else { return Ok(None) };
        let pull = self.pull(instruction, it.pr_number.get())?;
        let open = pull["state"] == "open";
        let state = pull["mergeable_state"].as_str().filter(|_| open).unwrap_or_default();
        let why = match state {
            "blocked" => "a rule of its base branch is not met yet",
            "behind" => "its head is behind its base",
            "dirty" => "it has conflicts with its base",
            "draft" => "it is a draft",
            _ => return Ok(None),
        };
        Ok(Some(format!("pull request {} cannot be merged: {why}", it.pr_number.get())))
    }

    /// Whether what forbids an action clears without anybody doing something about it, as far as reading shows it.
    pub(super) fn clears_by_itself(&self, instruction: &DelegationInstruction) -> Option<bool> {
        let Parameters::MergePullRequest(it) = &instruction.action.parameters else { return None };
        let pull = self.pull(instruction, it.pr_number.get()).ok()?;
        match pull["mergeable_state"].as_str()? {
            // The platform has not worked it out yet.
            "unknown" => return Some(true),
            "dirty" | "draft" | "behind" => return Some(false),
            _ => {}
        }
        let sha = pull["head"]["sha"].as_str()?;
        let commit = format!("/repos/{}/commits/{}", instruction.requester.repository, table::escaped(sha, false));
        let progress = RefCell::new(Progress::default());
        let read = |path: &str| self.read(path, &mut progress.borrow_mut());
        let unfinished =
            |runs: &[Value], _: &Value| runs.iter().any(|it| it["status"] != "completed").then_some(Listed::Found(()));
        let running = match pages::through(&read, &format!("{commit}/check-runs"), Some("check_runs"), unfinished) {
            Ok(Listed::Found(())) => true,
            Ok(Listed::Nothing) => false,
            Ok(Listed::Refused) | Err(_) => return None,
        };
        let Page { status, body: statuses, .. } = read(&format!("{commit}/status")).ok()?;
        if status >= 300 {
            return None;
        }
        let pending = statuses["state"] == "pending" && statuses["total_count"].as_u64().is_some_and(|count| count > 0);
        Some(running || pending)
    }

    fn pull(&self, instruction: &DelegationInstruction, number: i64) -> Result<Value, String> {
        let path = format!("/repos/{}/pulls/{number}", instruction.requester.repository);
        match self.read(&path, &mut Progress::default())? {
            Page { status, body: pull, .. } if status < 300 => Ok(pull),
            Page { status, .. } => {
                Err(format!("the platform answered {status} when it was asked for pull request {number}"))
            }
        }
    }
}

/// Where an action shows itself, if that is elsewhere than where it is looked for when nobody knows whether it was done: what was
/// made has a number by now, and what a workflow does comes later.
fn shown_at(instruction: &DelegationInstruction, number: Option<i64>) -> Option<Probe> {
    let root = format!("/repos/{}", instruction.requester.repository);
    // Of what has a number, the platform said that it is this instruction's.
    let mark = table::mark_begins(instruction);
    let marked = move |it: &Value| it["body"].as_str().is_some_and(|body| body.contains(&mark));
    match &instruction.action.parameters {
        Parameters::CreateGithubIssue(it) => {
            let has = Has { labels: words(&it.labels), assignees: words(&it.assignees), reviewers: Vec::new() };
            let milestone = it.milestone.as_ref().map(|milestone| match milestone {
                TextOr::Text(name) => ("title", Value::from(name.as_str())),
                TextOr::Other(number) => ("number", Value::from(number.get())),
            });
            let set = move |it: &Value| milestone.as_ref().is_none_or(|(field, is)| it["milestone"][*field] == *is);
            let is = move |it: &Value| marked(it) && has.shown_by(it) && set(it);
            Some(state(format!("{root}/issues/{}", number?), is))
        }
        Parameters::CreatePullRequest(it) => {
            let has =
                Has { labels: words(&it.labels), assignees: words(&it.assignees), reviewers: words(&it.reviewers) };
            Some(state(format!("{root}/pulls/{}", number?), move |it| marked(it) && has.shown_by(it)))
        }
        Parameters::TriggerWorkflow(it) => {
            let workflow = table::order(instruction).shows?;
            Some(triggered::ran(&workflow, it.reference.as_str(), instruction.timestamp.as_str()))
        }
        _ => None,
    }
}

/// What was asked for with an issue or a pull request. A platform passes over in silence what it does not take.
struct Has {
    labels: Vec<String>,
    assignees: Vec<String>,
    reviewers: Vec<String>,
}

impl Has {
    fn shown_by(&self, it: &Value) -> bool {
        let all =
            |names: &[String], list: &str, field: &str| names.iter().all(|name| table::named(&it[list], field, name));
        all(&self.labels, "labels", "name")
            && all(&self.assignees, "assignees", "login")
            && all(&self.reviewers, "requested_reviewers", "login")
    }
}

fn words(names: &Option<List<Name>>) -> Vec<String> {
    names.iter().flat_map(|names| names.iter()).map(|name| name.as_str().to_owned()).collect()
}

/// Whether what was done shows itself only after a while.
fn is_slow(parameters: &Parameters) -> bool {
    matches!(parameters, Parameters::TriggerWorkflow(_) | Parameters::CancelWorkflow(_) | Parameters::RerunWorkflow(_))
}

fn said(progress: &Progress, what: &str) -> String {
    match &progress.seen {
        Some(seen) => format!("GET {} {what}", seen.url()),
        None => format!("the platform {what}"),
    }
}
