//! `cargo xtask VERB`: finds the verb and says how it ended.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::main(&arguments)
}
