//! `countersign explain`

use super::{Exit, output};
use crate::terminal::Terminal;
use countersign_contract::{RuleInfo, nearest};
use countersign_diagnostic::Code;

/// Explain a code or a rule: why it is there, what it refuses and what it accepts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign explain LOCK_CONFLICT
  countersign explain heartbeat-not-below-timeout")]
pub struct Args {
    /// A code such as SCOPE_VIOLATION, or the id of a rule
    #[arg(value_name = "CODE|RULE")]
    what: String,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let what = args.what.trim();
    let rules = countersign_domain::rules();
    if let Some(rule) = rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(what)) {
        output::print(&explain_rule(rule));
        return Ok(Exit::Allowed);
    }
    if let Some(code) = Code::parse(&what.to_ascii_uppercase()) {
        output::print(&explain_code(code, &rules));
        return Ok(Exit::Allowed);
    }
    let known: Vec<&str> = rules.iter().map(|rule| rule.id).chain(Code::ALL.iter().map(|code| code.as_str())).collect();
    let near = nearest(what, &known).map(|near| format!("; did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| "; `countersign rules` lists them".to_owned());
    output::say(&format!("error: there is no code or rule `{}`{hint}", countersign_contract::show(what)));
    Ok(Exit::Usage)
}

fn explain_rule(rule: &RuleInfo) -> String {
    let terminal = Terminal::stdout();
    let head = terminal.bold(&format!("{}: {}", rule.id, rule.summary));
    let severity = rule.severity.as_str();
    // Doc comments keep the space after the slashes.
    let lines = rule.explanation.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    format!("{head}\n{severity}, leads to {}, contract {}\n\n{}\n", rule.code, rule.contract, text.trim())
}

fn explain_code(code: Code, rules: &[&RuleInfo]) -> String {
    let terminal = Terminal::stdout();
    let mut out = format!("{}\n\n{}\n\nRules that lead to it:\n\n", terminal.bold(code.as_str()), code.meaning());
    for rule in rules.iter().filter(|rule| rule.code == code) {
        out.push_str(&format!("  {:<44} {}\n", rule.id, rule.summary));
    }
    if rules.iter().all(|rule| rule.code != code) {
        out.push_str("  none yet: it is decided when work is done, not when a document is checked\n");
    }
    out
}
