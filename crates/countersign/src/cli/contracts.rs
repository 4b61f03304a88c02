//! `countersign contracts`

use super::output::Format;
use super::{Exit, output};
use crate::project::Project;
use serde_json::json;

/// List the contracts, with the keys that tell each from the others
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign contracts
  countersign contracts --reference assignment")]
pub struct Args {
    /// Print the reference page of this contract, in Markdown
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,

    /// How the list is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    if let Some(name) = &args.reference {
        let Some(contract) = find(name) else { return Ok(Exit::Usage) };
        output::print(&countersign_contract::reference::page(contract));
        return Ok(Exit::Allowed);
    }
    let ours = countersign_domain::contracts();
    if args.format == Format::Json {
        let mut list: Vec<_> = ours
            .iter()
            .map(|it| {
                let forms: Vec<_> = it.forms.iter().map(|form| form.as_str()).collect();
                json!({
                    "contract": it.name, "version": it.version, "domain": it.domain, "summary": it.summary,
                    "marks": it.marks, "forms": forms, "rules": (it.rules)().len(),
                })
            })
            .collect();
        list.extend(
            project.foreign.iter().map(|it| json!({ "contract": it.name, "domain": "configured", "marks": it.marks })),
        );
        output::print(&format!("{:#}\n", json!(list)));
        return Ok(Exit::Allowed);
    }
    let mut out = String::new();
    for it in ours {
        let marks = it.marks.join(", ");
        out.push_str(&format!("{:<24} {:<6} {:<30} {}\n", it.name, it.version, marks, it.summary));
    }
    for it in &project.foreign {
        let marks = if it.marks.is_empty() { "(only when named)".to_owned() } else { it.marks.join(", ") };
        out.push_str(&format!("{:<24} {:<6} {marks:<30} declared in the configuration\n", it.name, ""));
    }
    output::print(&out);
    Ok(Exit::Allowed)
}

/// The built-in contract by its name; says what there is if there is none.
pub fn find(name: &str) -> Option<&'static countersign_contract::ContractInfo> {
    let found = countersign_domain::contract(name);
    if found.is_none() {
        say_none_of(name, &countersign_domain::contracts().iter().map(|it| it.name).collect::<Vec<_>>());
    }
    found
}

/// Whether a contract is built in or declared in the configuration.
pub fn is_known(name: &str, project: &Project) -> bool {
    countersign_domain::contract(name).is_some() || project.foreign.iter().any(|it| it.name == name)
}

/// Says that there is no such contract, and which there are.
pub fn say_unknown(name: &str, project: &Project) {
    let ours = countersign_domain::contracts().iter().map(|it| it.name);
    say_none_of(name, &ours.chain(project.foreign.iter().map(|it| it.name.as_str())).collect::<Vec<_>>());
}

fn say_none_of(name: &str, known: &[&str]) {
    let near = countersign_contract::nearest(name, known).map(|near| format!("did you mean `{near}`? "));
    let near = near.unwrap_or_default();
    let name = countersign_contract::show(name);
    output::say(&format!("error: there is no contract `{name}`; {near}known are {}", known.join(", ")));
}
