//! What a check costs, from bytes to decision, against `serde_json`'s typed parse of the same bytes and against parsing
//! plus the `jsonschema` crate. Candidates take turns, and the best of many rounds counts, so that a busy machine slows
//! all of them alike. The last column is the ratio to the first candidate.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot read its own documents should stop")]
#![allow(dead_code, reason = "the peers' fields are parsed, not read")]

mod documents;
mod turns;

use countersign_contract::{Checker, Form, Outside, Request, Settings, check, parse};
use countersign_diagnostic::Source;
use serde::Deserialize;
use std::hint::black_box;
use turns::report;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Deserialize)]
struct Assignment {
    schema_version: String,
    run_id: String,
    packet_type: String,
    global_objective: String,
    task: Task,
    active_locks: Vec<ActiveLock>,
    context_package: Vec<ContextItem>,
    required_output_schema: String,
}

#[derive(Deserialize)]
struct Task {
    task_id: String,
    title: String,
    #[serde(rename = "type")]
    kind: TaskKind,
    dependencies: Vec<String>,
    lock_scope: Vec<String>,
    forbidden_scope: Vec<String>,
    acceptance_criteria: Vec<String>,
    worklog_path: String,
    timeout_seconds: u64,
    heartbeat_interval_seconds: u64,
    priority: Option<Priority>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TaskKind {
    Parallelizable,
    Serial,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Normal,
    High,
    Critical,
}

#[derive(Deserialize)]
struct ActiveLock {
    task_id: String,
    resource: String,
    active: bool,
}

#[derive(Deserialize)]
struct ContextItem {
    kind: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoffRoot {
    handoff: Handoff,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Handoff {
    version: String,
    schema_type: String,
    timestamp: String,
    expires_at: Option<String>,
    trace_id: String,
    source: Origin,
    target: Target,
    context: Context,
    payload: Payload,
    meta: Meta,
    tracing: Option<Tracing>,
}

#[derive(Deserialize)]
struct Origin {
    skill: String,
    workflow_id: String,
    session_path: String,
    phase: String,
}

#[derive(Deserialize)]
struct Target {
    skill: String,
    invocation: Option<String>,
    category: Option<String>,
    expected_phase: Option<String>,
}

#[derive(Deserialize)]
struct Context {
    summary: String,
    problem_type: String,
    original_prompt: Option<String>,
    focus_areas: Option<Vec<String>>,
    known_gaps: Option<Vec<String>>,
    success_criteria: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Payload {
    working: serde_json::Map<String, serde_json::Value>,
    session: Option<Session>,
    references: Option<References>,
}

#[derive(Deserialize)]
struct Session {
    artifacts: Option<Vec<Artifact>>,
    state: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Artifact {
    name: String,
    path: String,
    #[serde(rename = "type")]
    kind: String,
    description: Option<String>,
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct References {
    files: Option<Vec<FileReference>>,
    urls: Option<Vec<UrlReference>>,
}

#[derive(Deserialize)]
struct FileReference {
    path: String,
    description: Option<String>,
    relevance: Option<String>,
}

#[derive(Deserialize)]
struct UrlReference {
    url: String,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    token_count: u64,
    confidence: String,
    handoff_chain: Option<Vec<String>>,
    handoff_reason: Option<String>,
    payload_hash: Option<String>,
    payload_size_bytes: Option<u64>,
    user_approved: Option<bool>,
}

#[derive(Deserialize)]
struct Tracing {
    events: Option<Vec<serde_json::Value>>,
    parent_span_id: Option<String>,
    tags: Option<serde_json::Value>,
}

fn main() {
    let settings = Settings { encoding: "chars4", ..Settings::default() };
    let exact = Settings::default();
    let assignment = documents::assignment();
    let handoff = documents::handoff();
    report(
        "assignment",
        &assignment,
        &mut [
            ("serde_json typed", &mut || {
                drop(black_box(serde_json::from_slice::<Assignment>(assignment.as_bytes()).unwrap()))
            }),
            ("check", &mut || checked(&assignment, &settings)),
            ("parse to spans only", &mut || drop(black_box(parse(&assignment, Form::Json, 1 << 24).unwrap()))),
            ("serde_json value + jsonschema", &mut with_schema("assignment", &assignment)),
        ],
    );
    let plain = documents::handoff_without_hash();
    report(
        "handoff without a hash",
        &plain,
        &mut [
            ("serde_json typed", &mut || {
                drop(black_box(serde_json::from_slice::<HandoffRoot>(plain.as_bytes()).unwrap()))
            }),
            ("check without tokens", &mut || checked(&plain, &settings)),
            ("serde_json value + jsonschema", &mut with_schema("universal_handoff", &plain)),
        ],
    );
    report(
        "handoff",
        &handoff,
        &mut [
            ("serde_json typed", &mut || {
                drop(black_box(serde_json::from_slice::<HandoffRoot>(handoff.as_bytes()).unwrap()))
            }),
            ("check without tokens", &mut || checked(&handoff, &settings)),
            ("parse to spans only", &mut || drop(black_box(parse(&handoff, Form::Json, 1 << 24).unwrap()))),
            ("serde_json value + jsonschema", &mut with_schema("universal_handoff", &handoff)),
            ("check with exact tokens", &mut || checked(&handoff, &exact)),
        ],
    );
}

fn checked(text: &str, settings: &Settings) {
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign: &[], settings, raised: &[] };
    let outside = Outside::default();
    let text = std::str::from_utf8(black_box(text.as_bytes())).unwrap();
    let checked = check(&checker, &Request::alone(Source { name: "document.json", text }, &outside));
    assert!(checked.decision.details.diagnostics.is_empty(), "{:?}", checked.decision);
    black_box(checked);
}

fn with_schema<'t>(contract: &str, text: &'t str) -> impl FnMut() + 't {
    let schema = (countersign_domain::contract(contract).unwrap().schema)();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    move || {
        let value: serde_json::Value = serde_json::from_slice(text.as_bytes()).unwrap();
        assert!(black_box(validator.is_valid(&value)));
    }
}
