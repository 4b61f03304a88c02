//! What is sent for an action: steps, each with how it is found out whether it was done.

use super::line::Reply;
use super::mentions;
use super::pages::{self, Listed, Page};
use serde_json::Value;

/// Reads a path: the status, and what is there.
pub(super) type Reading<'a> = dyn Fn(&str) -> Result<Page, String> + 'a;
/// Finds out whether a step was done, and gives what shows it. An error means that it cannot be told.
pub(super) type Probe = Box<dyn Fn(&Reading<'_>) -> Result<Option<Value>, Blind>>;

/// Why it cannot be told whether a step was done.
pub(super) enum Blind {
    /// The platform could not be read; later it may be.
    Unread(String),
    /// It was read, and what is there may be this step's or another's; looking again tells no more.
    Unclear(String),
}

impl From<String> for Blind {
    fn from(why: String) -> Self {
        Self::Unread(why)
    }
}

/// Finds a value in another.
pub(super) type Find = Box<dyn Fn(&Value) -> Option<Value>>;

/// What is at a path is as it should be.
pub(super) fn state(path: String, is: impl Fn(&Value) -> bool + 'static) -> Probe {
    Box::new(move |read| {
        let Page { status, body, .. } = read(&path)?;
        Ok(Some(body).filter(|body| status < 300 && is(body)))
    })
}

/// Something in a list is as it should be. A list has pages, and all are looked at, up to one with something that is `past` what
/// is looked for.
pub(super) fn listed(
    path: String,
    is: impl Fn(&Value) -> bool + 'static,
    past: impl Fn(&Value) -> bool + 'static,
) -> Probe {
    Box::new(move |read| {
        let look = |items: &[Value], _: &Value| match items.iter().find(|it| is(it)) {
            Some(found) => Some(Listed::Found(found.clone())),
            None if items.last().is_some_and(&past) => Some(Listed::Nothing),
            None => None,
        };
        match pages::through(read, &path, None, look) {
            Ok(Listed::Found(found)) => Ok(Some(found)),
            Ok(Listed::Nothing | Listed::Refused) => Ok(None),
            Err(Blind::Unclear(why)) => Err(Blind::Unclear(format!("whether it was done is not known: {why}"))),
            Err(unread) => Err(unread),
        }
    })
}

/// Everything that is sent for an action.
pub(super) struct Order {
    /// The steps, in order.
    pub(super) steps: Vec<Step>,
    /// Which of them the action is about: that is the request on record.
    pub(super) main: usize,
    /// What is read at the end as the resource; the answer to the main step, if it is not said.
    pub(super) shows: Option<String>,
}

/// One request.
pub(super) struct Step {
    pub(super) method: &'static str,
    /// `{number}` stands for that of the main answer, `{head}` for what was looked up.
    pub(super) path: String,
    pub(super) body: Option<Value>,
    pub(super) probe: Probe,
    /// Whether to do it twice is the same as to do it once.
    pub(super) idempotent: bool,
    /// Refusals that mean that it is so already: the status, and a word that the platform says with it.
    tolerates: &'static [(u16, &'static str)],
    /// Whether its answer must have a number, by which what was made is known.
    numbered: bool,
    /// What it takes from elsewhere.
    pub(super) takes: Option<Take>,
    /// Whether the probe must hold afterwards, because the platform takes what it does not do.
    pub(super) looks_after: bool,
}

/// A value that a step takes from elsewhere.
pub(super) struct Take {
    /// The path to look it up at; the last answer, if there is none.
    pub(super) path: Option<String>,
    /// Whether there is a list at that path, each item of which is looked at.
    pub(super) listed: bool,
    /// Where it goes: a field of the body, or in braces a part of the path.
    pub(super) field: &'static str,
    pub(super) find: Find,
    /// What is said if the step falls away without it. None, if it does not.
    pub(super) or_skip: Option<&'static str>,
}

impl Take {
    pub(super) fn looked_up(
        path: String,
        field: &'static str,
        find: impl Fn(&Value) -> Option<Value> + 'static,
    ) -> Self {
        Self { path: Some(path), listed: false, field, find: Box::new(find), or_skip: None }
    }

    /// What the first item of a list has that has it.
    pub(super) fn listed(path: String, field: &'static str, find: impl Fn(&Value) -> Option<Value> + 'static) -> Self {
        Self { listed: true, ..Self::looked_up(path, field, find) }
    }

    pub(super) fn from_last(pointer: &'static str, field: &'static str) -> Self {
        let find = move |last: &Value| last.pointer(pointer).cloned();
        Self { path: None, listed: false, field, find: Box::new(find), or_skip: None }
    }

    pub(super) fn or_skip(self, says: &'static str) -> Self {
        Self { or_skip: Some(says), ..self }
    }
}

impl Step {
    /// A request that can be sent again.
    pub(super) fn new(method: &'static str, path: String, body: Option<Value>, probe: Probe) -> Self {
        let (tolerates, numbered, takes, looks_after) = (&[][..], false, None, false);
        Self { method, path, body, probe, idempotent: true, tolerates, numbered, takes, looks_after }
    }

    /// One that makes something each time.
    pub(super) fn post(path: String, body: Value, probe: Probe) -> Self {
        Self::new("POST", path, Some(body), probe).once()
    }

    pub(super) fn once(self) -> Self {
        Self { idempotent: false, ..self }
    }

    pub(super) fn with(mut self, field: &str, value: Value) -> Self {
        if let Some(body) = &mut self.body {
            body[field] = value;
        }
        self
    }

    pub(super) fn taking(self, take: Take) -> Self {
        Self { takes: Some(take), ..self }
    }

    pub(super) fn tolerating(self, tolerates: &'static [(u16, &'static str)]) -> Self {
        Self { tolerates, ..self }
    }

    pub(super) fn numbered(self) -> Self {
        Self { numbered: true, ..self }
    }

    /// Whether a refusal means that it is so already.
    pub(super) fn tolerates(&self, reply: &Reply) -> bool {
        self.tolerates.iter().any(|(status, word)| reply.status == *status && mentions(reply, &[word]))
    }

    /// Whether a success can be read, as far as it is used. What cannot may be anybody's answer.
    pub(super) fn is_heard(&self, reply: &Reply, used: bool) -> bool {
        let empty = reply.body.is_null() && used && matches!(reply.status, 200 | 201);
        !reply.garbled && !empty && (!self.numbered || reply.body["number"].is_u64())
    }

    pub(super) fn looking_after(self) -> Self {
        Self { looks_after: true, ..self }
    }
}

impl Order {
    pub(super) fn of(steps: Vec<Step>) -> Self {
        Self { steps, main: 0, shows: None }
    }

    pub(super) fn showing(self, path: String) -> Self {
        Self { shows: Some(path), ..self }
    }

    pub(super) fn about(self, main: usize) -> Self {
        Self { main, ..self }
    }

    /// Whether the answer to a step is used: as the resource, or by the step that follows.
    pub(super) fn uses(&self, at: usize) -> bool {
        let next = self.steps.get(at + 1).and_then(|next| next.takes.as_ref());
        (at == self.main && self.shows.is_none()) || next.is_some_and(|take| take.path.is_none())
    }

    /// The same, after another step.
    pub(super) fn after(mut self, first: Option<Step>) -> Self {
        if let Some(first) = first {
            self.steps.insert(0, first);
            self.main += 1;
        }
        self
    }
}
