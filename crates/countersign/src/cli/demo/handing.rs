//! What the honest agent wants the next task to know: more than fits.

use serde_json::{Value, json};

/// How many sums it tried.
const TRIED: u64 = 300;

/// A handoff as an agent drafts it: what matters, and every single thing that it tried.
pub fn draft() -> Value {
    let tried: Vec<String> = (1..=TRIED)
        .map(|n| {
            let (one, other) = (n * 37 % 101, n * 53 % 211);
            format!("I gave it {one} and {other}, and it printed {}, which is right.", one + other)
        })
        .collect();
    json!({
        "summary": "till/sum.sh adds amounts up: one a line on standard input, in cents. A receipt can call it for its total.",
        "working": { "call": "printf '1\\n2\\n' | sh till/sum.sh", "tried": tried.join(" ") },
    })
}

/// What an agent says that was handed something.
pub fn told(assignment: &Value) -> Option<String> {
    let handed = &assignment["x_handoffs"][0];
    let summary = handed.pointer("/handoff/context/summary")?.as_str()?;
    Some(format!("{} tells me: {summary}", handed["from"].as_str()?))
}
