//! The documents that are measured: as large and as varied as those that agents really send.

use serde_json::json;

/// An assignment of about 4 KB.
pub fn assignment() -> String {
    let locks: Vec<_> = (20..32)
        .map(|number| {
            json!({ "task_id": format!("T-{number}"), "resource": format!("services/area-{number}/src"), "active": number % 3 != 0 })
        })
        .collect();
    let document = json!({
        "schema_version": "1.0.0",
        "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
        "packet_type": "assignment",
        "generated_at": "2026-02-07T18:30:00Z",
        "global_objective": "Move the billing service from binary floats to decimal arithmetic, so that the monthly statements of all tenants agree with the general ledger to the cent, without changing any public interface.",
        "task": {
            "task_id": "T-12",
            "title": "Round half to even in billing and cover it with tests",
            "type": "parallelizable",
            "dependencies": ["T-3", "T-4", "T-7"],
            "lock_scope": ["billing/round.py", "billing/money.py", "tests/billing/test_round.py", "tests/billing/test_money.py"],
            "forbidden_scope": ["billing/vendor", "infra", "docs/contracts"],
            "acceptance_criteria": [
                "pytest tests/billing/test_round.py passes with at least twelve cases, among them ties, negative amounts and zero",
                "pytest tests/billing/test_money.py passes without any change to the expected values",
                "no call of float() is left in billing/round.py or billing/money.py",
                "the public functions of billing/money.py keep their names, arguments and documented results",
            ],
            "worklog_path": "worklogs/T-12.jsonl",
            "timeout_seconds": 1200,
            "heartbeat_interval_seconds": 120,
            "priority": "high",
        },
        "active_locks": locks,
        "context_package": [
            { "kind": "file", "value": "billing/round.py" },
            { "kind": "file", "value": "billing/money.py" },
            { "kind": "file", "value": "tests/billing/test_round.py" },
            { "kind": "constraint", "value": "The vendor folder is generated. Edits there are lost with the next release, and two other tasks read from it while this one runs." },
            { "kind": "note", "value": "The finance team reported that 0.125 is rounded up to 0.13 in statements while the general ledger has 0.12. The difference comes from round-half-up in two places; the ledger follows the banking rule." },
            { "kind": "note", "value": "An earlier attempt replaced all floats in one go and broke the currency conversion, because exchange rates have more than four decimals. Keep rates as they are and convert amounts only." },
            { "kind": "command", "value": "pytest -q tests/billing" },
        ],
        "required_output_schema": "subagent_result_v1",
    });
    serde_json::to_string_pretty(&document).unwrap()
}

/// The same handoff without hash and size of its payload, which are optional and cost a pass each.
pub fn handoff_without_hash() -> String {
    let mut document: serde_json::Value = serde_json::from_str(&handoff()).unwrap();
    if let Some(meta) = document.pointer_mut("/handoff/meta").and_then(serde_json::Value::as_object_mut) {
        meta.shift_remove("payload_hash");
        meta.shift_remove("payload_size_bytes");
    }
    (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
    serde_json::to_string_pretty(&document).unwrap()
}

/// A handoff of about 8 KB.
pub fn handoff() -> String {
    let finding = |number: usize| {
        json!({
            "id": format!("F-{number}"),
            "where": format!("services/area-{number}/handlers.py"),
            "what": "The handler takes the tenant from the request body instead of from the session, so a caller can read the statements of another tenant by changing one field of the request.",
            "severity": if number.is_multiple_of(2) { "high" } else { "medium" },
            "confirmed": !number.is_multiple_of(3),
            "score": 0.25 * number as f64,
        })
    };
    let working = json!({
        "goal": "Close the tenant mix-up in all handlers before the release of the statements service.",
        "decision": "Tenants come from the session everywhere. The request field stays for one release, is ignored, and is logged when it differs.",
        "open_questions": ["Does the export job run with a session?", "Who owns the handlers of area 9?"],
        "findings": (1..6).map(finding).collect::<Vec<_>>(),
    });
    let artifacts: Vec<_> = (1..14)
        .map(|number| {
            json!({
                "name": format!("analysis-{number}"),
                "path": format!("sessions/2026-02-07/analysis-{number}.md"),
                "type": "analysis",
                "description": "What was read, what was tried, and why the handlers of this area are or are not affected.",
            })
        })
        .collect();
    let files: Vec<_> = (1..5)
        .map(|number| {
            json!({
                "path": format!("services/area-{number}/session.py"),
                "description": "Where the session's tenant is set",
                "relevance": "important",
            })
        })
        .collect();
    let document = json!({
        "handoff": {
            "version": "3.0",
            "schema_type": "universal",
            "timestamp": "2026-02-07T18:30:00Z",
            "trace_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "source": { "skill": "security-review", "workflow_id": "review-2026-02-07", "session_path": "sessions/2026-02-07", "phase": "analysis" },
            "target": { "skill": "programming-pm", "category": "implementation" },
            "context": {
                "summary": "Eleven handlers take the tenant from the request instead of the session. The fix is the same everywhere; two areas need a decision on the export job first.",
                "problem_type": "implementation",
                "focus_areas": ["handlers", "export job", "tests for mixed tenants"],
                "known_gaps": ["area 9 was not read"],
                "success_criteria": ["no handler reads the tenant from a request", "a test for each handler tries a foreign tenant"],
            },
            "payload": {
                "working": working,
                "session": { "artifacts": artifacts, "state": { "read": 41, "left": 3 } },
                "references": {
                    "files": files,
                    "urls": [{ "url": "https://example.com/advisories/2026-014", "description": "The advisory that began it" }],
                },
            },
            "meta": {
                "token_count": 0,
                "confidence": "high",
                "handoff_chain": ["intake", "security-review"],
                "payload_hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                "payload_size_bytes": 0,
            },
        },
    });
    let mut document = document;
    (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
    serde_json::to_string_pretty(&document).unwrap()
}
