//! `countersign example`

use super::contracts::Named;
use super::{Exit, contracts, output};
use crate::project::Project;
use countersign_contract::{Checker, ContractInfo, Form, Outside, Request, Settings, check};
use countersign_diagnostic::{Pointer, Repair, Source};
use serde_json::Value;

/// Print the smallest valid document of a contract
///
/// Of a contract that the configuration declares, it is the first of its schema's `examples` that the schema accepts, or
/// else one put together from what the schema asks for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign example assignment
  countersign example subagent_result | countersign check -")]
pub struct Args {
    /// The contract
    name: String,
}

pub fn run(args: &Args, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name, project)? else { return Ok(Exit::Usage) };
    let example = match &contract {
        Named::Ours(contract) => Some(smallest(contract)),
        declared => declared.example(),
    };
    let Some(example) = example else { return Ok(Exit::Failed) };
    output::print(&format!("{example:#}\n"));
    Ok(Exit::Allowed)
}

/// The example of a contract without everything that can be left out, as long as nothing is found in what is left. `new`
/// begins with all of it, since a list without an item does not show what belongs there.
fn smallest(contract: &ContractInfo) -> Value {
    let mut document = (contract.example)();
    (contract.seal)(&mut document);
    loop {
        let mut places = Vec::new();
        find_places(&document, &Pointer::root(), &mut places);
        // What lies deeper or further on goes first, so that no place moves before its turn.
        let less = places.into_iter().rev().find_map(|place| without(&document, place, contract));
        match less {
            Some(less) => document = less,
            None => return document,
        }
    }
}

/// The document without what is at a place, if it is still one.
fn without(document: &Value, place: Pointer, contract: &ContractInfo) -> Option<Value> {
    let mut less = document.clone();
    Repair::remove(place, "").apply(&mut less);
    (contract.seal)(&mut less);
    passes(&less, contract).then_some(less)
}

fn find_places(value: &Value, at: &Pointer, found: &mut Vec<Pointer>) {
    let mut child = |place: Pointer, value: &Value| {
        found.push(place.clone());
        find_places(value, &place, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| child(at.clone().key(key), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| child(at.clone().item(index), item)),
        _ => {}
    }
}

fn passes(document: &Value, contract: &ContractInfo) -> bool {
    let (text, settings, outside) = (document.to_string(), Settings::default(), Outside::default());
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
    let source = Source { name: "example.json", text: &text };
    let checked = check(&checker, &Request { form: Some(Form::Json), ..Request::alone(source, &outside) });
    let told = checked.contract.is_some_and(|told| told.name == contract.name);
    told && checked.decision.details.diagnostics.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_left_out_of_an_example() {
        for contract in countersign_domain::contracts() {
            let example = smallest(contract);
            assert!(passes(&example, contract), "{}: {example:#}", contract.name);
            let mut places = Vec::new();
            find_places(&example, &Pointer::root(), &mut places);
            for place in places {
                assert_eq!(without(&example, place.clone(), contract), None, "{}: {place}", contract.name);
            }
        }
    }

    #[test]
    fn what_is_optional_is_no_part_of_an_example() {
        for (name, absent) in [("assignment", "/task/priority"), ("subagent_result", "/changes/0/evidence")] {
            let Some(contract) = countersign_domain::contract(name) else { unreachable!() };
            assert!((contract.example)().pointer(absent).is_some(), "{name}");
            assert_eq!(smallest(contract).pointer(absent), None, "{name}");
        }
    }
}
