//! Making a handoff as a tool: what `countersign handoff make` does, with what is handed over in the call.

use super::Shared;
use super::answer::{Said, with_place};
use super::documents::{read, with_tokens};
use crate::cli::output;
use crate::world;
use countersign_contract::{Checker, Int, Json, List, Text, Timestamp, shape};
use countersign_diagnostic::{Code, Source};
use countersign_domain::deciding::{Refusal, Role};
use countersign_domain::handoff::payload::{Confidence, ProblemType, TraceId};
use countersign_engine::{Call, Failure};
use countersign_runner::handoff::{Made, Making, Undrafted, Words, Written, tiers};
use serde_json::{Value, json};
use std::sync::Mutex;

shape! {
    /// Make a handoff within its budget. It is written, and not sent.
    pub closed struct MakeAsked {
        /// Who hands over.
        pub source: Text<1, 200> = "planner",
        /// Who takes over.
        pub target: Text<1, 200> = "builder",
        /// What it is about.
        pub summary: Text = "Build the rounding that was decided on",
        /// What sort of problem it is.
        pub problem_type: ProblemType,
        /// What is handed over. If it has nothing but `working`, `session` and `references`, it is the payload with its tiers;
        /// any other object is its working part.
        pub payload: Json = json!({ "decision": "round half to even" }),
        /// The trace that it goes on with, as the handoff has it that you received; a new one, if it is not named.
        pub trace_id: Option<TraceId>,
        /// How sure you are.
        pub confidence: Option<Confidence>,
        /// Why it is handed over, and why again where the target was part of the chain before.
        pub reason: Option<Text>,
        /// From when on nobody may act on it.
        pub expires_at: Option<Timestamp>,
        /// How many tokens it may have; at most the configured limit.
        pub max_tokens: Option<Int<1>>,
    }
}

shape! {
    /// A handoff that was made, or what a person must decide before it can be.
    pub struct MakeShown {
        /// Where it lies, in the project; absent, if nothing was written.
        pub path: Option<String>,
        /// Its trace.
        pub trace_id: String,
        /// The document; give it to `handoff_send`.
        pub document: Option<String>,
        /// How many tokens it has.
        pub tokens: Option<Int>,
        /// The SHA-256 of its payload.
        pub payload_hash: Option<String>,
        /// What was taken out of it, as JSON pointers.
        pub taken: List<String>,
        /// The file with all of that.
        pub kept_at: Option<String>,
        /// What was done to it, in order.
        pub changes: List<String>,
    }
}

/// Makes a handoff.
pub fn make_tool(shared: &Shared, call: &Call, arguments: &str) -> Said {
    let asked: MakeAsked = match read(&shared.project, "handoff_make", arguments) {
        Ok(asked) => asked,
        Err(said) => return said,
    };
    if let Err(refusal) = may(call) {
        return Said::failed(Failure::Refused(Box::new(refusal)));
    }
    let project = &shared.project;
    let settings = with_tokens(&project.settings, asked.max_tokens);
    let checker = Checker { settings: &settings, ..project.checker() };
    let warned: Mutex<Vec<String>> = Mutex::default();
    let making = Making {
        root: project.root.as_deref(),
        checker: &checker,
        outside: &world::outside(None),
        summarizer: None,
        repairer: None,
        chain: Some(&|question: &Value| shared.look(call, "handoff.chain", &question.to_string())),
        warn: &|text: &str| warned.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(text.to_owned()),
    };
    let words = match words(&asked) {
        Ok(words) => words,
        Err(why) => return Said::refused("SCHEMA_INVALID", &why, "mend `payload`", &[]),
    };
    let draft = match making.draft(&words) {
        Ok(draft) => draft,
        Err(Undrafted::Barred { code, why }) => {
            return Said::refused(&code, &why, "`handoff_chain` shows who handed what to whom", &[]);
        }
        Err(Undrafted::Unasked(failure)) => return Said::failed(failure),
        Err(Undrafted::Unusable(why)) => return Said::refused("SCHEMA_INVALID", &why, "mend it, and ask again", &[]),
    };
    let trace = draft.pointer("/handoff/trace_id").and_then(Value::as_str).unwrap_or_default();
    let said = match making.write(&draft, &making.place(&draft, None, false)) {
        Ok(Written::Made(made)) => made_of(trace, &made),
        Ok(Written::Undecided(fixed)) => {
            let decision = &fixed.checked.decision;
            let reason = format!("after {} attempts a person must decide: {}", fixed.attempts, decision.reason);
            let help = "hand less over, or tell your person; nothing was written";
            Said::refused(decision.code_str(), &reason, help, &decision.details.diagnostics)
        }
        Err(error) => Said::unavailable(&format!("{error:#}")),
    };
    let warned = warned.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if warned.is_empty() { said } else { said.with("note", warned.join("; ")) }
}

/// Whoever may send a handoff may make one: it writes files in the project.
fn may(call: &Call) -> Result<(), Refusal> {
    call.may("handoff_make", &[Role::Agent, Role::Orchestrator])?;
    match &call.bound {
        None => Ok(()),
        Some(bound) => {
            let reason = format!("{} may speak for {} alone, and a handoff is not about it", call.actor, bound.task);
            let help = "say in the result under `x_handoff` what the next task should know";
            Err(Refusal::new(Code::AuthorizationMissing, reason, help))
        }
    }
}

fn words(asked: &MakeAsked) -> Result<Words, String> {
    let mut payload = tiers::empty();
    tiers::add(&mut payload, asked.payload.to_value(), "payload")?;
    Ok(Words {
        source: Some(asked.source.as_str().to_owned()),
        target: Some(asked.target.as_str().to_owned()),
        summary: Some(asked.summary.as_str().to_owned()),
        problem_type: Some(asked.problem_type.as_str().to_owned()),
        payload: Some(payload),
        trace: asked.trace_id.as_ref().map(|trace| trace.as_str().to_owned()),
        confidence: asked.confidence.as_ref().map(|it| it.as_str().to_owned()),
        reason: asked.reason.as_ref().map(|reason| reason.as_str().to_owned()),
        expires_at: asked.expires_at.as_ref().map(Timestamp::instant),
        ..Words::default()
    })
}

fn made_of(trace: &str, made: &Made) -> Said {
    let fixed = &made.fixed;
    let value: Value = serde_json::from_str(&fixed.text).unwrap_or_default();
    let meta = &value["handoff"]["meta"];
    let shown = output::masked(&fixed.text, &fixed.checked.decision).into_owned();
    let answer = MakeShown {
        path: made.path.as_ref().map(|path| path.display().to_string()),
        trace_id: trace.to_owned(),
        document: Some(shown),
        tokens: meta["token_count"].as_u64().map(Into::into),
        payload_hash: meta["payload_hash"].as_str().map(str::to_owned),
        taken: fixed.kept.keys().cloned().collect::<Vec<_>>().into(),
        kept_at: fixed.kept_at.clone(),
        changes: fixed.changes.clone().into(),
    };
    let source = Source { name: "the handoff", text: &fixed.text };
    let findings = fixed.checked.decision.details.diagnostics.iter().map(|it| with_place(it, source)).collect();
    Said::done(json!(answer), findings)
}
