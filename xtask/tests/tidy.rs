//! Holds this workspace to the rules of the house.

use xtask::tidy;

#[test]
fn the_house_is_tidy() {
    let faults = tidy::check_workspace().unwrap_or_else(|message| panic!("{message}"));
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn the_examples_in_the_documents_are_true() {
    let faults = tidy::check_examples().unwrap_or_else(|message| panic!("{message}")).unwrap_or_default();
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}
