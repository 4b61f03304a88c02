//! Instructions that a plan leaves in files are put into it before a run begins: what a run follows stands in the ledger, word for
//! word, and nobody can change it there.

use crate::checking;
use crate::cli::Exit;
use crate::cli::asking::{Here, wrong};
use crate::cli::output::{self, Format};
use crate::world::{outside, place};
use countersign_contract::{Checked, Contract, Form, Request, parse};
use countersign_diagnostic::{Source, render, visible};
use countersign_domain::delegation::payload::DelegationInstruction;
use serde_json::Value;
use std::path::Path;

/// The plan with every instruction in it; or how it ends, if one of them may not pass.
pub fn written(here: &Here<'_>, plan: String, format: Format) -> anyhow::Result<Result<String, Exit>> {
    let size_max = here.project.settings.size_max;
    // What cannot be read is refused with everything that is wrong with it, by whoever reads it next.
    let read = parse(&plan, Form::of_text(&plan), size_max).map(|document| document.root().to_value());
    let Ok(mut value) = read else { return Ok(Ok(plan)) };
    let mut any = false;
    for task in value["tasks"].as_array_mut().into_iter().flatten() {
        let Some(file) = task["instruction"].as_str().map(str::to_owned) else { continue };
        let id = task["id"].as_str().unwrap_or("a task").to_owned();
        match instruction(here, &id, &file, format)? {
            Ok(instruction) => task["instruction"] = instruction,
            Err(exit) => return Ok(Err(exit)),
        }
        any = true;
    }
    Ok(Ok(if any { value.to_string() } else { plan }))
}

/// An instruction from its file, if it passes.
fn instruction(here: &Here<'_>, task: &str, file: &str, format: Format) -> anyhow::Result<Result<Value, Exit>> {
    let unfit = |why: &str| {
        let shown = visible(file).into_owned();
        wrong(format!("the instruction of {} cannot be used: `{shown}` {why}", visible(task)))
    };
    let Some(root) = here.project.root.as_deref() else { return Err(unfit("belongs to no project")) };
    let found = place(file, &root.join("plan"), here.project).filter(|_| Path::new(file).is_relative());
    let Some(found) = found else { return Err(unfit("leads out of the project; name a file beneath it")) };
    let text = std::fs::read_to_string(&found).map_err(|error| unfit(&format!("cannot be read: {error}")))?;
    let source = Source { name: file, text: &text };
    let seen = outside(None);
    let request = Request { contract: Some(DelegationInstruction::NAME), ..Request::alone(source, &seen) };
    let checker = here.project.checker();
    let checked = checking::checked(&checker, here.project, &request, &root.join("plan"));
    let parsed = parse(&text, request.form(), here.project.settings.size_max);
    match parsed {
        Ok(document) if checked.decision.allow => Ok(Ok(document.root().to_value())),
        _ => {
            refused(&checked, source, format);
            Ok(Err(Exit::Refused))
        }
    }
}

/// Says why a document may not pass, with its secrets covered.
pub fn refused(checked: &Checked, source: Source<'_>, format: Format) {
    match format {
        Format::Json => output::print(&render::json::decision(&checked.decision, source)),
        Format::Text => {
            output::say_rendered(&checking::findings(checked, source, crate::terminal::Terminal::stderr().look()));
            output::say_rendered(&render::text::verdict(&checked.decision));
        }
    }
}
