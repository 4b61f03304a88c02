//! The payload of a handoff, from files.

use crate::cli::asking::{Here, wrong};
use crate::gather::Input;
use countersign_contract::{Form, parse};
use countersign_runner::handoff::tiers;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Puts the payload together from the files that were named.
pub fn of(files: &[PathBuf], here: &Here<'_>) -> anyhow::Result<Value> {
    let mut payload = tiers::empty();
    for path in files {
        let input = Input::named(path, None);
        let text = input.text(here.project.settings.size_max)?;
        let form = Form::of_name(&input.name).filter(|form| matches!(form, Form::Json | Form::Yaml));
        let read = form.map(|form| parse(&text, form, here.project.settings.size_max));
        let part = match read {
            Some(Ok(document)) => document.root().to_value(),
            Some(Err(fault)) => anyhow::bail!("`{}` cannot be read: {}", input.name, fault.message),
            None => json!(text),
        };
        tiers::add(&mut payload, part, &input.name).map_err(wrong)?;
    }
    Ok(payload)
}
