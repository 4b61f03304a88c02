//! How the binary is linked, so that it starts fast: hooks and checks start it many times a minute.
//!
//! Only where the C compiler of a GNU system is there to be asked; elsewhere it is linked as any other program.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=COUNTERSIGN_PIE");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    let native = env::var("HOST").ok() == env::var("TARGET").ok();
    if native && has_unwinder() {
        // What unwinds the stack becomes part of the program: one library less is looked for, read and bound at each start. It
        // stands before the standard library's own, which is then not needed.
        println!("cargo::rustc-link-lib=dylib=gcc_eh");
    }
    let is_static = env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|it| it.split(',').any(|it| it == "crt-static"));
    if !is("COUNTERSIGN_PIE", "1") && !is_static {
        // The program lies at a fixed address, so that its tables of texts and functions are right as they lie in the file.
        // Otherwise the loader writes some forty thousand addresses at each start, into two hundred pages that are copied for
        // it. Stack, heap and libraries lie at random addresses all the same.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Whether the compiler has the unwinder as an archive. It names a file that it has by its whole path.
fn has_unwinder() -> bool {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output();
    asked.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_absolute())
}
