//! The pages about runs and gates are true: their programs and plans do what is said of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::Yard;
use std::path::Path;

/// The fenced blocks of a kind in the part of a page that has this heading.
fn blocks(page: &str, heading: &str, kind: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let page = std::fs::read_to_string(page).unwrap();
    let (_, part) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let part = part.split("\n## ").next().unwrap();
    let opening = format!("\n```{kind}\n");
    part.split(opening.as_str()).skip(1).map(|block| format!("{}\n", block.split("\n```").next().unwrap())).collect()
}

/// The project of the first run, with its plan, which may be changed.
fn first_run(more: &[(&str, &str)], change: impl FnOnce(String) -> String) -> Yard {
    let yard = Yard::bare("");
    let one = |kind: &str| blocks("run.md", "A first run", kind).remove(0);
    yard.write("tests/round.sh", &one("sh"));
    yard.write("billing/round.sh", "echo \"$1\"\n");
    yard.write("agents/coder.py", &one("python"));
    yard.write("plan.yaml", &change(one("yaml")));
    for (name, text) in more {
        yard.write(name, text);
    }
    yard.git(&["init", "--quiet", "--initial-branch=main"]);
    yard.init();
    yard.commit("Begin");
    yard
}

#[test]
fn the_first_run_says_what_the_page_shows() {
    let yard = first_run(&[], |plan| plan);
    let answer = yard.run(&["run", "plan.yaml"]);
    for words in [
        "T-1: coder works, attempt 1, lease ",
        "T-1: | working on T-1\n",
        "T-1: claims to be done, 1 file changed\n",
        "T-1: AC-1 test pass: TAP counts 2 passed, 0 failed and 0 skipped\n",
        "T-1: AC-2 file pass: `billing/round.sh` is there with 63 bytes, and is what it should be\n",
        "T-1: PASS by builtin\n",
        "T-1: landed as ",
        "T-1: done (verified)\n",
    ] {
        answer.says(words);
    }
    answer.ended(0);
}

#[test]
fn the_validator_and_the_judge_of_the_page_are_heard() {
    let [reviewer] = <[String; 1]>::try_from(blocks("gates.md", "How a validator answers", "python")).unwrap();
    let [arbiter] = <[String; 1]>::try_from(blocks("gates.md", "How a judge answers", "python")).unwrap();
    let [who] = <[String; 1]>::try_from(blocks("gates.md", "How a judge answers", "yaml")).unwrap();
    let change = |plan: String| {
        let (before, rest) = plan.split_once("agents:\n").unwrap();
        let (_, tasks) = rest.split_once("tasks:\n").unwrap();
        format!("{before}{who}tasks:\n{tasks}")
    };
    let yard = first_run(&[("agents/reviewer.py", &reviewer), ("agents/arbiter.py", &arbiter)], change);
    let answer = yard.run(&["run", "plan.yaml"]);
    answer.says("T-1: reviewer says PASS").says("T-1: judged PASS by arbiter").says("T-1: done (verified)");
    assert!(!answer.out.contains("was repaired"), "{}", answer.out);
    answer.ended(0);
    let run = yard.runs()[0].clone();
    yard.run(&["gate", "status", "T-1", "--run", &run])
        .says("reviewer: PASS, read billing/round.sh")
        .says("1 files were changed");
}
