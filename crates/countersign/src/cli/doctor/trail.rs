//! Whether the entries of the audit trail lie in the repository as the ledger has them.

use super::Visit;
use crate::cli::Global;
use crate::client::{self, Client};
use crate::project::Project;
use countersign_runner::delegate::entry::{self, Lies};
use serde_json::{Value, json};
use std::path::Path;

const WHAT: &str = "audit entries";

impl Visit {
    /// Compares the files with the ledger. What is not there may be on another branch, and nobody misses it.
    pub(super) fn trail(&mut self, project: &Project, global: &Global) {
        let Some(root) = project.tree_root() else { return };
        let Some(first) = entry::first_day(&root) else { return };
        // What keeps the ledger from being asked was said.
        if client::must_be_local(project, global).is_err() {
            return;
        }
        let Ok(client) = Client::open(project, global) else { return };
        let shown = match client.look("delegation.entries", &json!({ "since": first })) {
            Ok(shown) => shown,
            Err(_) => return self.bad(WHAT, "the ledger does not say which it has"),
        };
        let (mut fine, before) = (0, self.faults);
        for row in shown["entries"].as_array().into_iter().flatten() {
            let question = json!({ "instruction_id": row["instruction_id"] });
            let Ok(found) = client.look("delegation.show", &question) else { continue };
            // One that was erased cannot be compared.
            let text = found["audit_entry"].as_str().unwrap_or_default();
            if let Ok(entry) = serde_json::from_str::<Value>(text) {
                fine += usize::from(self.entry(&root, &entry));
            }
        }
        if self.faults == before {
            let more = if shown["more"] == true { ", of those that were looked at" } else { "" };
            self.good(WHAT, &format!("{fine} lie in the repository as the ledger has them{more}"));
        }
    }

    /// Whether an entry lies in the repository as it should.
    fn entry(&mut self, root: &Path, entry: &Value) -> bool {
        match entry::lies(root, entry) {
            Ok(Lies::At(_)) => return true,
            Ok(Lies::Nowhere(_)) => {}
            Ok(Lies::Another(path)) if self.fix => match entry::write_aside(root, entry) {
                Ok(aside) => {
                    let done = format!("{} is another copy's; this ledger's is {}", path.display(), aside.display());
                    self.mended(WHAT, &format!("{done}; commit both"));
                }
                Err(why) => self.bad(WHAT, &why),
            },
            Ok(fault) => self.bad(WHAT, &fault.says(entry)),
            Err(why) => self.bad(WHAT, &why),
        }
        false
    }
}
