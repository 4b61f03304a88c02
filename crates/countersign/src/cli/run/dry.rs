//! What a plan would do, without doing it.

use super::{asked, inlining, reading};
use crate::cli::Exit;
use crate::cli::asking::{Here, line};
use crate::cli::output::{self, Format};
use anyhow::bail;
use countersign_diagnostic::visible;
use countersign_domain::delegation::trying::digest;
use countersign_domain::plan::gated;
use countersign_domain::plan::order::stages;
use countersign_domain::plan::payload::{HandoffEdge, Plan, PlannedTask, Written};
use countersign_runner::run::ready;
use serde_json::{Value, json};
use std::fmt::Write;

/// Shows the order, what goes on side by side, and what each gate asks.
pub fn run(here: &Here<'_>, text: &str, format: Format) -> anyhow::Result<Exit> {
    let checked = reading::checked(here, text);
    let Some(plan) = reading::plan(&checked) else {
        inlining::refused(&checked, reading::source(text), format);
        return Ok(Exit::Refused);
    };
    match format {
        Format::Text => output::print(&said(plan)),
        Format::Json => output::print(&line(&shown(plan))),
    }
    reading::advise(&checked);
    // It ends as the run would.
    match here.project.root.as_deref().map(|root| ready(root, plan)) {
        Some(Err(why)) => bail!("it would not be begun here: {why}"),
        _ => Ok(Exit::Allowed),
    }
}

fn said(plan: &Plan) -> String {
    let mut out = format!("{}\n", visible(plan.objective.as_str()));
    for (n, stage) in stages(plan).unwrap_or_default().iter().enumerate() {
        let beside = if stage.len() > 1 { ", side by side" } else { "" };
        let _ = writeln!(out, "\nstage {}{beside}", n + 1);
        for task in stage.iter().filter_map(|task| plan.tasks.get(*task)) {
            of_task(&mut out, plan, task);
        }
    }
    for edge in plan.edges() {
        let _ = writeln!(out, "\nhandoff {}{}", edge.says(), budget(edge));
    }
    out
}

/// What an action does, and whom it asks.
fn of_action(out: &mut String, task: &PlannedTask, written: &Written) {
    let record = &written.record;
    let _ = writeln!(out, "  {}  {}  ({})", task.id, visible(task.title.as_str()), task.who());
    let action = record.action.kind();
    let _ = writeln!(out, "    does       {} in {}", action.as_str(), visible(record.requester.repository.as_str()));
    let _ = writeln!(out, "    once       as {}, sha256 {}", record.instruction_id, digest(&written.value));
    let approval = match task.asks_a_person() {
        true => "a person is asked to approve exactly this",
        false => "nobody is asked: the policy lets it be done",
    };
    let _ = writeln!(out, "    approval   {approval}");
}

/// What is known of a handoff before it is made.
fn budget(edge: &HandoffEdge) -> String {
    let mut words = String::new();
    if let Some(tokens) = &edge.max_tokens {
        let _ = write!(words, ", at most {} tokens", tokens.get());
    }
    if let Some(program) = edge.summarizer.as_ref().and_then(|words| words.first()) {
        let _ = write!(words, ", shortened by {}", visible(program.as_str()));
    }
    if let Some(span) = &edge.expires {
        let _ = write!(words, ", expires after {}", span.as_str());
    }
    words
}

fn of_task(out: &mut String, plan: &Plan, task: &PlannedTask) {
    if let Some(written) = task.instructed() {
        return of_action(out, task, written);
    }
    let part = gated(plan, task);
    let _ = writeln!(out, "  {}  {}  ({})", task.id, visible(task.title.as_str()), task.agent.as_str());
    let scope: Vec<&str> = task.lock_scope.iter().map(|path| path.as_str()).collect();
    let _ = writeln!(out, "    changes    {}", visible(&scope.join(", ")));
    let _ = writeln!(out, "    gate 1     {} brings a result that says how each criterion is met", task.agent.as_str());
    let _ = writeln!(out, "    gate 2     validated by {}", part.validators.join(", "));
    for (n, criterion) in task.acceptance.iter().enumerate() {
        let text = criterion.text.inspect(|text| visible(text).into_owned());
        let _ = writeln!(out, "      AC-{} {text}", n + 1);
        for words in asked::of(criterion) {
            let _ = writeln!(out, "           {words}");
        }
    }
    let judge = match (part.judge.as_str(), part.judge_optional) {
        ("none", _) => "nobody judges".to_owned(),
        (judge, true) => format!("judged by {judge}, or passed if it cannot be reached"),
        (judge, false) => format!("judged by {judge}"),
    };
    let _ = writeln!(out, "    gate 3     {judge}");
}

fn shown(plan: &Plan) -> Value {
    let stages: Vec<Vec<&str>> = stages(plan)
        .unwrap_or_default()
        .iter()
        .map(|stage| stage.iter().filter_map(|task| plan.tasks.get(*task)).map(|task| task.id.as_str()).collect())
        .collect();
    let tasks: Vec<Value> = plan
        .tasks
        .iter()
        .map(|task| {
            if let Some(written) = task.instructed() {
                let record = &written.record;
                return json!({
                    "task_id": task.id, "kind": "delegate", "executor": task.who(), "action": record.action.kind().as_str(),
                    "repository": record.requester.repository, "instruction_id": record.instruction_id,
                    "sha256": digest(&written.value), "asks_a_person": task.asks_a_person(),
                });
            }
            let part = gated(plan, task);
            let asks: Vec<&str> = part.asks.iter().map(|kind| kind.as_str()).collect();
            let criteria: Vec<Value> = (1..)
                .zip(task.acceptance.iter())
                .map(|(n, criterion)| json!({ "id": format!("AC-{n}"), "asks": asked::of(criterion) }))
                .collect();
            json!({
                "task_id": task.id, "agent": task.agent, "validators": part.validators, "judge": part.judge,
                "judge_optional": part.judge_optional, "evidence": asks, "criteria": criteria,
            })
        })
        .collect();
    json!({ "objective": plan.objective, "stages": stages, "tasks": tasks, "handoffs": plan.edges() })
}
