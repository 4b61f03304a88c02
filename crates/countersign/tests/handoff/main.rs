//! Handoffs through the real binary: made within their budget, sent, and the same when they arrive.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod arriving;
mod budget;
mod chain;
mod failing;
#[path = "../house/mod.rs"]
mod house;
mod secrets;
#[path = "../walkthrough/mod.rs"]
mod walkthrough;

use house::{Answer, House};
use serde_json::{Value, json};
use walkthrough::readme;

const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";

fn project() -> House {
    let house = House::new();
    done(house.run(&["init", "--name", "shop"]));
    house
}

fn done(answer: Answer) -> Answer {
    assert_eq!(answer.code, 0, "{answer:?}");
    answer
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// Makes a handoff of trace `TRACE` in `out`.
fn make(house: &House, source: &str, target: &str, out: &str, more: &[&str]) -> Answer {
    let own = ["handoff", "make", "--source", source, "--target", target, "--summary", "Build the plan", "--out", out];
    let rest = ["--problem-type", "implementation", "--format", "json", "--trace", TRACE];
    house.run(&[&own[..], &rest, more].concat())
}

fn made(house: &House, source: &str, target: &str, out: &str, more: &[&str]) -> Value {
    json_of(&done(make(house, source, target, out, &[&["--payload", "plan.json"], more].concat())))
}

fn plan(house: &House) {
    house.write("plan.json", json!({ "decision": "round half to even" }).to_string());
}

fn send(house: &House, file: &str, by: &str) -> Answer {
    house.run(&["handoff", "send", file, "--as", by, "--format", "json"])
}

fn receive(house: &House, what: &str, by: &str) -> Answer {
    house.run(&["handoff", "receive", what, "--as", by, "--format", "json"])
}

/// What a refusal is filed under.
fn code(answer: &Answer) -> String {
    assert_eq!(answer.code, 1, "{answer:?}");
    json_of(answer)["code"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn document(house: &House, name: &str) -> Value {
    serde_json::from_str(&house.read(name)).unwrap()
}

fn notes(document: &Value) -> Vec<&str> {
    let events = document["handoff"]["tracing"]["events"].as_array().unwrap();
    events.iter().map(|event| event["event_type"].as_str().unwrap()).collect()
}

/// From `source` to `target`, made, sent and received.
fn pass(house: &House, source: &str, target: &str, more: &[&str]) {
    let file = format!("{source}-{target}.json");
    made(house, source, target, &file, more);
    done(send(house, &file, source));
    done(receive(house, &file, target));
}

fn kinds(house: &House) -> Vec<String> {
    let log = done(house.run(&["log", "--format", "json"])).out;
    let kinds = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"]["kind"].as_str().unwrap().to_owned());
    kinds.filter(|kind| kind.starts_with("handoff.")).collect()
}

/// A payload of about so many bytes: a session, and long texts.
fn long(bytes: usize) -> Value {
    let text = |words: usize| "The total is rounded half to even before it is shown. ".repeat(words / 54 + 1);
    json!({
        "working": { "decision": "round half to even", "notes": text(bytes / 2) },
        "session": { "state": { "log": text(bytes / 4), "step": 7 }, "artifacts": [
            { "name": "Plan", "path": "plan.md", "type": "specification", "description": text(bytes / 4) } ] },
    })
}

#[cfg(unix)]
#[test]
fn the_page_about_handoffs_is_true() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/handoffs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let played = walkthrough::play(&House::new(), &page, &["planner", "builder", "you"]);
    assert!(played >= 14, "{played}");
}

#[cfg(unix)]
#[test]
fn the_plan_on_the_page_about_handoffs_is_carried_out() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/handoffs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let house = House::new();
    for (block, name) in [("yaml plan.yaml", "plan.yaml"), ("sh agent.sh", "agent.sh")] {
        house.write(name, readme::lines(&page, block).join("\n") + "\n");
    }
    let who = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let settings = ["AUTHOR", "COMMITTER"]
        .map(|role| [who(&format!("GIT_{role}_NAME"), "ann"), who(&format!("GIT_{role}_EMAIL"), "ann@example.org")]);
    let steps = readme::steps(&page, "console plan", &[""]);
    assert!(steps.len() >= 6, "{}", steps.len());
    steps.iter().for_each(|step| step.play(&house, &settings.concat()));
}
