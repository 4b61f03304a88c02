//! A judge that is asked over HTTP: it reads the promise, the evidence and the validation, and answers PASS, WARN or FAIL.
//!
//! ```text
//! Case ─prompt─▶ system, user ─form─▶ request ─line─▶ response ─form─▶ text ─read─▶ Verdict
//!                                        ▲                 │
//!                                        └──── again ──────┘  at most four times, within the patience
//! ```
//!
//! How the endpoint talks is told by the end of its path: `/messages` is Anthropic's form, `/chat/completions` and
//! `/responses` are OpenAI's. Anything else is refused before a byte is sent.
//!
//! **Invariant:** there is no verdict but one that the judge gave, in the form that was asked for. Silence, refusal, a cut
//! answer and an answer that says anything else are [`Unreachable`], and never PASS.
//! **Invariant:** the key goes to the endpoint alone: over TLS or to this machine, never after a redirect, and into no
//! message.
//! **Absent on purpose:** what a verdict leads to.

mod ask;
mod form;
mod line;
mod prompt;
mod read;
mod wait;

pub use ask::ask;
pub use prompt::prompt;
pub use read::read;

use std::time::Duration;

/// What is judged. All of it came from elsewhere and is shown to the judge as data.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// What it is called.
    pub title: &'a str,
    /// What was promised: the id of each criterion, and its words.
    pub criteria: &'a [(String, String)],
    /// What the worker says of its work.
    pub claim: &'a str,
    /// What the validation found, as JSON.
    pub validation: &'a str,
    /// What was seen when the evidence was tried, as JSON.
    pub evidence: &'a str,
    /// What the work changed in tests.
    pub test_edits: &'a str,
}

/// What a judge can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The promise is kept.
    Pass,
    /// It is kept, with something that a person should know.
    Warn,
    /// It is not kept, or not shown to be.
    Fail,
}

impl Verdict {
    /// The verdict that a word means, if it is exactly one of them.
    pub fn parse(word: &str) -> Option<Self> {
        [Verdict::Pass, Verdict::Warn, Verdict::Fail].into_iter().find(|verdict| verdict.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Warn => "WARN",
            Verdict::Fail => "FAIL",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

/// A verdict, and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What the judge says.
    pub verdict: Verdict,
    /// Why, at most [`REASONING_MAX`] letters, without secrets. Text from elsewhere, like everything that was judged.
    pub reasoning: String,
    /// The model that answered, in the endpoint's words.
    pub model: String,
    /// How much was read, over all attempts that said so.
    pub input_tokens: u64,
    /// How much was written, likewise.
    pub output_tokens: u64,
    /// How often the endpoint was asked.
    pub attempts: u32,
    /// How long asking and waiting took.
    pub took: Duration,
}

/// There is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// What went wrong last, and what to do; without the key and without secrets.
    pub why: String,
    /// How often the endpoint was asked.
    pub attempts: u32,
    /// How much was read all the same, over all attempts that said so.
    pub input_tokens: u64,
    /// How much was written, likewise.
    pub output_tokens: u64,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let times = if self.attempts == 1 { "attempt" } else { "attempts" };
        write!(out, "no verdict after {} {times}: {}", self.attempts, self.why)
    }
}

impl std::error::Error for Unreachable {}

/// How many letters of reasoning are kept.
pub const REASONING_MAX: usize = 4000;

/// Text without its secrets, with control characters made visible, and cut. Secrets go first: half of one is no longer
/// known for one.
fn clean(text: &str, max: usize) -> String {
    let redacted = countersign_contract::scan::redact(text);
    let text = redacted.as_deref().unwrap_or(text);
    let mut out = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == max {
            out.pop();
            out.push('…');
            break;
        }
        if letter.is_control() && !matches!(letter, '\n' | '\t') {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    out
}
