//! Gates: who looked at what was claimed, and what they found.

use super::super::ids::SpanId;
use super::super::span::{Kind, Point, Span, Worth};
use super::super::words;
use super::run::Run;
use super::task::{Task, invoked, with_usage};
use super::{Mark, Told};
use countersign_domain::validation::event::{JUDGED, VERDICT_GIVEN};
use countersign_domain::validation::row::{BUILTIN, ENDPOINT, PERSON};
use serde_json::Value;

/// Somebody is through with a gate.
pub(super) fn tell(task: &mut Task, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
    let since = since(task, told);
    let parent = run_around(task, run, since);
    let by = match told.kind {
        VERDICT_GIVEN => told.text("validator"),
        JUDGED => told.text("by"),
        _ => PERSON,
    };
    let gate = match told.kind {
        VERDICT_GIVEN => "validate",
        JUDGED => "judge",
        _ => "accept",
    };
    let id = SpanId::of(run.trace, "gate", &format!("{}/{}", run.id, told.seq));
    let span = asked(task, run, by, gate, id, parent, since).until(Some(told.at));
    // A judge at an endpoint speaks in the name of its model.
    let who = if gate == "judge" && task.judge == ENDPOINT { ENDPOINT } else { by };
    let usage = task.attempt.as_mut().map(|attempt| attempt.used_by(who)).unwrap_or_default();
    let span = with_usage(span, &usage);
    let points = if told.kind == VERDICT_GIVEN { std::mem::take(&mut task.evidence) } else { Vec::new() };
    let points = points.into_iter().chain(results(told)).collect();
    let failures = told.facts["failures"].as_array().map(|failures| failures.len() as u64);
    let verdict = told.text("verdict");
    let span = span
        .word("countersign.task.id", &task.name)
        .word("countersign.gate.name", gate)
        .word("countersign.gate.by", by)
        .word("countersign.gate.verdict", verdict)
        .count("countersign.gate.round", told.facts["round"].as_u64())
        .count("countersign.gate.accepted_failures", failures)
        .count("countersign.event.last", Some(told.seq))
        .with_points(points);
    spans.push(span.failed_with(code_of(verdict)));
    if let Some(attempt) = &mut task.attempt {
        attempt.gate = Some(told.mark());
        if told.kind == VERDICT_GIVEN && by == BUILTIN {
            attempt.checked = Some(told.mark());
        }
    }
}

/// Since when somebody looked: from the claim on, or since nobody works because they were asked. Whoever looks beside the
/// built-in validator begins after it, a judge after all of them.
fn since(task: &Task, told: &Told<'_>) -> Mark {
    match (&task.attempt, task.stopped) {
        (Some(attempt), _) if told.kind == VERDICT_GIVEN => attempt.checked.unwrap_or(attempt.claimed()),
        (Some(attempt), _) => attempt.gate.unwrap_or(attempt.claimed()),
        (None, Some(stopped)) => stopped,
        (None, None) => told.mark(),
    }
}

fn run_around(task: &Task, run: &Run, since: Mark) -> SpanId {
    task.around(run, since).unwrap_or_else(|| Run::root(run.trace, &run.id))
}

/// Who is asked: an agent, an endpoint, or neither.
fn asked(task: &Task, run: &Run, by: &str, gate: &str, id: SpanId, parent: SpanId, since: Mark) -> Span {
    if gate == "judge" && task.judge == ENDPOINT && by != PERSON {
        let model = run.agents.judge.as_deref().unwrap_or_default();
        return Span::begun(run.trace, id, Some(parent), format!("judge {}", words::safe(by)), since.at)
            .of_kind(Kind::Client)
            .word("gen_ai.operation.name", "chat")
            .word("gen_ai.provider.name", "_OTHER")
            .word("gen_ai.request.model", model)
            .word("gen_ai.conversation.id", &run.id);
    }
    if run.agents.named.contains_key(by) {
        return Span { name: format!("{gate} {}", words::safe(by)), ..invoked(run, by, id, parent, since) };
    }
    Span::begun(run.trace, id, Some(parent), format!("{gate} {}", words::safe(by)), since.at)
}

/// The code of a verdict that does not let pass.
fn code_of(verdict: &str) -> Option<&'static str> {
    match verdict {
        "FAIL" | "PARTIAL" => Some("ACCEPTANCE_FAILED"),
        "BLOCKED" | "UNREACHED" => Some("MISSING_VALIDATOR"),
        _ => None,
    }
}

/// What was found of each criterion, as the conventions for generative AI name it.
fn results<'t>(told: &'t Told<'_>) -> impl Iterator<Item = Point> + 't {
    let each = told.facts["results"].as_object().into_iter().flatten();
    let of_all = (told.kind == JUDGED).then(|| ("judgement", told.text("verdict")));
    let each = each.filter_map(|(criterion, status)| Some((criterion.as_str(), status.as_str()?)));
    each.chain(of_all).map(|(name, label)| Point {
        name: "gen_ai.evaluation.result",
        at: told.at,
        attributes: vec![
            ("gen_ai.evaluation.name", Worth::Word(words::safe(name))),
            ("gen_ai.evaluation.score.label", Worth::Word(words::safe(label))),
        ],
    })
}

/// Evidence that was collected.
pub(super) fn evidence(told: &Told<'_>) -> Point {
    let mut attributes = Vec::new();
    for (name, fact) in [
        ("countersign.evidence.criterion", "criterion"),
        ("countersign.evidence.kind", "kind"),
        ("countersign.evidence.status", "status"),
    ] {
        attributes.extend(told.facts[fact].as_str().map(|word| (name, Worth::Word(words::safe(word)))));
    }
    for (name, fact) in [
        ("countersign.evidence.took_ms", "took_ms"),
        ("countersign.evidence.exit_code", "exit_code"),
        ("countersign.evidence.passed", "passed"),
        ("countersign.evidence.failed", "failed"),
        ("countersign.evidence.skipped", "skipped"),
    ] {
        attributes.extend(told.facts[fact].as_i64().map(|count| (name, Worth::Count(count))));
    }
    Point { name: "countersign.evidence", at: told.at, attributes }
}

/// What passed is brought into the tree, or could not be.
pub(super) fn landing(run: &Run, attempt: SpanId, since: Mark, told: &Told<'_>, code: Option<&str>) -> Span {
    let id = SpanId::of(run.trace, "landing", &format!("{}/{}", run.id, since.seq));
    Span::begun(run.trace, id, Some(attempt), "land".to_owned(), since.at)
        .until(Some(told.at))
        .maybe("countersign.task.id", &told.facts["task"])
        .word("countersign.gate.name", "land")
        .maybe("countersign.gate.commit", told.facts.get("commit").unwrap_or(&Value::Null))
        .count("countersign.event.first", Some(since.seq))
        .count("countersign.event.last", Some(told.seq))
        .failed_with(code)
}
