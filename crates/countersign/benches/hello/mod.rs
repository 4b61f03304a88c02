//! What a program costs that does nothing but start: the peer of everything that is measured cold.

use super::house::House;
use std::path::PathBuf;
use std::process::Command;

/// A program that prints a line.
pub fn program(house: &House) -> PathBuf {
    house.write("hello.rs", "fn main() {\n    println!(\"hello\");\n}\n");
    let program = house.path("hello");
    let made = Command::new("rustc").args(["-O", "-o"]).arg(&program).arg(house.path("hello.rs")).status().unwrap();
    assert!(made.success() && program.exists());
    program
}
