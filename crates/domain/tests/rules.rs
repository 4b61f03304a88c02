//! Holds every rule to its explanation, its file and its id.

use countersign_contract::prove;
use std::collections::HashSet;

#[test]
fn the_examples_of_every_rule_are_true() {
    let faults: Vec<String> = countersign_domain::rules()
        .into_iter()
        .flat_map(|rule| prove::examples(rule, countersign_domain::contracts(), "assignment"))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_rule_has_an_id_of_its_own_which_is_the_name_of_its_file() {
    let mut seen = HashSet::new();
    for rule in countersign_domain::rules() {
        assert!(seen.insert(rule.id), "{} is declared twice", rule.id);
        let file = format!("{}.rs", rule.id.replace('-', "_"));
        assert!(rule.file.ends_with(&file), "{} is declared in {}", rule.id, rule.file);
    }
}

#[test]
fn the_smallest_example_of_every_contract_is_allowed() {
    use countersign_contract::{Checker, Outside, Request, Settings, check, diagnostic::Source};
    let settings = Settings::default();
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
    for contract in contracts {
        let mut example = (contract.example)();
        (contract.seal)(&mut example);
        let text = serde_json::to_string_pretty(&example).unwrap_or_default();
        let outside = Outside::default();
        let request = Request::alone(Source { name: "example.json", text: &text }, &outside);
        let decision = check(&checker, &request).decision;
        assert!(decision.details.diagnostics.is_empty(), "{}: {:#?}", contract.name, decision);
        assert_eq!(decision.details.contract.as_deref(), Some(contract.name));
    }
}
