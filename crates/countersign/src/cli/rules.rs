//! `countersign rules`

use super::output::Format;
use super::{Exit, output};
use serde_json::json;

/// List every rule with its code, severity, contract and summary
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign rules
  countersign rules --contract assignment
  countersign rules --format json")]
pub struct Args {
    /// Only the rules of this contract; `any` for those that hold everywhere
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,

    /// How the list is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let wanted = |contract: &str| args.contract.as_deref().is_none_or(|wanted| wanted == contract);
    let rules: Vec<_> = countersign_domain::rules().into_iter().filter(|rule| wanted(rule.contract)).collect();
    if rules.is_empty() {
        let name = args.contract.as_deref().unwrap_or_default();
        let help = "`countersign contracts` lists them; those of a project's own have a schema and no rules";
        output::say(&format!("error: no rule is of contract `{}`; {help}", countersign_contract::show(name)));
        return Ok(Exit::Usage);
    }
    if args.format == Format::Json {
        let list: Vec<_> = rules
            .iter()
            .map(|rule| {
                let domain = countersign_domain::contract(rule.contract).map_or("any", |it| it.domain);
                json!({
                    "rule": rule.id,
                    "code": rule.code,
                    "severity": rule.severity,
                    "domain": domain,
                    "contract": rule.contract,
                    "summary": rule.summary,
                })
            })
            .collect();
        output::print(&format!("{:#}\n", json!(list)));
        return Ok(Exit::Allowed);
    }
    let mut contract = "";
    let mut out = String::new();
    for rule in &rules {
        if rule.contract != contract {
            contract = rule.contract;
            let title = if contract == "any" { "every contract" } else { contract };
            out.push_str(&format!("{}{title}\n", if out.is_empty() { "" } else { "\n" }));
        }
        let severity = rule.severity.as_str();
        out.push_str(&format!("  {:<44} {severity:<8} {:<24} {}\n", rule.id, rule.code.as_str(), rule.summary));
    }
    output::print(&out);
    Ok(Exit::Allowed)
}
