//! Who could take a handoff over, from skill files and a registry.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Form, Outside, Request, SIZE_MAX, Settings, check, parse};
use countersign_domain::handoff::payload::UniversalHandoff;
use countersign_domain::handoff::targets::{Candidate, best, from_front_matter, from_registry, merge};
use serde_json::{Value, json};
use std::sync::Arc;

fn handoff(patch: &Value) -> Arc<UniversalHandoff> {
    let contract = countersign_domain::contract("universal_handoff").unwrap();
    let mut document = (contract.example)();
    countersign_contract::prove::merge(&mut document, patch);
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    let text = document.to_string();
    let checked = check(&checker, &Request::alone(Source { name: "handoff.json", text: &text }, &outside));
    Arc::clone(checked.records.first().unwrap()).downcast().unwrap()
}

fn yaml(text: &str) -> Value {
    parse(text, Form::Yaml, SIZE_MAX).unwrap().root().to_value()
}

fn named(name: &str, categories: &[&str]) -> Candidate {
    let categories = categories.iter().map(|it| (*it).to_owned()).collect();
    Candidate { name: name.to_owned(), categories, ..Candidate::default() }
}

#[test]
fn points_are_given_for_what_fits_and_each_has_its_reason() {
    let handoff = handoff(&json!({ "handoff": {
        "target": { "category": "skill-development" },
        "payload": { "session": { "artifacts": [{ "name": "Plan", "path": "plan.md", "type": "specification" }] } },
        "meta": { "handoff_chain": ["lit-pm", "skill-editor"] },
    }}));
    let base = named("a", &[]);
    let list = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let cases = [
        ("nothing fits", Candidate { inputs: list(&["data"]), ..base.clone() }, [0, 0, 0, 0, 0, 0]),
        ("no inputs wanted", base.clone(), [0, 0, 10, 0, 0, 0]),
        ("category", named("a", &["Skill-Development"]), [40, 0, 10, 0, 0, 0]),
        ("kind of problem", named("a", &["implementation"]), [20, 0, 10, 0, 0, 0]),
        ("related category", named("a", &["software-development"]), [20, 0, 10, 0, 0, 0]),
        ("schema", Candidate { schema_version: Some("3.0".into()), ..base.clone() }, [0, 20, 10, 0, 0, 0]),
        ("older schema", Candidate { schema_version: Some("2.0".into()), ..base.clone() }, [0, 10, 10, 0, 0, 0]),
        ("universal", Candidate { universal: true, ..base.clone() }, [0, 10, 10, 0, 0, 0]),
        ("all inputs", Candidate { inputs: list(&["specification"]), ..base.clone() }, [0, 0, 20, 0, 0, 0]),
        ("some inputs", Candidate { inputs: list(&["specification", "data"]), ..base.clone() }, [0, 0, 10, 0, 0, 0]),
        ("success", Candidate { succeeded: true, ..base.clone() }, [0, 0, 10, 10, 0, 0]),
        ("autonomy", Candidate { autonomous: Some(true), ..base.clone() }, [0, 0, 10, 0, 10, 0]),
        ("loop", named("lit-pm", &[]), [0, 0, 10, 0, 0, -30]),
    ];
    for (what, candidate, expected) in cases {
        let candidates = [candidate];
        let scored = best(&handoff, &candidates, Some(true));
        let points: Vec<i32> = scored[0].parts.iter().map(|part| part.points).collect();
        assert_eq!(points, expected, "{what}");
        assert_eq!(scored[0].score, expected.iter().sum::<i32>(), "{what}");
        assert!(scored[0].parts.iter().all(|part| !part.reason.is_empty()));
    }
}

#[test]
fn three_to_five_are_shown_best_first_and_who_cannot_take_over_is_left_out() {
    let handoff = handoff(&json!({}));
    let mut candidates: Vec<Candidate> = ["d", "c", "b", "a"].iter().map(|it| named(it, &["implementation"])).collect();
    candidates.push(named("skill-editor", &["implementation"]));
    candidates
        .push(Candidate { accepts_from: Some(vec!["lit-pm".to_owned()]), ..named("closed", &["implementation"]) });
    candidates.push(named("poor", &[]));
    let names = |candidates: &[Candidate]| -> Vec<String> {
        best(&handoff, candidates, None).iter().map(|it| it.candidate.name.clone()).collect()
    };
    assert_eq!(names(&candidates), ["a", "b", "c", "d"]);
    candidates.retain(|it| !["b", "c", "d"].contains(&it.name.as_str()));
    candidates.push(named("other", &[]));
    assert_eq!(names(&candidates), ["a", "other", "poor"]);
    candidates[1].provides_to = Some(vec!["poor".to_owned()]);
    assert_eq!(candidates[1].name, "skill-editor");
    assert_eq!(names(&candidates), ["poor"]);
}

#[test]
fn front_matter_wins_and_the_registry_fills_in() {
    let (registry, skipped) = from_registry(&yaml(
        "workflows:\n\
         - name: pm\n  handoff: {accepts_from: [x], schema_version: 1.2, schema_type: internal}\n\
         \u{20} categories: [old]\n  meta: {autonomous: true, successful_handoffs: 2}\n\
         - name: broken\n  handoff: {accepts_from: all}\n\
         - name: no-part\n\
         - just text\n",
    ));
    assert_eq!(registry.len(), 1);
    assert_eq!(skipped.iter().map(|it| it.name.as_deref()).collect::<Vec<_>>(), [Some("broken"), None]);
    let skill = yaml("name: pm\nhandoff: {accepts_from: ['*'], schema_version: 3.0}\ncategories: [new]\n");
    let merged = merge(registry, from_front_matter(&skill).unwrap().into_iter().collect());
    let expected = Candidate {
        name: "pm".to_owned(),
        categories: vec!["new".to_owned()],
        accepts_from: Some(vec!["*".to_owned()]),
        schema_version: Some("3.0".to_owned()),
        universal: true,
        autonomous: Some(true),
        succeeded: true,
        ..Candidate::default()
    };
    assert_eq!(merged, [expected]);
}

#[test]
fn fields_of_older_skill_files_are_read() {
    let skill =
        yaml("name: old\nhandoff: {accepts_handoff: true, handoff_categories: [research], protocol_version: '2.0'}\n");
    let found = from_front_matter(&skill).unwrap().unwrap();
    assert_eq!(found.accepts_from, Some(vec!["*".to_owned()]));
    assert_eq!(found.categories, ["research"]);
    assert_eq!(found.schema_version.as_deref(), Some("2.0"));
    assert_eq!(from_front_matter(&yaml("name: plain\n")), Ok(None));
    assert!(from_front_matter(&yaml("description: nameless\n")).is_err());
}
