//! What the platform did not do, as a response says it.
//!
//! | the platform answers | status | error type | again? |
//! |---|---|---|---|
//! | 401, 403 | FAILURE | AUTHORIZATION_FAILURE | no |
//! | 403 or 422 that speaks of protection, rules or required checks | BLOCKED | PLATFORM_CONSTRAINT | yes |
//! | 405, 409, 423 | BLOCKED | PLATFORM_CONSTRAINT | yes |
//! | 3xx, 404, 410, 422 and the rest below 500 | FAILURE | VALIDATION_FAILURE | no |
//! | limits, 5xx, nothing | FAILURE | API_ERROR | yes, and when |

use super::line::Reply;
use super::mentions;
use serde_json::{Value, json};
use std::time::Duration;

/// Words of the platform that tell of its own rules.
const RULES: &[&str] = &["protected", "protection", "required status", "rule violation", "ruleset", "not mergeable"];

/// What was not done, and why.
pub(super) struct Refused {
    blocked: bool,
    error_type: &'static str,
    code: String,
    /// The status that the platform answered with; none, if it did not.
    status: Option<u16>,
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
            _ if blocked => {
                ("PLATFORM_CONSTRAINT", "wait until the platform's own rules allow it, or have them changed")
            }
            401 => ("AUTHORIZATION_FAILURE", "see whether the token is right and has not expired"),
            403 => ("AUTHORIZATION_FAILURE", "see whether the token may do this in this repository"),
            404 | 410 => ("VALIDATION_FAILURE", "see whether what is named is there, and whether the token may see it"),
            _ => ("VALIDATION_FAILURE", "correct what the platform found wrong, under a new instruction id"),
        };
        Self { blocked, error_type, remedy, retry: blocked, after: None, ..Self::answered(reply) }
    }

    fn answered(reply: &Reply) -> Self {
        let (code, status, message) = (reply.status.to_string(), Some(reply.status), reply.says());
        let remedy = "try again later, under a new instruction id";
        Self { blocked: false, error_type: "API_ERROR", code, status, message, remedy, retry: true, after: None }
    }

    /// Too many requests, for longer than is waited here.
    pub(super) fn limited(reply: &Reply, pause: Duration) -> Self {
        let remedy = "wait until the limit is lifted, then try again under a new instruction id";
        Self { remedy, after: Some(pause.as_secs()), ..Self::answered(reply) }
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

    /// It was sent, no answer came, and it is not there.
    pub(super) fn lost(why: String, idempotent: bool) -> Self {
        let remedy =
            "look at the platform whether it was done; if it was not, give it again under a new instruction id";
        let why = format!("{why}; it was looked for and not found, and not sent again");
        Self::unanswered("CUT", why, remedy, idempotent)
    }

    fn unanswered(code: &str, message: String, remedy: &'static str, retry: bool) -> Self {
        let (blocked, error_type, code) = (false, "API_ERROR", code.to_owned());
        Self { blocked, error_type, code, status: None, message, remedy, retry, after: None }
    }

    /// The platform took it and did not do it.
    pub(super) fn passed_over() -> Self {
        let message = "the platform took it and did not do all of it: not everybody who was named can be".to_owned();
        let remedy = "name people who may work on this repository";
        let refused = Self::unanswered("422", message, remedy, false);
        Self { error_type: "VALIDATION_FAILURE", status: Some(422), ..refused }
    }

    /// What an instruction names is not there.
    pub(super) fn absent(what: &str) -> Self {
        let remedy = "see whether what is named is there, and whether the token may see it";
        let refused = Self::unanswered("404", format!("{what} that is named is not there"), remedy, false);
        Self { error_type: "VALIDATION_FAILURE", status: Some(404), ..refused }
    }

    /// As `delegation.answer` takes it.
    pub(super) fn acted(self, request: Value, at: &str) -> Value {
        let status = if self.blocked { "BLOCKED" } else { "FAILURE" };
        let mut failure = json!({
            "ERROR_TYPE": self.error_type, "ERROR_CODE": self.code, "ERROR_MESSAGE": self.message,
            "REMEDIATION_GUIDANCE": self.remedy, "RETRY_ALLOWED": if self.retry { "YES" } else { "NO" },
        });
        if let Some(after) = self.after {
            failure["RETRY_AFTER"] = json!(after.to_string());
        }
        let mut acted = json!({
            "status": status, "platform_request": request, "failure_details": failure,
            "resulting_state": "what was asked for was not done, as far as is known",
        });
        if let Some(code) = self.status {
            acted["platform_response"] = json!({
                "STATUS_CODE": code, "STATUS": status, "ERROR_MESSAGE": self.message, "ERROR_CODE": self.code,
                "TIMESTAMP_UTC": at,
            });
        }
        acted
    }
}
