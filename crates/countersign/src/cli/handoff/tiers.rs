//! The payload of a handoff, from files.

use crate::cli::asking::{Here, wrong};
use crate::gather::Input;
use countersign_contract::{Form, parse};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The tiers of a payload.
const TIERS: [&str; 3] = ["working", "session", "references"];

/// Puts the payload together from the files that were named.
pub fn of(files: &[PathBuf], here: &Here<'_>) -> anyhow::Result<Value> {
    let mut payload = Map::new();
    payload.insert("working".to_owned(), json!({}));
    for path in files {
        let input = Input::named(path, None);
        let text = input.text(here.project.settings.size_max)?;
        let form = Form::of_name(&input.name).filter(|form| matches!(form, Form::Json | Form::Yaml));
        let read = form.map(|form| parse(&text, form, here.project.settings.size_max));
        let read = match read {
            Some(Ok(document)) => Some(document.root().to_value()),
            Some(Err(fault)) => anyhow::bail!("`{}` cannot be read: {}", input.name, fault.message),
            None => None,
        };
        let whole = |object: &Map<String, Value>| object.keys().all(|key| TIERS.contains(&key.as_str()));
        match read {
            Some(Value::Object(object)) if !object.is_empty() && whole(&object) => {
                for (tier, part) in object {
                    join(payload.entry(tier).or_insert_with(|| json!({})), part, &input.name)?;
                }
            }
            Some(Value::Object(object)) => join(&mut payload["working"], Value::Object(object), &input.name)?,
            other => {
                let name = path.file_stem().map_or("payload".into(), |stem| stem.to_string_lossy());
                let one = json!({ name: other.unwrap_or_else(|| json!(text)) });
                join(&mut payload["working"], one, &input.name)?;
            }
        }
    }
    Ok(Value::Object(payload))
}

/// Adds the members of one object to another. Two files that say something else under one name are not both right.
fn join(into: &mut Value, part: Value, name: &str) -> anyhow::Result<()> {
    let (Some(into), Value::Object(part)) = (into.as_object_mut(), part) else {
        return Err(wrong(format!("`{name}` has a part of the payload that is no object")));
    };
    for (key, value) in part {
        match into.get(&key) {
            Some(before) if *before != value => {
                return Err(wrong(format!("`{name}` has `{key}`, which another payload has with another content")));
            }
            _ => {
                into.insert(key, value);
            }
        }
    }
    Ok(())
}
