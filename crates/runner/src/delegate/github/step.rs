//! What is sent for an action: steps, each with how it is found out whether it was done.

use serde_json::Value;

/// Reads a path: the status, and what is there.
pub(super) type Reading<'a> = dyn Fn(&str) -> Result<(u16, Value), String> + 'a;
/// Finds out whether a step was done, and gives what shows it. An error means that it cannot be told.
pub(super) type Probe = Box<dyn Fn(&Reading<'_>) -> Result<Option<Value>, String>>;

/// Finds a value in another.
pub(super) type Find = Box<dyn Fn(&Value) -> Option<Value>>;

/// What is at a path is as it should be.
pub(super) fn state(path: String, is: impl Fn(&Value) -> bool + 'static) -> Probe {
    Box::new(move |read| {
        let (status, value) = read(&path)?;
        Ok(Some(value).filter(|value| status < 300 && is(value)))
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
    /// Refusals that mean that it is so already.
    pub(super) tolerates: &'static [u16],
    /// What it takes from elsewhere.
    pub(super) takes: Option<Take>,
    /// Whether the probe must hold afterwards, because the platform takes what it does not do.
    pub(super) looks_after: bool,
}

/// A value that a step takes from elsewhere.
pub(super) struct Take {
    /// The path to look it up at; the last answer, if there is none.
    pub(super) path: Option<String>,
    /// Where it goes: a field of the body, or in braces a part of the path.
    pub(super) field: &'static str,
    pub(super) find: Find,
    /// Whether the step falls away without it.
    pub(super) or_skip: bool,
}

impl Take {
    pub(super) fn looked_up(
        path: String,
        field: &'static str,
        find: impl Fn(&Value) -> Option<Value> + 'static,
    ) -> Self {
        Self { path: Some(path), field, find: Box::new(find), or_skip: false }
    }

    pub(super) fn from_last(pointer: &'static str, field: &'static str) -> Self {
        let find = move |last: &Value| last.pointer(pointer).cloned();
        Self { path: None, field, find: Box::new(find), or_skip: false }
    }

    pub(super) fn or_skip(self) -> Self {
        Self { or_skip: true, ..self }
    }
}

impl Step {
    /// A request that can be sent again.
    pub(super) fn new(method: &'static str, path: String, body: Option<Value>, probe: Probe) -> Self {
        let (tolerates, takes, looks_after) = (&[][..], None, false);
        Self { method, path, body, probe, idempotent: true, tolerates, takes, looks_after }
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

    pub(super) fn tolerating(self, tolerates: &'static [u16]) -> Self {
        Self { tolerates, ..self }
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

    /// The same, after another step.
    pub(super) fn after(mut self, first: Option<Step>) -> Self {
        if let Some(first) = first {
            self.steps.insert(0, first);
            self.main += 1;
        }
        self
    }
}
