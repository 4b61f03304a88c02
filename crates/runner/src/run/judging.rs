//! Gate 3: a judge reads the promise, the evidence and the validation.

use super::attempt::Attempt;
use super::checkouts::Checkouts;
use super::effect::Effect;
use super::looking_on::{Asked, look_on};
use super::no::No;
use super::work::Claimed;
use super::{Note, Run, answering::written, validating};
use crate::judge::{self, Case, Judged, Unreachable};
use countersign_domain::plan::ENDPOINT;
use countersign_domain::plan::payload::{Endpoint, Judge, Plan};
use countersign_domain::work::effect::EffectKind;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long a judge may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often it is looked whether whoever waits for it was called off.
const TICK: Duration = Duration::from_millis(100);
/// What an agent that judges answers with.
const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"enum":["PASS","WARN","FAIL"]},"reasoning":{"type":"string"}},"required":["verdict","reasoning"],"additionalProperties":false}"#;

/// Whether a judge that work cannot do without can be asked at all.
///
/// # Errors
/// The plan names an endpoint, and there is no key for it.
pub(super) fn ready(plan: &Plan) -> Result<(), String> {
    let judge = plan.gates.as_ref().and_then(|gates| gates.judge.as_ref());
    let Some(Judge::Endpoint(endpoint)) = judge else { return Ok(()) };
    let variable = endpoint.key.as_str();
    if endpoint.optional == Some(true) || std::env::var(variable).is_ok_and(|key| !key.is_empty()) {
        return Ok(());
    }
    Err(format!("the variable {variable} holds no key for the judge; set it, or let the judge be `optional`"))
}

/// Has the judge speak, and records what it said; that it could not be reached, too.
pub(super) fn judge(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, gate: &Value) -> Result<Value, No> {
    let name = gate["judge"].as_str().unwrap_or_default();
    let criteria: Vec<(String, String)> =
        gate["criteria"].as_array().into_iter().flatten().map(|it| (text(it, "id"), text(it, "description"))).collect();
    let verdicts = gate["verdicts"].as_array().into_iter().flatten().filter_map(|it| it["response"].as_str());
    let validation = Value::Array(verdicts.map(written).collect()).to_string();
    let evidence = json!({ "bound": claimed.bound, "changed": claimed.changed, "flags": claimed.flags }).to_string();
    let edits = claimed.changed.join("\n");
    let case = Case {
        task: attempt.task(),
        title: attempt.planned.title.as_str(),
        criteria: &criteria,
        claim: &claimed.result,
        validation: &validation,
        evidence: &evidence,
        test_edits: &edits,
    };
    let said =
        if name == ENDPOINT { by_endpoint(run, attempt, &case) } else { by_agent(run, attempt, claimed, name, &case) };
    // That a judge was cut short does not mean that it could not be reached.
    validating::not_stopped(attempt)?;
    let (verdict, reasoning, by) = match said {
        Ok(judged) => (judged.verdict.as_str(), judged.reasoning, judged.model),
        Err(unreachable) => ("UNREACHED", unreachable.to_string(), name.to_owned()),
    };
    let by = if name == ENDPOINT { name_of(&by) } else { name.to_owned() };
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(claimed.bound);
    request["judge"] = json!(by);
    request["verdict"] = json!(verdict);
    request["reasoning"] = json!(if reasoning.trim().is_empty() { "no reason was given" } else { reasoning.as_str() });
    run.note(&Note::Judged { task: attempt.task(), by: &by, verdict });
    match run.desk.ask("gate.judge", &request) {
        // What a judge wrote can be such that others could take it for instructions. What it decided stands all the same.
        Err(no) if no.code.as_deref() == Some("UNTRUSTED_CONTEXT_BLOCK") => {
            request["reasoning"] = json!("what it wrote may not be kept: it could be taken for instructions");
            run.desk.ask("gate.judge", &request)
        }
        other => other,
    }
}

/// A model's name as one that the ledger takes for somebody.
fn name_of(model: &str) -> String {
    let usual = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    let name: String = model.chars().map(usual).take(64).collect();
    if name.is_empty() { ENDPOINT.to_owned() } else { name }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn unreachable(why: impl Into<String>) -> Unreachable {
    Unreachable { why: why.into(), attempts: 0, input_tokens: 0, output_tokens: 0 }
}

fn by_endpoint(run: &Run<'_>, attempt: &Attempt<'_>, case: &Case<'_>) -> Result<Judged, Unreachable> {
    let Some(endpoint) = endpoint(run) else {
        return Err(unreachable(
            "the plan names no endpoint, and neither do COUNTERSIGN_JUDGE_URL and COUNTERSIGN_JUDGE_MODEL",
        ));
    };
    let variable = endpoint.key.as_str();
    let Some(key) = std::env::var(variable).ok().filter(|key| !key.is_empty()) else {
        return Err(unreachable(format!("the variable {variable} holds no key for the judge; set it")));
    };
    let effect = Effect { run, attempt, kind: EffectKind::Judge, who: Some(ENDPOINT) };
    effect.start_afar().map_err(|no| unreachable(no.reason))?;
    let said = ask_beside(attempt, &endpoint, key, case);
    let (outcome, read, written) = match &said {
        Ok(judged) => (format!("answered {}", judged.verdict), judged.input_tokens, judged.output_tokens),
        Err(not) => ("gave no verdict".to_owned(), not.input_tokens, not.output_tokens),
    };
    let usage = json!({ "input_tokens": read, "output_tokens": written, "model": endpoint.model.as_str() });
    effect.finish(&outcome, &json!({ "usage": usage }));
    said
}

/// Asks an endpoint from another thread: who is called off does not wait for its answer, which is nobody's then.
fn ask_beside(attempt: &Attempt<'_>, endpoint: &Endpoint, key: String, case: &Case<'_>) -> Result<Judged, Unreachable> {
    let (send, said) = mpsc::channel();
    let (endpoint, stop) = (endpoint.clone(), attempt.stop.clone());
    let texts = [case.task, case.title, case.claim, case.validation, case.evidence, case.test_edits].map(str::to_owned);
    let criteria = case.criteria.to_vec();
    std::thread::spawn(move || {
        let [task, title, claim, validation, evidence, test_edits] = texts.each_ref().map(String::as_str);
        let case = Case { task, title, criteria: &criteria, claim, validation, evidence, test_edits };
        let sleep = |pause: Duration| {
            let until = Instant::now() + pause;
            while Instant::now() < until && !stop.is_asked() {
                std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
            }
            if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        send.send(judge::ask(&endpoint, &key, &case, PATIENCE, &sleep))
    });
    loop {
        match said.recv_timeout(TICK) {
            Ok(said) => return said,
            Err(RecvTimeoutError::Timeout) if !attempt.stop.is_asked() => {}
            Err(RecvTimeoutError::Timeout) => return Err(unreachable("it was called off before it had answered")),
            Err(RecvTimeoutError::Disconnected) => return Err(unreachable("it could not be asked")),
        }
    }
}

/// The endpoint that the plan names, or, where the judge is only optional, one that the environment names.
fn endpoint(run: &Run<'_>) -> Option<Endpoint> {
    match run.setup.plan.gates.as_ref()?.judge.as_ref()? {
        Judge::Endpoint(endpoint) => Some(endpoint.clone()),
        Judge::Named(_) => {
            let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
            let (url, model) = (named("COUNTERSIGN_JUDGE_URL")?, named("COUNTERSIGN_JUDGE_MODEL")?);
            Endpoint::of(&url, &model, "COUNTERSIGN_JUDGE_KEY")
        }
    }
}

fn by_agent(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    name: &str,
    case: &Case<'_>,
) -> Result<Judged, Unreachable> {
    let Some((_, agent)) = run.setup.plan.agents.iter().find(|(it, _)| it == name) else {
        return Err(unreachable(format!("the plan has no agent {name}")));
    };
    let (system, user) = judge::prompt(case);
    let criteria: Vec<Value> =
        case.criteria.iter().map(|(id, text)| json!({ "id": id, "description": text })).collect();
    let validation: Value = serde_json::from_str(case.validation).unwrap_or_default();
    let evidence: Value = serde_json::from_str(case.evidence).unwrap_or_default();
    let input = json!({
        "task_id": case.task, "title": case.title, "acceptance_criteria": criteria, "claim": case.claim,
        "validation": validation, "evidence": evidence,
    });
    let prompt = format!("{system}\n\n{user}");
    let mut checkouts = Checkouts::new(run, attempt, claimed);
    let folder = checkouts.for_agent(Some(agent)).map_err(unreachable)?;
    let asked = Asked { input: &input.to_string(), prompt: &prompt, schema: SCHEMA };
    let once = |why: String| Unreachable { attempts: 1, ..unreachable(why) };
    let answer = look_on(run, attempt, EffectKind::Judge, agent, name, &folder, &asked).map_err(once)?;
    let (verdict, reasoning) = judge::read(&answer).map_err(once)?;
    let (input_tokens, output_tokens, took) = (0, 0, Duration::ZERO);
    Ok(Judged { verdict, reasoning, model: name.to_owned(), input_tokens, output_tokens, attempts: 1, took })
}
