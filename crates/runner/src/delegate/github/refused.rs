//! What the platform did not do, as a response says it.
//!
//! | the platform answers | status | error type | again? |
//! |---|---|---|---|
//! | 401, 403 | FAILURE | AUTHORIZATION_FAILURE | no |
//! | 403 or 422 that speaks of protection, rules or required checks | BLOCKED | PLATFORM_CONSTRAINT | if it clears by itself |
//! | 405, 409, 423 | BLOCKED | PLATFORM_CONSTRAINT | if it clears by itself |
//! | 3xx, 404, 410, 422 and the rest below 500 | FAILURE | VALIDATION_FAILURE | no |
//! | limits, 5xx to what may be sent twice, nothing to what was not sent | FAILURE | API_ERROR | yes, and when |
//! | 5xx, nothing, or what cannot be read, and it is not there | FAILURE | API_ERROR | no, unless it may be sent twice |
//!
//! Checks that run and states that are being worked out clear by themselves; protection, conflicts and locks do not. The words of
//! the platform tell, and of a merge the state of its pull request.
//!
//! If a part of an order is done by then, the response names it, and a person decides about the rest.

use super::line::Reply;
use super::mentions;
use super::progress::{Exchange, Progress};
use serde_json::{Value, json};
use std::time::Duration;

/// Words of the platform that tell of its own rules.
const RULES: &[&str] = &["protected", "protection", "required status", "rule violation", "ruleset", "not mergeable"];

/// What is to be done about what may have been done, and may not be done twice.
const LOOK: &str =
    "a person must look at the platform whether it was done; if it was not, give it again under a new instruction id";
/// The same, where to do it twice is to do it once.
const DO_AGAIN: &str = "try it again, under a new instruction id: if it was done after all, that changes nothing";

/// Words of the platform that tell of what clears without anybody doing something about it.
const CLEARING: &[&str] = &[
    "status check",
    "is expected",
    "in progress",
    "pending",
    "try again",
    "try the merge again",
    "base branch was modified",
    "not yet",
];
/// What is said to do about what does not clear by itself.
const HAVE_CHANGED: &str = "have what stands against it changed by somebody who may: it does not clear by itself";

/// What was not done, and why.
pub(super) struct Refused {
    blocked: bool,
    error_type: &'static str,
    code: String,
    /// Whether it was learnt from reading, and not from what was to change something.
    by_reading: bool,
    /// Whether it may have been done all the same.
    unknown: bool,
    message: String,
    remedy: &'static str,
    retry: bool,
    after: Option<u64>,
}

impl Refused {
    /// What the platform refused for good.
    pub(super) fn of(reply: &Reply) -> Self {
        let by_rule = matches!(reply.status, 403 | 422) && mentions(reply, RULES);
        let blocked = by_rule || matches!(reply.status, 405 | 409 | 423);
        let (error_type, remedy) = match reply.status {
            _ if blocked => ("PLATFORM_CONSTRAINT", HAVE_CHANGED),
            401 => ("AUTHORIZATION_FAILURE", "see whether the token is right and has not expired"),
            403 => ("AUTHORIZATION_FAILURE", "see whether the token may do this in this repository"),
            404 | 410 => ("VALIDATION_FAILURE", "see whether what is named is there, and whether the token may see it"),
            _ => ("VALIDATION_FAILURE", "correct what the platform found wrong, under a new instruction id"),
        };
        let refused = Self { blocked, error_type, remedy, retry: false, after: None, ..Self::answered(reply) };
        let clears = blocked.then(|| mentions(reply, CLEARING));
        refused.clearing(clears)
    }

    /// Whether a rule of the platform forbids it.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The same, where it is known whether what forbids it clears by itself.
    pub(super) fn clearing(self, clears: Option<bool>) -> Self {
        match clears {
            Some(true) => Self { retry: true, remedy: "wait until what stands against it has cleared", ..self },
            Some(false) => Self { retry: false, remedy: HAVE_CHANGED, ..self },
            None => self,
        }
    }

    /// What is said of it.
    pub(super) fn message(self) -> String {
        self.message
    }

    /// What is there may be this instruction's, and it cannot be told.
    pub(super) fn unclear(why: String) -> Self {
        let remedy = "a person must look at the platform which is this instruction's, if any is; then give it again under a new \
                      instruction id, or leave it";
        Self { by_reading: true, unknown: true, ..Self::unanswered("UNCLEAR", why, remedy, false) }
    }

    fn answered(reply: &Reply) -> Self {
        let remedy = "try again later, under a new instruction id";
        Self::unanswered(&reply.status.to_string(), reply.says(), remedy, true)
    }

    /// Too many requests, for longer than is waited here.
    pub(super) fn limited(reply: &Reply, pause: Duration) -> Self {
        let remedy = "wait until the limit is lifted, then try again under a new instruction id";
        Self { remedy, after: Some(pause.as_secs()), ..Self::answered(reply) }
    }

    /// The same for whoever only looked, and has sent nothing.
    pub(super) fn limited_when_looking(reply: &Reply, pause: Duration) -> Self {
        Self { by_reading: true, ..Self::limited(reply, pause) }
    }

    /// An error of the platform that did not pass.
    pub(super) fn broken(reply: &Reply, pause: Duration) -> Self {
        Self { after: Some(pause.as_secs()), ..Self::answered(reply) }
    }

    /// Nothing was sent.
    pub(super) fn unreached(why: String) -> Self {
        let remedy = "see whether the platform can be reached, then try again under a new instruction id";
        Self::unanswered("UNREACHED", why, remedy, true)
    }

    /// It may have been sent and done, nothing says so, and it is not there.
    pub(super) fn lost(code: &str, why: &str, idempotent: bool) -> Self {
        let remedy = if idempotent { DO_AGAIN } else { LOOK };
        let why =
            format!("{why}; whether it was done is not known: it was looked for and not found, and not sent again");
        Self { unknown: true, ..Self::unanswered(code, why, remedy, idempotent) }
    }

    /// An earlier attempt may have sent it, and it is not there.
    pub(super) fn left(what: &str) -> Self {
        let why = format!("an earlier attempt that did not end may have sent {what}");
        Self { by_reading: true, ..Self::lost("UNKNOWN", &why, false) }
    }

    fn unanswered(code: &str, message: String, remedy: &'static str, retry: bool) -> Self {
        let (blocked, error_type, code) = (false, "API_ERROR", code.to_owned());
        let (by_reading, unknown, after) = (false, false, None);
        Self { blocked, error_type, code, by_reading, unknown, message, remedy, retry, after }
    }

    /// The platform took it and did not do it.
    pub(super) fn passed_over() -> Self {
        let message = "the platform took it and did not do all of it: not everybody who was named can be".to_owned();
        let remedy = "name people who may work on this repository";
        let refused = Self::unanswered("PASSED_OVER", message, remedy, false);
        Self { error_type: "VALIDATION_FAILURE", ..refused }
    }

    /// What the platform's state forbids, seen before anything was sent.
    pub(super) fn forbidden(message: String) -> Self {
        let refused = Self::unanswered("FORBIDDEN", message, HAVE_CHANGED, false);
        Self { blocked: true, error_type: "PLATFORM_CONSTRAINT", by_reading: true, ..refused }
    }

    /// What the owner of the token has no right to, seen before anything was sent.
    pub(super) fn unentitled(message: String) -> Self {
        let remedy = "have the owner of the token given the right, or use the token of somebody who has it";
        let refused = Self::unanswered("RIGHTS", message, remedy, false);
        Self { blocked: true, error_type: "AUTHORIZATION_FAILURE", by_reading: true, ..refused }
    }

    /// What an instruction names is not there.
    pub(super) fn absent(what: &str) -> Self {
        let remedy = "see whether what is named is there, and whether the token may see it";
        let refused = Self::unanswered("ABSENT", format!("{what} that is named is not there"), remedy, false);
        Self { error_type: "VALIDATION_FAILURE", by_reading: true, ..refused }
    }

    /// As `delegation.answer` takes it: the request that was refused with its own status, and what was done before it.
    pub(super) fn acted(self, progress: &Progress, otherwise: &Exchange, at: &str) -> Value {
        let status = if self.blocked { "BLOCKED" } else { "FAILURE" };
        let (first, second) = match self.by_reading {
            true => (&progress.seen, &progress.sent),
            false => (&progress.sent, &progress.seen),
        };
        let exchange = first.as_ref().or(second.as_ref()).unwrap_or(otherwise);
        let done = progress.done();
        // Whoever looks must know for what.
        let what = progress.sent.as_ref().unwrap_or(otherwise).named();
        let message = match self.unknown && !self.message.contains(&what) {
            true => format!("{}; it was {what}", self.message),
            false => self.message.clone(),
        };
        let message = match &done {
            Some(done) => format!("{message}; done before that: {done}"),
            None => message,
        };
        let retry = self.retry && done.is_none();
        // Where it may not be tried again, nobody is told to.
        let remedy = if self.unknown && self.retry && !retry { LOOK } else { self.remedy };
        let remedy = match &done {
            Some(_) => format!("{remedy}; a part of it is done already, so ask for the rest alone"),
            None => remedy.to_owned(),
        };
        let mut failure = json!({
            "ERROR_TYPE": self.error_type, "ERROR_CODE": self.code, "ERROR_MESSAGE": message,
            "REMEDIATION_GUIDANCE": remedy, "RETRY_ALLOWED": if retry { "YES" } else { "NO" },
        });
        if let Some(after) = self.after.filter(|_| retry) {
            failure["RETRY_AFTER"] = json!(after.to_string());
        }
        let doubt = match (&done, self.unknown) {
            (_, true) => Some("unknown"),
            (Some(_), false) => Some("part"),
            (None, false) => None,
        };
        let state = match (&done, self.unknown) {
            (Some(_), _) => "a part of what was asked for was done, as the notes say",
            (None, true) => "whether what was asked for was done is not known",
            (None, false) => "what was asked for was not done, as far as is known",
        };
        let mut acted = json!({
            "status": status, "platform_request": exchange.request(), "failure_details": failure,
            "resulting_state": state,
        });
        if let Some(doubt) = doubt {
            acted["doubt"] = json!(doubt);
        }
        let done = done.map(|done| format!("done before it failed: {done}"));
        let notes: Vec<String> = done.into_iter().chain(progress.notes()).collect();
        if !notes.is_empty() {
            acted["completion_notes"] = json!(notes.join("; "));
        }
        if let Some(code) = exchange.status {
            acted["platform_response"] = json!({
                "STATUS_CODE": code, "STATUS": status, "ERROR_MESSAGE": message, "ERROR_CODE": self.code,
                "TIMESTAMP_UTC": at,
            });
        }
        acted
    }
}
