//! How a decision is shown, in each format.

use super::tally::{Outcome, Tally};
use super::{Format, Job};
use crate::checking;
use crate::cli::output;
use crate::gather::Input;
use countersign_contract::{Checked, rules};
use countersign_diagnostic::render::{github, json, sarif, text};
use countersign_diagnostic::{Decision, Details, Diagnostic, Pointer, Source, visible_json};

/// What is decided about a document that is too large to be read: what the parser would say, had it been given one.
pub(super) fn too_large(input: &Input, size_max: usize) -> Checked {
    let rule = &rules::LIMIT_EXCEEDED;
    let finding = Diagnostic {
        rule: rule.id,
        code: rule.code,
        severity: rule.severity,
        message: format!("the document has more than the {size_max} bytes allowed"),
        help:
            "split it, or allow more with --max-size, and with `limits.size` where the project's configuration has it"
                .to_owned(),
        pointer: Pointer::root(),
        span: None,
        labels: Vec::new(),
        repair: None,
    };
    let details = Details { file: input.name.clone(), contract: None, version: None, diagnostics: vec![finding] };
    Checked { decision: Decision::from_findings(details), records: Vec::new(), contract: None, told: false }
}

const NOTHING_FOUND: &str = "nothing to check was found; name a file, or its contract with --contract";

impl Job<'_> {
    pub(super) fn show(&self, checked: &Checked, source: Source<'_>) -> Outcome {
        let decision = &checked.decision;
        let mut sarif = Vec::new();
        let shown = match self.args.format {
            Format::Text => self.text(checked, source),
            Format::Json => format!("{}\n", json::decision(decision, source)),
            Format::Github => github::decision(decision, source),
            Format::Sarif => {
                sarif = decision.details.diagnostics.iter().map(|it| sarif::result(it, source)).collect();
                String::new()
            }
        };
        let code = decision.code.map(|code| code.as_str());
        Outcome::Decided { code, shown, sarif }
    }

    fn text(&self, checked: &Checked, source: Source<'_>) -> String {
        let decision = &checked.decision;
        let mut out = checking::findings(checked, source, self.terminal.look());
        // Of many documents those without findings are only counted.
        if self.inputs.len() == 1 || !decision.details.diagnostics.is_empty() {
            out.push_str(&self.terminal.bold(&text::verdict(decision)));
            out.push('\n');
        }
        out
    }

    pub(super) fn unread(&self, input: &Input, why: &str) -> Outcome {
        let why = format!("`{}` cannot be read: {why}", input.name);
        let shown = match self.args.format {
            Format::Json => {
                let line = serde_json::json!({
                    "allow": false,
                    "code": "SCHEMA_INVALID",
                    "reason": why,
                    "details": { "file": input.name, "contract": null, "version": null, "diagnostics": [] },
                });
                format!("{}\n", visible_json(&line.to_string()))
            }
            Format::Github => github::unread(&input.name, &why),
            Format::Text | Format::Sarif => {
                output::say(&format!("error: {why}"));
                String::new()
            }
        };
        Outcome::Unread { shown, why, file: input.name.clone() }
    }

    /// What is said of all documents together.
    pub(super) fn conclude(&self, tally: &Tally) {
        if self.args.format == Format::Sarif {
            output::print(&self.sarif(tally));
        }
        let one_was_named = self.inputs.len() == 1 && self.inputs.iter().all(|input| !input.found);
        if !one_was_named || tally.has_skipped_links() {
            output::say(&tally.summary());
        }
        if tally.found_nothing() {
            output::say(&format!("error: {NOTHING_FOUND}"));
        }
    }

    fn sarif(&self, tally: &Tally) -> String {
        let rules = countersign_domain::rules();
        let rules: Vec<sarif::Rule<'_>> = rules
            .iter()
            .map(|it| sarif::Rule {
                id: it.id,
                summary: it.summary,
                explanation: it.explanation,
                severity: it.severity,
            })
            .collect();
        let mut notifications = tally.notifications.clone();
        notifications.extend(tally.found_nothing().then(|| sarif::notification(NOTHING_FOUND, None)));
        let invocation = sarif::Invocation { exit_code: tally.exit() as u8, notifications };
        sarif::text(&sarif::log(&rules, tally.sarif.clone(), env!("CARGO_PKG_VERSION"), invocation))
    }
}
