//! The table of commands: everything that can change something.

use countersign_domain::deciding::Command;
use countersign_domain::project::{Erase, Init, Keep};

/// A command as doors show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// What it does, in the imperative.
    pub summary: &'static str,
}

/// Every command there is.
pub const COMMANDS: &[Spec] = &[
    Spec { name: Init::NAME, summary: "Begin a project's ledger" },
    Spec { name: Keep::NAME, summary: "Keep a checked payload as evidence" },
    Spec { name: Erase::NAME, summary: "Empty the texts of an event, for a reason" },
];
