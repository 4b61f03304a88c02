//! Holds the repairs of the universal handoff to what they promise: the finding goes away, and nothing else comes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::diagnostic::Source;
use countersign_contract::fix::fix;
use countersign_contract::prove::merge;
use countersign_contract::{Checker, Outside, Request, Settings, check};
use serde_json::{Value, json};

/// Breaks the smallest example, repairs it, and says which rule found what and what stands at `pointer` then.
fn repaired(patch: &Value, pointer: &str) -> (Vec<&'static str>, Option<Value>) {
    let contract = countersign_domain::contract("universal_handoff").unwrap();
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let mut document = (contract.example)();
    merge(&mut document, patch);
    let text = document.to_string();
    let outside = Outside::default();
    let request = Request::alone(Source { name: "handoff.json", text: &text }, &outside);
    let found = check(&checker, &request).decision.details.diagnostics.iter().map(|it| it.rule).collect();
    let fixed = fix(&checker, &request, None, &mut |_, _| None);
    assert!(fixed.checked.decision.details.diagnostics.is_empty(), "{patch}: {:#?}", fixed.checked.decision);
    let document: Value = serde_json::from_str(&fixed.text).unwrap();
    (found, document.pointer(pointer).cloned())
}

#[test]
fn each_repair_mends_its_finding() {
    let chain = "/handoff/meta/handoff_chain";
    let cases = [
        (
            "handoff-chain-too-long",
            json!({ "handoff": { "meta": { "user_approved": true,
                "handoff_chain": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "skill-editor"] } } }),
            chain,
            json!(["a", "b", "c", "d", "e", "h", "i", "j", "k", "skill-editor"]),
        ),
        (
            "handoff-chain-too-long",
            // The target stands in the middle, and must stay to be seen.
            json!({ "handoff": { "meta": { "user_approved": true, "handoff_reason": "a second look",
                "handoff_chain": ["a", "b", "c", "d", "e", "programming-pm", "g", "h", "i", "j", "k",
                    "skill-editor"] } } }),
            chain,
            json!(["a", "b", "c", "d", "programming-pm", "h", "i", "j", "k", "skill-editor"]),
        ),
        (
            "handoff-reference-duplicate",
            json!({ "handoff": { "payload": { "references": {
                "files": [{ "path": "a" }, { "path": "b" }, { "path": "a" }, { "path": "a" }] } } } }),
            "/handoff/payload/references/files",
            json!([{ "path": "a" }, { "path": "b" }]),
        ),
        (
            "handoff-token-count-wrong",
            json!({ "handoff": { "meta": { "token_count": 0 } } }),
            "/handoff/meta/token_count",
            json!(139),
        ),
        (
            "format-invalid",
            json!({ "handoff": { "trace_id": "550E8400-E29B-41D4-A716-446655440000" } }),
            "/handoff/trace_id",
            json!("550e8400-e29b-41d4-a716-446655440000"),
        ),
    ];
    for (rule, patch, pointer, expected) in cases {
        let (found, value) = repaired(&patch, pointer);
        assert!(found.contains(&rule), "{rule} is not among {found:?}");
        assert_eq!(value, Some(expected), "{rule}");
    }
}

#[test]
fn cutting_a_chain_does_not_hide_that_it_comes_back() {
    let contract = countersign_domain::contract("universal_handoff").unwrap();
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let mut document = (contract.example)();
    document["handoff"]["meta"]["user_approved"] = true.into();
    document["handoff"]["meta"]["handoff_chain"] =
        json!(["a", "b", "c", "d", "e", "programming-pm", "g", "h", "i", "j", "k", "skill-editor"]);
    let (text, outside) = (document.to_string(), Outside::default());
    let request = Request::alone(Source { name: "handoff.json", text: &text }, &outside);
    let fixed = fix(&checker, &request, None, &mut |_, _| None);
    let rules: Vec<_> = fixed.checked.decision.details.diagnostics.iter().map(|it| it.rule).collect();
    assert_eq!(rules, ["handoff-reentry-unexplained"]);
    // Nothing of it is lost: the whole chain is in the file that the handoff refers to.
    assert_eq!(fixed.kept["/handoff/meta/handoff_chain"], document["handoff"]["meta"]["handoff_chain"]);
    assert!(fixed.text.contains(&fixed.kept_at.unwrap()));
}
