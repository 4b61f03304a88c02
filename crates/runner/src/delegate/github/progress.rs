//! How far an order has come: what was sent, what was answered to that, and what is done.

use super::now;
use super::step::Step;
use crate::delegate::said;
use countersign_domain::delegation::payload::HttpsUrl;
use serde_json::{Value, json};
use std::time::Duration;

/// How much is said of what is done.
const DONE_CHARS_MAX: usize = 800;

/// A request, and the status that it was answered with. None, if no answer came.
#[derive(Clone)]
pub(super) struct Exchange {
    method: &'static str,
    url: String,
    parameters: Value,
    at: String,
    pub(super) status: Option<u16>,
}

impl Exchange {
    /// A request that goes out now.
    pub(super) fn begun(method: &'static str, url: String, body: Option<&Value>) -> Self {
        let parameters = body.cloned().unwrap_or_else(|| json!({}));
        Self { method, url, parameters, at: now(), status: None }
    }

    /// Where it goes.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What it is, in a word and an address.
    pub(super) fn named(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    /// The request as it is recorded.
    pub(super) fn request(&self) -> Value {
        json!({
            "ENDPOINT": self.url, "METHOD": self.method, "PARAMETERS": self.parameters, "TIMESTAMP_UTC": self.at,
        })
    }
}

/// How a step came to be done.
pub(super) enum Taken {
    /// The platform answered that it did it.
    Answered(Value),
    /// It was found done.
    Found(Value),
    /// The platform refused it, since it was so already.
    WasSo(Value),
}

/// What has been done so far of an order.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) waited: Duration,
    /// The last answer, and that to the main step.
    pub(super) last: Value,
    pub(super) main: Value,
    /// The last request that was to change something, and the last that read.
    pub(super) sent: Option<Exchange>,
    pub(super) seen: Option<Exchange>,
    /// What shows that the main step is done: its own request, or the one by which it was found.
    shows: Option<Exchange>,
    pub(super) found: bool,
    /// What is done, a clause for each step.
    done: Vec<String>,
    /// What else is worth knowing.
    notes: Vec<String>,
}

impl Progress {
    /// A step is done.
    pub(super) fn took(&mut self, step: &Step, url: &str, is_main: bool, taken: Taken) {
        let method = step.method;
        let status = self.sent.as_ref().and_then(|it| it.status).unwrap_or_default();
        let (answer, shows) = match taken {
            Taken::Answered(answer) => {
                self.done.push(format!("{method} {url} was answered {status}{}", which(&answer)));
                (answer, self.sent.clone())
            }
            Taken::Found(answer) => {
                self.found = true;
                self.done.push(format!("{method} {url} was found done{}", which(&answer)));
                (answer, self.seen.clone())
            }
            Taken::WasSo(answer) => {
                self.notes.push(format!("{method} {url} was answered {status}: it was so already"));
                (answer, None)
            }
        };
        if is_main {
            self.main = answer.clone();
            self.shows = shows;
        }
        self.last = answer;
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// What shows that it is done: a request with its own status.
    pub(super) fn shown_by(&self) -> Option<&Exchange> {
        self.shows.as_ref().or(self.seen.as_ref())
    }

    /// What is done, if anything is.
    pub(super) fn done(&self) -> Option<String> {
        (!self.done.is_empty()).then(|| self.done.join("; ").chars().take(DONE_CHARS_MAX).collect())
    }

    /// What else is worth knowing, if anything is.
    pub(super) fn notes(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join("; ").chars().take(DONE_CHARS_MAX).collect())
    }
}

/// By what the resource of an answer is known.
fn which(answer: &Value) -> String {
    let number = answer["number"].as_u64().map(|number| format!("number {number}"));
    let number = number.or_else(|| answer["id"].as_u64().map(|id| format!("id {id}")));
    let is_address = |url: &&str| HttpsUrl::parse(url).is_some() && said::told(url, DONE_CHARS_MAX) == **url;
    let url = answer["html_url"].as_str().filter(is_address).map(str::to_owned);
    let all: Vec<String> = number.into_iter().chain(url).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}
