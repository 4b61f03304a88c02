//! How the binary is linked.
//!
//! It has some 40,000 addresses that are set when it is started, before it does anything. In the packed form they take a
//! thirtieth of the space, and what reads them, which a small check waits for, is done sooner. The loader of glibc knows that
//! form from 2.36 on, and so it is used where the binary is built on such a system, for itself.

use std::process::Command;

/// The first version of glibc, below 2, that knows it.
const KNOWS_PACKED: u32 = 36;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if is_for_this_system() && glibc().is_some_and(|minor| minor >= KNOWS_PACKED) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn is_for_this_system() -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    variable("HOST") == variable("TARGET") && variable("CARGO_CFG_TARGET_ENV") == "gnu"
}

/// The second number of this system's version, such as 36 of 2.36.
fn glibc() -> Option<u32> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    said.trim().strip_prefix("glibc 2.")?.split('.').next()?.parse().ok()
}
