//! Checking one document, for every door, and showing what was found.

use crate::cli::output;
use crate::project::Project;
use crate::world;
use countersign_contract::{Checked, Checker, Request, check};
use countersign_diagnostic::Source;
use countersign_diagnostic::render::text::{self, Look};
use std::path::Path;

/// Checks a document; if it refers to files, looks for them and checks again with the answer. `document` is where it lies,
/// and empty for one that lies nowhere.
pub fn checked(checker: &Checker<'_>, project: &Project, request: &Request<'_>, document: &Path) -> Checked {
    let first = check(checker, request);
    match world::look_for_files(&first, request.outside, document, project) {
        Some(outside) => check(checker, &Request { outside: &outside, ..*request }),
        None => first,
    }
}

/// Every finding of a check with its place in the document, one after the other. Secrets are covered.
pub fn findings(checked: &Checked, source: Source<'_>, look: Look<'_>) -> String {
    let look = output::look(look, source.text, checked);
    let masked = output::masked(source.text, &checked.decision);
    let source = Source { text: &masked, ..source };
    let diagnostics = checked.decision.details.diagnostics.iter();
    diagnostics.map(|diagnostic| text::diagnostic(diagnostic, source, look) + "\n").collect()
}
