//! The shipped examples: the good ones are allowed, each bad one is refused with the code that is its name.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn decisions(folder: &str) -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["check", "--format", "json", folder])
        .current_dir(root)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn good_examples_are_allowed_and_show_every_contract() {
    let decisions = decisions("examples/good");
    for decision in &decisions {
        assert_eq!(decision["details"]["diagnostics"], Value::Array(Vec::new()), "{decision}");
    }
    for contract in countersign_domain::contracts() {
        let shown = decisions.iter().any(|it| it["details"]["contract"] == contract.name);
        assert!(shown, "no example shows {}", contract.name);
    }
}

#[test]
fn bad_examples_are_refused_with_the_code_in_their_name() {
    let decisions = decisions("examples/bad");
    assert!(decisions.len() >= 17);
    for decision in &decisions {
        let file = Path::new(decision["details"]["file"].as_str().unwrap());
        assert_eq!(file.file_stem().unwrap().to_str(), decision["code"].as_str(), "{decision:#}");
    }
}
