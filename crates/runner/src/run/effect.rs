//! What is begun in the world for an attempt stands in the ledger before anybody waits for it, and so does what it used.

use super::attempt::Attempt;
use super::no::No;
use super::{Note, Run};
use crate::agent::{Ended, How, Mark, Usage};
use countersign_domain::work::effect::EffectKind;
use serde_json::{Value, json};

/// Something that is done in the world.
pub(super) struct Effect<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) kind: EffectKind,
    /// Who does it, where several can at once.
    pub(super) who: Option<&'a str>,
}

impl Effect<'_> {
    fn request(&self) -> Value {
        let mut request = self.run.desk.of_task(self.attempt.task());
        request["lease"] = json!(self.attempt.lease);
        request["kind"] = json!(self.kind.as_str());
        if let Some(who) = self.who {
            request["who"] = json!(who);
        }
        request
    }

    /// Says that a process was started.
    pub(super) fn start(&self, mark: &Mark) -> Result<(), No> {
        let mut request = self.request();
        request["mark"] = json!(mark);
        self.run.desk.ask("effect.start", &request).map(drop)
    }

    /// Says that somebody was asked who is no process here.
    pub(super) fn start_afar(&self) -> Result<(), No> {
        self.run.desk.ask("effect.start", &self.request()).map(drop)
    }

    /// Says how an agent ended, and what it used.
    pub(super) fn finish_agent(&self, how: &str, ended: &Ended) {
        let mut figures = json!({
            "took_ms": u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
            "out_bytes": ended.out_bytes, "err_bytes": ended.err_bytes,
        });
        if let How::Exited(code) = ended.how {
            figures["exit_code"] = json!(code);
        }
        if let Some(usage) = &ended.usage {
            figures["usage"] = usage_of(usage);
        }
        self.finish(how, &figures);
    }

    /// Says how it ended. That this could not be said is shown, and stops nothing.
    pub(super) fn finish(&self, how: &str, figures: &Value) {
        let mut request = self.request();
        request["outcome"] = json!(how);
        for (name, figure) in figures.as_object().into_iter().flatten() {
            request[name] = figure.clone();
        }
        if let Err(no) = self.run.desk.ask("effect.finish", &request) {
            self.run.note(&Note::Flag { task: self.attempt.task(), text: &no.reason });
        }
    }
}

/// What an agent used, as it is recorded.
pub(super) fn usage_of(usage: &Usage) -> Value {
    let cached = usage.cache_creation_tokens.unwrap_or(0) + usage.cache_read_tokens.unwrap_or(0);
    let input = usage.input_tokens.map(|tokens| tokens + cached);
    let mut shown = json!({
        "input_tokens": input, "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd,
        "tool_uses": usage.tool_uses,
        "commands": usage.commands, "file_changes": usage.file_changes, "turns": usage.turns, "model": usage.model,
    });
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown
}
