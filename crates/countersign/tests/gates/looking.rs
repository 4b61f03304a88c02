//! What Countersign has looked at itself.

use super::*;

/// Countersign looks at AC-2 itself.
fn looked_at(house: &House, verdict: &str) {
    house.write("tests.sh", TESTS);
    house.write("cart.rs", "the cart");
    let look = ["gate", "validate", ID, "--checks", "checks.yaml", "--as"];
    // The author does not have it looked at, nor does anybody speak for it.
    let answer = house.run(&[&look[..], &["coder-1"]].concat());
    assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    assert_eq!(refused(house, &validate("reviewer-1", "builtin")), "AUTHORIZATION_MISSING");
    let answer = done(house.run(&[&look[..], &["reviewer-1"]].concat()));
    assert!(answer.out.contains(verdict), "{answer:?}");
}

#[test]
fn countersign_looks_at_the_commit_that_is_named_or_at_what_lies_here() {
    // Whether the work is committed, what is named, and what the look comes to.
    for (committed, named, wanted) in [
        (false, None, "PASS"),
        (false, Some("HEAD"), "FAIL"),
        (true, None, "PASS"),
        (true, Some("HEAD"), "PASS"),
        (true, Some("HEAD~1"), "FAIL"),
    ] {
        let shop = Shop::idle();
        let house = &shop.house;
        house.write("tests.sh", TESTS);
        house.write("checks.yaml", "AC-1: {test: [sh, tests.sh]}\nAC-2: {file: {path: cart.rs}}\n");
        shop.commit();
        house.write("cart.rs", "the cart");
        if committed {
            shop.commit();
        }
        promised(house, &["--evidence-kind", "test", "file", "--checks", "checks.yaml"]);
        let bound = named.map(|name| shop.git(&["rev-parse", name]));
        let mut look = vec!["gate", "validate", ID, "--checks", "checks.yaml", "--as", "reviewer-1"];
        look.extend(bound.iter().flat_map(|bound| ["--bound", bound]));
        assert_eq!(json_of(house, &look)["verdict"], wanted, "{committed} {named:?}");
        assert_eq!(check(house, &[ID]).0, if wanted == "PASS" { 0 } else { 2 }, "{committed} {named:?}");
        // What was looked at is what counts.
        house.write("cart.rs", "another cart");
        assert_eq!(check(house, &[ID]).0, 2, "{committed} {named:?}");
    }
    let shop = Shop::idle();
    let run = planned(&shop);
    shop.house.write("checks.yaml", "AC-1: {file: {path: cart.rs}}\n");
    let answer = shop.house.run(&["gate", "validate", "T-1", "--run", &run, "--checks", "checks.yaml"]);
    assert!(answer.code == 2 && answer.err.contains("its run carries them out"), "{answer:?}");
}

/// A program that counts its tests, and whether they pass.
const TESTS: &str = "echo 1..1; if [ -f cart.rs ]; then echo ok 1; else echo not ok 1; fi";

#[test]
fn a_criterion_that_asks_for_more_than_a_word_passes_with_what_countersign_saw_itself() {
    let shows =
        |kind: &str, status: &str| json!([{ "criterion": "AC-2", "kind": kind, "status": status, "says": "12 tests" }]);
    for (evidence, checked, wanted) in [
        (None, false, 2),
        (Some(shows("statement", "PASS")), false, 2),
        (Some(shows("test", "FAIL")), false, 2),
        // Whoever validates can write down what they like.
        (Some(shows("test", "PASS")), false, 2),
        (None, true, 0),
        (Some(shows("test", "PASS")), true, 0),
        // What they saw fail counts all the same.
        (Some(shows("test", "FAIL")), true, 2),
    ] {
        let house = project();
        house.write("checks.yaml", "AC-2: {test: [sh, tests.sh]}\n");
        let set_down: &[&str] = if checked { &["--checks", "checks.yaml"] } else { &[] };
        promised(&house, &[&["--evidence-kind", "statement", "test"], set_down].concat());
        response(&house, ["PASS", "PASS"]);
        let mut arguments = validate("reviewer-1", "reviewer-1").to_vec();
        if let Some(evidence) = &evidence {
            house.write("evidence.json", evidence.to_string());
            arguments.extend(["--evidence", "evidence.json"]);
        }
        if checked {
            looked_at(&house, "PARTIAL");
        }
        done(house.run(&arguments));
        assert_eq!(check(&house, &[ID]).0, wanted, "{evidence:?} {checked}");
    }
    let house = project();
    let create = ["promise", "create", "--title", "t", "--criterion", "a", "b", "c", "--evidence-kind"];
    for kinds in [&["test", "file"][..], &["word"]] {
        assert_eq!(house.run(&[&create, kinds].concat()).code, 2, "{kinds:?}");
    }
}
