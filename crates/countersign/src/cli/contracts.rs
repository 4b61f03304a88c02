//! `countersign contracts`

use super::output::Format;
use super::{Exit, output};
use crate::project::Project;
use countersign_contract::foreign::Foreign;
use countersign_contract::{ContractInfo, Form, show};
use serde_json::{Value, json};

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

/// The forms that a contract of the user's may be written in.
const FORMS: [Form; 4] = [Form::Json, Form::Yaml, Form::JsonLines, Form::Markdown];

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    if let Some(name) = &args.reference {
        return Ok(reference(name, project));
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
        list.extend(project.foreign.iter().map(|it| {
            let forms: Vec<_> = FORMS.iter().map(|form| form.as_str()).collect();
            json!({
                "contract": it.name, "version": null, "domain": "configured", "summary": it.summary(),
                "marks": it.marks, "forms": forms, "rules": 0,
            })
        }));
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
        let summary = it.summary().map_or_else(|| "declared in the configuration".to_owned(), show);
        out.push_str(&format!("{:<24} {:<6} {marks:<30} {summary}\n", it.name, ""));
    }
    output::print(&out);
    Ok(Exit::Allowed)
}

fn reference(name: &str, project: &Project) -> Exit {
    if let Some(contract) = countersign_domain::contract(name) {
        output::print(&countersign_contract::reference::page(contract));
        return Exit::Allowed;
    }
    if is_known(name, project) {
        let why = "is declared in the configuration and has no reference page";
        output::say(&format!("error: `{}` {why}; `countersign schema {0}` prints its schema", show(name)));
    } else {
        say_unknown(name, project);
    }
    Exit::Usage
}

/// A contract that somebody named.
#[derive(Debug)]
pub enum Named {
    /// One that is built in.
    Ours(&'static ContractInfo),
    /// One that the configuration declares.
    Declared(Box<Foreign>),
}

impl Named {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Named::Ours(contract) => contract.name,
            Named::Declared(contract) => &contract.name,
        }
    }

    /// The forms that it may be written in.
    pub fn forms(&self) -> &'static [Form] {
        match self {
            Named::Ours(contract) => contract.forms,
            Named::Declared(_) => &FORMS,
        }
    }

    /// Whether a root key is one of those that tell it from the others.
    pub fn has_mark(&self, key: &str) -> bool {
        match self {
            Named::Ours(contract) => contract.marks.contains(&key),
            Named::Declared(contract) => contract.marks.iter().any(|mark| mark == key),
        }
    }

    /// The JSON Schema document.
    pub fn schema(&self) -> Value {
        match self {
            Named::Ours(contract) => (contract.schema)(),
            Named::Declared(contract) => contract.schema().clone(),
        }
    }

    /// A valid document; says so if there is none to be had.
    pub fn example(&self) -> Option<Value> {
        let found = match self {
            Named::Ours(contract) => Some((contract.example)()),
            Named::Declared(contract) => contract.example(),
        };
        if found.is_none() {
            let why = "has no example that it accepts, and none can be put together from it";
            output::say(&format!("error: the schema of `{}` {why}; add one to its `examples`", show(self.name())));
        }
        found
    }

    /// Brings what a document says about itself up to date.
    pub fn seal(&self, document: &mut Value) {
        if let Named::Ours(contract) = self {
            (contract.seal)(document);
        }
    }
}

/// The contract by its name; says what there is if there is none. The configuration is not asked for a built-in one, which
/// can so be had even while that is broken.
pub fn find(name: &str, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Option<Named>> {
    if let Some(contract) = countersign_domain::contract(name) {
        return Ok(Some(Named::Ours(contract)));
    }
    let mut project = project()?;
    let Some(index) = project.foreign.iter().position(|it| it.name == name) else {
        say_unknown(name, &project);
        return Ok(None);
    };
    Ok(Some(Named::Declared(Box::new(project.foreign.swap_remove(index)))))
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
    let name = show(name);
    output::say(&format!("error: there is no contract `{name}`; {near}known are {}", known.join(", ")));
}
