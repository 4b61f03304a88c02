//! Holds repairs to what they must never do: invent evidence, approval or authority, or vouch for what was wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::diagnostic::Source;
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::prove::{blocks, merge};
use countersign_contract::{Checker, Form, Outside, Request, Settings, check};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every rule of a contract whose examples get a repair. Each mends how something is written or takes away what is said
/// twice; none decides anything. Whoever adds one here has asked what a forger would do with it.
const MENDING: &[&str] = &[
    "audit-evidence-path-invalid",
    "audit-path-invalid",
    "audit-path-mismatch",
    "change-repeated",
    "claimed-evidence-empty",
    "claimed-path-unclean",
    "criterion-repeated",
    "dependency-repeated",
    "evidence-path-invalid",
    "handoff-reference-duplicate",
    "handoff-token-count-wrong",
    "heartbeat-not-below-timeout",
    "lock-scope-redundant",
    "payload-hash-not-canonical",
    "plan-scope-redundant",
    "retry-after-unwanted",
    "row-heartbeat-not-below-timeout",
    "row-scope-redundant",
    "status-section-forbidden",
    "verdict-unsupported",
];

fn with_checker<T>(use_it: impl FnOnce(&Checker<'_>) -> T) -> T {
    let settings = Settings::default();
    use_it(&Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] })
}

fn fixed(document: &Value, now: Option<&str>) -> Fixed {
    let (text, now) = (document.to_string(), now.map(|now| now.parse().unwrap()));
    let outside = Outside { now, ..Outside::default() };
    let request = Request::alone(Source { name: "document.json", text: &text }, &outside);
    with_checker(|checker| fix(checker, &request, None, &mut |_, _| None))
}

fn example(contract: &str, patch: &Value) -> Value {
    let contract = countersign_domain::contract(contract).unwrap();
    let mut document = (contract.example)();
    (contract.seal)(&mut document);
    merge(&mut document, patch);
    document
}

fn rules(fixed: &Fixed) -> Vec<&'static str> {
    fixed.checked.decision.details.diagnostics.iter().map(|it| it.rule).collect()
}

#[test]
fn only_rules_that_decide_nothing_offer_repairs() {
    let mut offering = BTreeSet::new();
    for contract in countersign_domain::contracts().iter().filter(|it| it.forms.contains(&Form::Json)) {
        for rule in (contract.rules)() {
            for block in blocks(rule.explanation).iter().filter(|it| it.info[1] == "rejected") {
                let Ok(patch) = serde_json::from_str(&block.text) else { continue };
                let text = example(contract.name, &patch).to_string();
                let outside = Outside::default();
                let request = Request {
                    contract: Some(contract.name),
                    ..Request::alone(Source { name: "document.json", text: &text }, &outside)
                };
                let decision = with_checker(|checker| check(checker, &request)).decision;
                let findings = decision.details.diagnostics.into_iter();
                offering.extend(findings.filter(|it| it.rule == rule.id && it.repair.is_some()).map(|it| it.rule));
            }
        }
    }
    let unexpected: Vec<_> = offering.iter().filter(|rule| !MENDING.contains(rule)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert!(offering.len() > MENDING.len() / 2, "{offering:?}");
}

#[test]
fn of_parts_that_belong_to_another_status_only_an_empty_one_is_left_out() {
    let empty = fixed(&example("delegation_response", &json!({"VALIDATION_ERRORS": []})), None);
    assert!(empty.checked.decision.allow && !empty.text.contains("VALIDATION_ERRORS"), "{}", empty.text);
    let error = json!({"FIELD": "ACTION.TYPE", "ERROR": "it is not known", "EXPECTED": "an action"});
    let filled = example("delegation_response", &json!({"VALIDATION_ERRORS": [error]}));
    let left = fixed(&filled, None);
    assert_eq!((rules(&left), left.text), (vec!["status-section-forbidden"], filled.to_string()));
}

#[test]
fn an_entry_that_was_tampered_with_is_not_sealed_again() {
    let forged = example("audit_entry", &json!({"OUTCOME": {"RESULTING_STATE": "nothing happened"}}));
    let fixed = fixed(&forged, None);
    assert_eq!(rules(&fixed), ["audit-checksum-mismatch"]);
    assert_eq!(fixed.text, forged.to_string());
}

#[test]
fn a_size_that_was_wrong_is_not_made_right_beside_another_repair() {
    let cut = json!({"handoff": {"meta": {"payload_size_bytes": 9, "token_count": 0}}});
    let fixed = fixed(&example("universal_handoff", &cut), None);
    assert_eq!(rules(&fixed), ["payload-size-mismatch"]);
}

#[test]
fn nobody_is_taken_for_someone_who_may_ask_or_act() {
    for (contract, patch) in [
        ("delegation_instruction", json!({"REQUESTER": {"AGENT_TYPE": "human"}})),
        ("delegation_response", json!({"EXECUTOR": {"AGENT_TYPE": "Maturion"}})),
    ] {
        let document = example(contract, &patch);
        let fixed = fixed(&document, None);
        assert!(!fixed.checked.decision.allow, "{contract}");
        assert_eq!(fixed.text, document.to_string());
    }
}

#[test]
fn an_answer_without_a_time_is_not_given_one() {
    let document = example("validation_response", &json!({"timestamp": null}));
    let fixed = fixed(&document, Some("2026-02-07T18:30:00Z"));
    assert_eq!(rules(&fixed), ["field-missing"]);
}
