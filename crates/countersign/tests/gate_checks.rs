//! Checks that Countersign carries out for a promise: whose they are decides what they are worth.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{Answer, House};

const ID: &str = "promise-1a2b3c4d";

fn done(answer: Answer) -> Answer {
    assert_eq!(answer.code, 0, "{answer:?}");
    answer
}

/// A promise with one criterion, which its owner says is met.
fn promised(more: &[&str]) -> House {
    let house = House::new();
    done(house.run(&["init", "--name", "cart"]));
    house.write("good.yaml", "AC-1: {command: [sh, -c, 'test -f cart.rs']}\n");
    house.write("loose.yaml", "AC-1: {command: ['true']}\n");
    house.write("both.yaml", "AC-1: [{command: [sh, -c, 'test -f cart.rs']}, {file: {path: none}}]\n");
    house.write("gone.yaml", "AC-1: [{command: [sh, -c, 'test -f cart.rs']}, {command: [no-such-program]}]\n");
    let create = ["promise", "create", "--title", "t", "--id", ID, "--criterion", "it holds", "--as", "coder-1"];
    done(house.run(&[&create, more].concat()));
    house.write("cart.rs", "the cart");
    let evidence = "cart.rs:1 has what was asked for";
    done(house.run(&["promise", "meet", ID, "AC-1", "--evidence", evidence, "--type", "test", "--as", "coder-1"]));
    house
}

fn look(house: &House, checks: &str, more: &[&str]) -> Answer {
    house.run(&[&["gate", "validate", ID, "--checks", checks], more].concat())
}

fn may_stop(house: &House) -> bool {
    house.run(&["gate", "check", ID]).code == 0
}

const REVIEWER: &[&str] = &["--as", "reviewer-1"];

#[test]
fn a_promise_that_asks_for_a_word_is_kept_by_what_countersign_saw() {
    let house = promised(&[]);
    let answer = done(look(&house, "good.yaml", REVIEWER));
    assert!(answer.out.contains("PASS"), "{answer:?}");
    assert!(may_stop(&house));
}

#[test]
fn checks_that_were_set_down_before_the_work_decide_and_whoever_looks_may_add_but_not_replace() {
    let set_down = &["--checks", "good.yaml"];
    let house = promised(set_down);
    // Another check in place of it shows nothing, and that is said.
    let answer = look(&house, "loose.yaml", &["--as", "coder-2"]);
    assert!(answer.code == 1 && answer.err.contains("AC-1 SKIP"), "{answer:?}");
    assert!(answer.err.contains("set down with the promise"), "{answer:?}");
    assert!(!may_stop(&house));
    // It was recorded nowhere that could stand in the way.
    done(look(&house, "good.yaml", REVIEWER));
    assert!(may_stop(&house));
    let house = promised(set_down);
    let answer = done(look(&house, "both.yaml", REVIEWER));
    assert!(answer.out.contains("FAIL"), "{answer:?}");
    assert!(!may_stop(&house));
    // What could not be carried out is said, and is no answer.
    let house = promised(set_down);
    let answer = look(&house, "gone.yaml", REVIEWER);
    assert!(answer.code == 1 && answer.err.contains("no-such-program"), "{answer:?}");
    assert!(answer.err.contains("AC-1 BLOCKED: a check of it could not be carried out"), "{answer:?}");
    done(look(&house, "good.yaml", REVIEWER));
    assert!(may_stop(&house));
}

#[test]
fn what_asks_for_more_than_a_word_is_not_shown_by_a_check_that_whoever_looks_has_made_up() {
    let house = promised(&["--evidence-kind", "command"]);
    let answer = look(&house, "loose.yaml", &["--as", "coder-2"]);
    assert!(answer.code == 1 && answer.err.contains("asks for `command`"), "{answer:?}");
    assert!(answer.err.contains("promise create --checks"), "{answer:?}");
    assert!(!may_stop(&house));
    // A person answers for what they bring.
    done(look(&house, "good.yaml", &["--token-file", &house.owner_token()]));
    assert!(may_stop(&house));
}
