//! Promises that stand for themselves: whose they are, and how they go through the same gates.

use crate::desk::Desk;
use crate::stage::{COMMIT, No, code, response, reviewer, say, shows, with};
use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Outside, Request, Settings, check};
use countersign_engine::Call;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

const ID: &str = "promise-1a2b3c4d";
const NO: &str = "AUTHORIZATION_MISSING";

/// A promise of olga's, and how it came so far.
struct Promised {
    desk: Desk,
}

impl Promised {
    fn new(more: Value) -> Self {
        let desk = Desk::new();
        let request = json!({
            "promise_id": ID, "title": "Refuse empty carts", "summary": "The checkout answers empty carts with 400",
            "criteria": [{ "description": "an empty cart is answered with 400" }, { "description": "a full one with 201" }],
        });
        let made = desk.ok("olga", "promise.create", with(request, more));
        assert_eq!((&made["promise"], &made["status"]), (&json!(ID), &json!("pending")));
        let it = Self { desk };
        it.passes();
        it
    }

    fn ask(&self, who: &str, id: &str, more: Value) -> Result<Value, No> {
        self.desk.pass(1);
        let said = say(&self.desk, &Call::declared(who), id, &with(json!({ "promise_id": ID }), more));
        self.passes();
        said
    }

    fn meet(&self, who: &str, criterion: &str) -> Result<Value, No> {
        self.ask(who, "promise.meet", json!({ "criterion": criterion, "evidence": "tests/cart.rs:41 gets 400" }))
    }

    fn met(more: Value) -> Self {
        let it = Self::new(more);
        it.meet("olga", "AC-1").unwrap();
        it.meet("olga", "AC-2").unwrap();
        it
    }

    fn validate(&self, validator: &str, statuses: &[&str]) -> Result<Value, No> {
        let response = response(ID, validator, statuses);
        self.ask("ana", "gate.validate", json!({ "validator": validator, "bound": COMMIT, "response": response }))
    }

    fn judge(&self, verdict: &str) -> Result<Value, No> {
        let more = json!({ "judge": "arbiter", "verdict": verdict, "bound": COMMIT, "reasoning": "I read it" });
        self.ask("ana", "gate.judge", more)
    }

    /// What a person answers to what they are shown.
    fn answer(&self, who: &str, id: &str, more: Value) -> Result<Value, No> {
        let request = json!({ "promise_id": ID, "shown": self.gate()["shown"] });
        let said = say(&self.desk, &reviewer(who), id, &with(request, more));
        self.passes();
        said
    }

    fn gate(&self) -> Value {
        self.desk.look("ana", "gate.status", json!({ "promise_id": ID }))
    }

    fn shown(&self) -> Value {
        self.desk.look("ana", "promise.show", json!({ "promise_id": ID }))["promise"].clone()
    }

    fn status(&self) -> String {
        self.shown()["status"].as_str().unwrap().to_owned()
    }

    /// Whatever state it is in, what is shown of it is a promise as its contract has it.
    fn passes(&self) {
        let text = self.shown().to_string();
        let settings = Settings::default();
        let checker =
            Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
        let outside = Outside::default();
        let source = Source { name: "the promise", text: &text };
        let decision =
            check(&checker, &Request { contract: Some("promise"), ..Request::alone(source, &outside) }).decision;
        assert_eq!(decision.code, None, "{text}: {decision:?}");
    }
}

/// A promise in a state.
fn in_state(state: &str) -> Promised {
    let it = match state {
        "verified" | "met" => Promised::met(json!({})),
        _ => Promised::new(json!({})),
    };
    match state {
        "pending" | "met" => {}
        "begun" => drop(it.ask("olga", "promise.start", json!({})).unwrap()),
        "half met" => drop(it.meet("olga", "AC-1").unwrap()),
        "released" => {
            it.ask("olga", "promise.start", json!({})).unwrap();
            it.ask("olga", "promise.release", json!({})).unwrap();
        }
        "verified" => drop(it.validate("critic", &["PASS", "PASS"]).unwrap()),
        "cancelled" => drop(it.ask("olga", "promise.cancel", json!({ "reason": "not wanted" })).unwrap()),
        other => panic!("{other}"),
    }
    it
}

/// What becomes of each command in each state: the state afterwards, or the code of the refusal.
#[test]
fn a_promise_is_changed_by_its_owner_alone_and_only_while_it_can_be() {
    const STATES: [&str; 7] = ["pending", "begun", "half met", "met", "released", "verified", "cancelled"];
    let (no, not_yours) = ("INVALID_TRANSITION", "AUTHORIZATION_MISSING");
    let begun = "in_progress";
    let met = json!({ "criterion": "AC-2", "evidence": "tests/cart.rs:51 gets 201", "evidence_type": "test" });
    let given_up = json!({ "reason": "not wanted" });
    let strangers = [not_yours, not_yours, not_yours, not_yours, not_yours, no, no];
    let table: Vec<(&str, &str, Value, [&str; 7])> = vec![
        ("olga", "promise.start", json!({}), [begun, begun, begun, begun, not_yours, no, no]),
        ("sid", "promise.start", json!({}), strangers),
        ("olga", "promise.meet", met.clone(), [begun, begun, begun, no, not_yours, no, no]),
        ("sid", "promise.meet", met, strangers),
        ("olga", "promise.release", json!({}), ["pending", begun, begun, begun, not_yours, no, no]),
        ("sid", "promise.release", json!({}), strangers),
        ("olga", "promise.adopt", json!({}), [not_yours, not_yours, not_yours, not_yours, begun, no, no]),
        ("sid", "promise.adopt", json!({}), [not_yours, not_yours, not_yours, not_yours, begun, no, no]),
        (
            "olga",
            "promise.cancel",
            given_up.clone(),
            ["cancelled", "cancelled", "cancelled", "cancelled", not_yours, no, no],
        ),
        ("sid", "promise.cancel", given_up, strangers),
    ];
    for (who, id, request, expected) in &table {
        for (state, expected) in STATES.iter().zip(expected) {
            let it = in_state(state);
            let (before, head) = (it.shown(), it.desk.head());
            match it.ask(who, id, request.clone()) {
                Ok(_) => assert_eq!(&it.status(), expected, "{who} {id} {state}"),
                Err((code, reason)) => {
                    assert_eq!(&code, expected, "{who} {id} {state}: {reason}");
                    assert_eq!(it.shown(), before, "{who} {id} {state}");
                    assert_eq!(it.desk.kinds_since(head), ["command.refused"], "{who} {id} {state}");
                }
            }
        }
    }
}

#[test]
fn a_promise_is_made_once_and_belongs_to_its_maker() {
    let it = Promised::new(json!({}));
    let again = json!({ "promise_id": ID, "title": "x", "criteria": [{ "description": "y" }] });
    assert_eq!(it.desk.code("sid", "promise.create", again), "INVALID_TRANSITION");
    assert_eq!(it.shown()["ownership"]["owned_by"], "olga");
    let drawn = it.desk.ok("sid", "promise.create", json!({ "title": "x", "criteria": [{ "description": "y" }] }));
    assert!(drawn["promise"].as_str().unwrap().starts_with("promise-"), "{drawn}");
    assert_eq!(
        it.desk.code("sid", "promise.create", json!({ "title": "x", "criteria": [] })),
        "MISSING_REQUIRED_INPUT"
    );
    let listed = it.desk.look("ana", "promise.list", json!({}))["promises"].clone();
    assert_eq!((&listed[0]["promise_id"], &listed[1]["promise_id"]), (&drawn["promise"], &json!(ID)), "newest first");
    assert_eq!(listed[1]["met"], "0 of 2");
}

#[test]
fn a_criterion_is_met_once_with_something_that_shows_it() {
    let it = Promised::new(json!({}));
    let say = |criterion: &str, evidence: &str| {
        it.ask("olga", "promise.meet", json!({ "criterion": criterion, "evidence": evidence }))
    };
    assert_eq!(code(say("AC-3", "tests/cart.rs:41")), "MISSING_REQUIRED_INPUT");
    for nothing in ["   ", "ok", "Verified, works as expected."] {
        let refused = code(say("AC-1", nothing));
        assert!(["ACCEPTANCE_FAILED", "MISSING_REQUIRED_INPUT"].contains(&refused.as_str()), "{nothing}: {refused}");
    }
    assert_eq!(it.status(), "pending");
    say("AC-1", "tests/cart.rs:41 gets 400").unwrap();
    assert_eq!(code(say("AC-1", "tests/cart.rs:42 gets 400")), "INVALID_TRANSITION");
    let criterion = &it.shown()["acceptance_criteria"][0];
    assert_eq!((&criterion["status"], &criterion["met_by"]), (&json!("met"), &json!("olga")));
    assert_eq!(criterion["evidence"], "tests/cart.rs:41 gets 400");
}

#[test]
fn what_one_has_met_stays_met_when_another_goes_on() {
    let it = in_state("half met");
    it.ask("olga", "promise.release", json!({})).unwrap();
    assert!(it.shown()["ownership"]["owned_by"].is_null());
    it.ask("sid", "promise.adopt", json!({})).unwrap();
    it.meet("sid", "AC-2").unwrap();
    let met: Vec<Value> =
        it.shown()["acceptance_criteria"].as_array().unwrap().iter().map(|it| it["met_by"].clone()).collect();
    assert_eq!(met, ["olga", "sid"]);
    // Both have worked on it, and neither says that it is done.
    for author in ["olga", "sid"] {
        assert_eq!(
            code(it.validate(author, &["PASS", "PASS"])),
            if author == "sid" { "MISSING_VALIDATOR" } else { "AUTHORIZATION_MISSING" }
        );
        let result = json!([{ "criterion": "AC-1", "status": "PASS", "evidence": "I looked" }]);
        assert_eq!(code(it.answer(author, "gate.testify", json!({ "results": result }))), "AUTHORIZATION_MISSING");
    }
    it.validate("critic", &["PASS", "PASS"]).unwrap();
    assert_eq!(it.status(), "verified");
}

#[test]
fn a_promise_goes_through_the_gates_like_a_task() {
    type Step = fn(&Promised) -> Result<Value, No>;
    type Case = (&'static str, Value, Vec<Step>, &'static str, Option<&'static str>);
    let judged = json!({ "judge": "arbiter" });
    let pass: Step = |it| it.validate("critic", &["PASS", "PASS"]);
    let part: Step = |it| it.validate("critic", &["PASS", "FAIL"]);
    let fail: Step = |it| it.validate("critic", &["FAIL", "FAIL"]);
    let accept: Step = |it| it.answer("pia", "gate.accept", json!({ "failures": ["AC-2"], "reason": "next week" }));
    let rule: Step = |it| it.answer("pia", "gate.rule", json!({ "verdict": "PASS", "reasoning": "I read it" }));
    let table: Vec<Case> = vec![
        ("validated", json!({}), vec![pass], "verified", Some("verified")),
        ("in part", json!({}), vec![part], "in_progress", None),
        ("accepted", json!({}), vec![part, accept], "verified", Some("accepted")),
        ("failed", json!({}), vec![fail], "in_progress", None),
        ("not judged", judged.clone(), vec![pass], "in_progress", None),
        ("judged", judged.clone(), vec![pass, |it| it.judge("PASS")], "verified", Some("verified")),
        ("warned", judged.clone(), vec![pass, |it| it.judge("WARN")], "verified", Some("verified")),
        ("rejected", judged.clone(), vec![pass, |it| it.judge("FAIL")], "in_progress", None),
        ("unreached", judged.clone(), vec![pass, |it| it.judge("UNREACHED")], "in_progress", None),
        ("a person ruled", judged.clone(), vec![pass, |it| it.judge("UNREACHED"), rule], "verified", Some("verified")),
        ("accepted and judged", judged, vec![part, accept, |it| it.judge("PASS")], "verified", Some("accepted")),
        ("a person judges", json!({ "judge": "person" }), vec![pass, rule], "verified", Some("verified")),
    ];
    for (what, more, steps, status, assurance) in table {
        let it = Promised::met(more);
        steps.iter().for_each(|step| drop(step(&it).unwrap_or_else(|no| panic!("{what}: {no:?}"))));
        assert_eq!(it.status(), status, "{what}");
        assert_eq!(it.gate()["passed"], status == "verified", "{what}");
        let verified = it.desk.events().into_iter().find(|(kind, _)| kind == "promise.verified");
        assert_eq!(verified.as_ref().and_then(|(_, facts)| facts["assurance"].as_str()), assurance, "{what}");
    }
}

#[test]
fn the_gates_of_a_promise_come_in_order() {
    let it = in_state("half met");
    assert_eq!(code(it.validate("critic", &["PASS", "PASS"])), "DEPENDENCY_NOT_MET");
    assert_eq!(it.gate()["reason"], "not said to be met: AC-2");
    it.meet("olga", "AC-2").unwrap();
    assert_eq!(code(it.judge("PASS")), "INVALID_TRANSITION");
    assert_eq!(
        code(it.answer("pia", "gate.accept", json!({ "failures": ["AC-2"], "reason": "x" }))),
        "INVALID_TRANSITION"
    );
    // Where nobody is named, a person may look as well as anybody.
    let result = |id: &str| json!({ "criterion": id, "status": "PASS", "evidence": "I looked" });
    it.answer("pia", "gate.testify", json!({ "results": [result("AC-1"), result("AC-2")] })).unwrap();
    assert_eq!(it.status(), "verified");
    assert_eq!(code(it.validate("critic", &["FAIL", "FAIL"])), "INVALID_TRANSITION");
}

#[test]
fn everybody_who_is_named_must_look() {
    let it = Promised::met(json!({ "validators": ["critic", "editor", "person"] }));
    it.validate("critic", &["PASS", "PASS"]).unwrap();
    it.validate("editor", &["PASS", "PASS"]).unwrap();
    assert_eq!((it.status().as_str(), &it.gate()["waits_for_a_person"]), ("in_progress", &json!(true)));
    let result = json!([{ "criterion": "AC-1", "status": "PASS", "evidence": "I looked" }]);
    it.answer("pia", "gate.testify", json!({ "results": result })).unwrap();
    assert_eq!(it.status(), "verified");
}

#[test]
fn a_promise_with_criteria_that_ask_for_more_needs_more() {
    let criteria = json!([{ "description": "tests pass", "evidence": "test" }, { "description": "it reads well" }]);
    let it = Promised::met(json!({ "criteria": criteria }));
    it.validate("critic", &["PASS", "PASS"]).unwrap();
    assert_eq!(
        (it.status().as_str(), &it.gate()["reason"].as_str().unwrap()[..20]),
        ("in_progress", "validated as PARTIAL")
    );
}

/// Whoever validates a promise may write what they like; only what Countersign saw itself shows more than their word.
#[test]
fn evidence_that_somebody_wrote_down_is_their_word() {
    let set_down = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let criteria = json!([
        { "description": "tests pass", "evidence": "test", "checks": [set_down] }, { "description": "it reads well" },
    ]);
    // Who validates, whether Countersign has collected the evidence, what it shows, and what counts for each criterion.
    let table: [(&str, bool, &str, [&str; 2]); 6] = [
        ("critic", false, "PASS", ["SKIP", "PASS"]),
        ("critic", true, "PASS", ["PASS", "PASS"]),
        // What speaks against it counts, whoever has seen it.
        ("critic", false, "FAIL", ["FAIL", "PASS"]),
        ("critic", true, "FAIL", ["FAIL", "PASS"]),
        ("builtin", true, "PASS", ["PASS", "SKIP"]),
        ("builtin", false, "PASS", [NO, NO]),
    ];
    for (validator, collected, status, expected) in table {
        let it = Promised::met(json!({ "criteria": criteria }));
        it.desk.around.collects.store(collected, Ordering::SeqCst);
        let more = json!({
            "validator": validator, "bound": COMMIT, "response": response(ID, validator, &["PASS", "PASS"]),
            "evidence": [with(shows("AC-1", "test", status), json!({ "check": set_down }))],
        });
        let said = it.ask("ana", "gate.validate", more);
        if expected[0] == NO {
            assert_eq!(code(said), NO, "{validator}");
            continue;
        }
        said.unwrap();
        let given = it.desk.events().into_iter().rfind(|(kind, _)| kind == "gate.validated").unwrap().1;
        assert_eq!(
            given["results"],
            json!({ "AC-1": expected[0], "AC-2": expected[1] }),
            "{validator} {collected} {status}"
        );
        let passed = validator == "critic" && collected && status == "PASS";
        assert_eq!(it.status(), if passed { "verified" } else { "in_progress" }, "{validator} {collected} {status}");
    }
}
