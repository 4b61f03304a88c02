//! The payload of a handoff, put together from parts.

use serde_json::{Map, Value, json};

/// The tiers of a payload.
const TIERS: [&str; 3] = ["working", "session", "references"];

/// A payload with nothing in it.
pub fn empty() -> Value {
    json!({ "working": {} })
}

/// Adds a part to a payload: an object that has nothing but tiers to those, another object to the working payload, and
/// anything else to the working payload under its name.
///
/// # Errors
/// Two parts say something else under one name, so that they are not both right.
pub fn add(payload: &mut Value, part: Value, name: &str) -> Result<(), String> {
    let whole = |object: &Map<String, Value>| object.keys().all(|key| TIERS.contains(&key.as_str()));
    match part {
        Value::Object(object) if !object.is_empty() && whole(&object) => {
            for (tier, part) in object {
                if payload[&tier].is_null() {
                    payload[&tier] = json!({});
                }
                join(&mut payload[&tier], part, name)?;
            }
            Ok(())
        }
        Value::Object(object) => join(&mut payload["working"], Value::Object(object), name),
        other => {
            let own = name.rsplit(['/', '\\']).next().unwrap_or(name);
            let own = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
            let own = if own.is_empty() { "payload" } else { own };
            join(&mut payload["working"], json!({ own: other }), name)
        }
    }
}

/// Adds the members of one object to another.
fn join(into: &mut Value, part: Value, name: &str) -> Result<(), String> {
    let (Some(into), Value::Object(part)) = (into.as_object_mut(), part) else {
        return Err(format!("`{name}` has a part of the payload that is no object"));
    };
    for (key, value) in part {
        match into.get(&key) {
            Some(before) if *before != value => {
                return Err(format!("`{name}` has `{key}`, which another payload has with another content"));
            }
            _ => {
                into.insert(key, value);
            }
        }
    }
    Ok(())
}
