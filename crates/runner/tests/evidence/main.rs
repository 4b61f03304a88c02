//! Checks that are carried out for real: programs, files, ports and servers on this machine.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod answers;
mod counts;
mod files;
mod pins;
mod programs;

use countersign_contract::diagnostic::Source;
use countersign_contract::serde_json::Value;
use countersign_contract::{Checker, Settings};
use countersign_domain::plan::payload::Check;

/// A check as a plan has it.
fn check(json: &Value) -> Check {
    let settings = Settings::default();
    let checker = Checker { contracts: &[], foreign: &[], settings: &settings, raised: &[] };
    let text = json.to_string();
    let source = Source { name: "check.json", text: &text };
    countersign_contract::check::read(&checker, source).unwrap_or_else(|decision| panic!("{json}: {decision:?}"))
}
