//! What a code or a rule means, for every door.

use countersign_contract::{RuleInfo, nearest};
use countersign_diagnostic::Code;

/// Explains a code or a rule; if there is none of that name, says which is near. `bold` makes a headline stand out.
pub fn explain(what: &str, bold: impl Fn(&str) -> String) -> Result<String, String> {
    let what = what.trim();
    let rules = countersign_domain::rules();
    if let Some(rule) = rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(what)) {
        return Ok(explain_rule(rule, bold));
    }
    if what.eq_ignore_ascii_case(Code::OK) {
        return Ok(format!(
            "{}\n\nNothing refuses it. Warnings and notes may be listed all the same.\n",
            bold(Code::OK)
        ));
    }
    if let Some(code) = Code::parse(&what.to_ascii_uppercase()) {
        return Ok(explain_code(code, &rules, bold));
    }
    let known: Vec<&str> = rules.iter().map(|rule| rule.id).chain(Code::ALL.iter().map(|code| code.as_str())).collect();
    let near = nearest(what, &known).map(|near| format!("; did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| "; `countersign rules` lists them".to_owned());
    Err(format!("there is no code or rule `{}`{hint}", countersign_contract::show(what)))
}

fn explain_rule(rule: &RuleInfo, bold: impl Fn(&str) -> String) -> String {
    let head = bold(&format!("{}: {}", rule.id, rule.summary));
    let severity = rule.severity.as_str();
    // Doc comments keep the space after the slashes.
    let lines = rule.explanation.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    format!("{head}\n{severity}, leads to {}, contract {}\n\n{}\n", rule.code, rule.contract, text.trim())
}

fn explain_code(code: Code, rules: &[&RuleInfo], bold: impl Fn(&str) -> String) -> String {
    let mut out = format!("{}\n\n{}\n\nRules that lead to it:\n\n", bold(code.as_str()), code.meaning());
    for rule in rules.iter().filter(|rule| rule.code == code) {
        out.push_str(&format!("  {:<44} {}\n", rule.id, rule.summary));
    }
    if rules.iter().all(|rule| rule.code != code) {
        out.push_str("  none yet: it is decided when work is done, not when a document is checked\n");
    }
    out
}
