//! What must hold for every input, as plain functions that panic when it does not.
//!
//! [`json`] and [`yaml`] hold the parsers to their promises, [`check`] the whole road of a check with every contract of
//! the domains. How inputs are come by is not their business: `src/main.rs` makes them from a seed, libFuzzer from
//! coverage.

mod check;
mod document;
mod json;
pub mod mutate;
pub mod seeds;
mod yaml;

pub use check::check;
pub use json::json;
pub use yaml::yaml;

/// A fuzz target: takes any bytes, and panics if a promise is broken.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: &[(&str, Target)] = &[("json", json), ("yaml", yaml), ("check", check)];

/// How many bytes an input may have for the parsers here. Low enough that the limit itself is met.
const SIZE_MAX: usize = 64 * 1024;

/// The text of an input; none if it is not UTF-8, which must have been noticed at the right byte.
fn text(bytes: &[u8]) -> Option<&str> {
    match countersign_contract::utf8(bytes) {
        Ok(text) => Some(text),
        Err(fault) => {
            assert!(std::str::from_utf8(&bytes[..fault.span.start]).is_ok(), "the fault is after the first bad byte");
            None
        }
    }
}
