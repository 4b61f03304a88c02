//! The JSON parsers, beside `serde_json` as a second opinion.

use crate::document::{holds, refuses, same};
use crate::{SIZE_MAX, text};
use countersign_contract::fault::{Fault, FaultKind};
use countersign_contract::{Form, parse};
use serde_json::Value;

/// JSON and JSON Lines.
pub fn json(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    // A byte order mark is allowed here, and not there.
    let peer = serde_json::from_str::<Value>(text.strip_prefix('\u{feff}').unwrap_or(text));
    match (parse(text, Form::Json, SIZE_MAX), peer) {
        (Ok(document), Ok(value)) => {
            assert!(same(&document.root().to_value(), &value), "serde_json reads another value");
            holds(&document);
        }
        (Ok(_), Err(error)) => panic!("serde_json refuses what is accepted here: {error}"),
        (Err(fault), Ok(_)) => {
            assert!(is_ours_alone(text, &fault), "serde_json accepts what is refused here: {}", fault.message);
            refuses(text, &fault);
        }
        (Err(fault), Err(_)) => refuses(text, &fault),
    }
    match parse(text, Form::JsonLines, SIZE_MAX) {
        Ok(document) => holds(&document),
        Err(fault) => refuses(text, &fault),
    }
}

/// What is valid JSON and refused all the same, on purpose: the same key twice, limits of size and depth, and whole
/// numbers, however written, that canonical form would round or write as an integer beyond the exact ones.
fn is_ours_alone(text: &str, fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::DuplicateKey | FaultKind::Limit => true,
        FaultKind::Syntax => {
            let number = text[fault.span.clone()].parse::<f64>();
            number.is_ok_and(|number| number.fract() == 0.0 && number.abs() > 9_007_199_254_740_991.0)
        }
        FaultKind::YamlFeature => false,
    }
}
