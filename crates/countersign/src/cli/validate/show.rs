//! A response, for people.

use countersign_diagnostic::visible;
use serde_json::Value;

/// The verdict, and each criterion with what was seen.
pub fn text(response: &Value) -> String {
    let word = |at: &str| response[at].as_str().unwrap_or_default();
    let mut out = format!("{} for {}, by {}\n", word("verdict"), word("task_id"), visible(word("validator_id")));
    for result in response["criteria_results"].as_array().into_iter().flatten() {
        let part = |at: &str| visible(result[at].as_str().unwrap_or_default()).into_owned();
        out.push_str(&format!("  {:<7} {}: {}\n", part("status"), part("criterion_id"), part("evidence")));
        let remedy = part("remediation");
        if !remedy.is_empty() {
            out.push_str(&format!("          to do: {remedy}\n"));
        }
    }
    for picture in response.pointer("/evidence_collected/screenshots").and_then(Value::as_array).into_iter().flatten() {
        out.push_str(&format!("  picture: {}\n", visible(picture["path"].as_str().unwrap_or_default())));
    }
    out.push_str(&format!("{}\n", visible(word("reasoning"))));
    out
}
