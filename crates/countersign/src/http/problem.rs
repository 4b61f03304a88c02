//! What is said when something does not go: RFC 9457, with our codes.

use super::BODY_MAX;
use super::listen::{HEADER_BYTES_MAX, HEADERS_MAX};
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_contract::rules;
use countersign_diagnostic::render::json::diagnostic;
use countersign_diagnostic::{Code, Source, visible_json};
use countersign_domain::deciding::Refusal;
use countersign_engine::Failure;
use countersign_ledger::Error;
use serde_json::{Value, json};
use std::any::Any;

/// What a problem is, on the way.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A problem, before it is written.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The status.
    pub status: StatusCode,
    /// What it is filed under.
    pub code: &'static str,
    /// One sentence.
    pub detail: String,
    /// What to do.
    pub help: String,
    /// What was found in the request.
    pub findings: Vec<Value>,
    /// The run that it is about.
    pub run: Option<String>,
    header: Header,
}

/// What is said beside it.
#[derive(Debug, Clone, Copy)]
enum Header {
    Nothing,
    /// To come back after so many seconds.
    Retry(u16),
    /// To show a token.
    Challenge,
}

/// The code that a response carries, for whoever counts.
#[derive(Debug, Clone, Copy)]
pub struct Outcome(pub &'static str);

/// Codes of this door; the others are the engine's.
pub mod code {
    pub const UNAUTHENTICATED: &str = "UNAUTHENTICATED";
    pub const HOST_NOT_ALLOWED: &str = "HOST_NOT_ALLOWED";
    pub const ORIGIN_NOT_ALLOWED: &str = "ORIGIN_NOT_ALLOWED";
    pub const NOT_FOUND: &str = "NOT_FOUND";
    pub const METHOD_NOT_ALLOWED: &str = "METHOD_NOT_ALLOWED";
    pub const MEDIA_TYPE_UNSUPPORTED: &str = "MEDIA_TYPE_UNSUPPORTED";
    pub const BODY_TOO_LARGE: &str = "BODY_TOO_LARGE";
    pub const HEADERS_TOO_LARGE: &str = "HEADERS_TOO_LARGE";
    pub const TOO_SLOW: &str = "TOO_SLOW";
    pub const RATE_LIMITED: &str = "RATE_LIMITED";
    pub const BUSY: &str = "BUSY";
    pub const OUTCOME_UNKNOWN: &str = "OUTCOME_UNKNOWN";
    pub const LEDGER_UNAVAILABLE: &str = "LEDGER_UNAVAILABLE";
    pub const INTERNAL: &str = "INTERNAL";

    /// All of them.
    pub const ALL: &[&str] = &[
        UNAUTHENTICATED,
        HOST_NOT_ALLOWED,
        ORIGIN_NOT_ALLOWED,
        NOT_FOUND,
        METHOD_NOT_ALLOWED,
        MEDIA_TYPE_UNSUPPORTED,
        BODY_TOO_LARGE,
        HEADERS_TOO_LARGE,
        TOO_SLOW,
        RATE_LIMITED,
        BUSY,
        OUTCOME_UNKNOWN,
        LEDGER_UNAVAILABLE,
        INTERNAL,
    ];
}

impl Problem {
    /// A problem.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>, help: impl Into<String>) -> Self {
        let (detail, help) = (detail.into(), help.into());
        Self { status, code, detail, help, findings: Vec::new(), run: None, header: Header::Nothing }
    }

    fn with(mut self, header: Header) -> Self {
        self.header = header;
        self
    }

    /// Nobody that is known asks.
    pub fn unauthenticated(why: &str) -> Self {
        let help = "send `Authorization: Bearer TOKEN` with a token of this project";
        Self::new(StatusCode::UNAUTHORIZED, code::UNAUTHENTICATED, why, help).with(Header::Challenge)
    }

    /// Too much is going on.
    pub fn busy(why: impl Into<String>) -> Self {
        let help = "nothing was done; try again in a moment";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code::BUSY, why, help).with(Header::Retry(1))
    }

    /// One caller asks for too much.
    pub fn rate_limited() -> Self {
        let why = "this token makes more requests than it may";
        Self::new(StatusCode::TOO_MANY_REQUESTS, code::RATE_LIMITED, why, "wait a second, then go on more slowly")
            .with(Header::Retry(1))
    }

    /// One caller listens too often.
    pub fn too_many_streams(max: usize) -> Self {
        let why = format!("this token listens to {max} streams of events already, which is as many as it may");
        let help = "end one of them, or follow everything on one and tell the runs apart by `run`";
        Self::new(StatusCode::TOO_MANY_REQUESTS, code::RATE_LIMITED, why, help).with(Header::Retry(5))
    }

    /// Something is wrong on our side.
    pub fn internal() -> Self {
        let help = "repeat it with the same Idempotency-Key, which does it once; the server's log says more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code::INTERNAL, "the server broke off", help)
    }

    /// It is not known whether something was done.
    pub fn unknown_outcome(why: impl Into<String>) -> Self {
        let help = "repeat it with the same Idempotency-Key, which does it once";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code::OUTCOME_UNKNOWN, why, help)
    }

    /// What the engine says no with, for a request whose text was this.
    pub fn of(failure: Failure, text: &str) -> Self {
        match failure {
            Failure::Unknown(why) => {
                let help = "`/openapi.json` lists everything that can be asked";
                Self::new(StatusCode::NOT_FOUND, code::NOT_FOUND, why, help)
            }
            Failure::Malformed(decision) => {
                let syntax = decision.details.diagnostics.iter().any(|it| it.rule == rules::SYNTAX_INVALID.id);
                let status = if syntax { StatusCode::BAD_REQUEST } else { StatusCode::UNPROCESSABLE_ENTITY };
                let source = Source { name: "the request", text };
                let code = decision.code.unwrap_or(Code::SchemaInvalid).as_str();
                let findings = decision.details.diagnostics.iter().map(|it| diagnostic(it, source)).collect();
                let help = "mend the request; the findings say where";
                Self { findings, ..Self::new(status, code, decision.reason, help) }
            }
            Failure::Refused(refusal) => Self::refused(*refusal),
            Failure::Ledger(error) => Self::of_ledger(error),
        }
    }

    fn refused(refusal: Refusal) -> Self {
        let status = match refusal.code {
            _ if refusal.absent => StatusCode::NOT_FOUND,
            Code::AuthorizationMissing => StatusCode::FORBIDDEN,
            Code::SchemaInvalid | Code::UnknownSchemaVersion => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        // The places are in a payload inside of the request, which has lines of its own: the pointers say where.
        let findings = refusal.findings.iter().map(|it| diagnostic(it, Source { name: "", text: "" })).collect();
        let problem = Self::new(status, refusal.code.as_str(), refusal.reason, refusal.help);
        Self { findings, run: refusal.run, ..problem }
    }

    /// What the ledger says no with.
    pub fn of_ledger(error: Error) -> Self {
        let said = error.to_string();
        match error {
            Error::Refused(_) => {
                let help = "read how it stands now, and decide anew";
                Self::new(StatusCode::CONFLICT, Code::ConcurrencyConflict.as_str(), said, help)
            }
            Error::Malformed(_) => {
                let help = "say it in a way that can be recorded";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::SchemaInvalid.as_str(), said, help)
            }
            Error::Busy { .. } => Self::busy(said),
            Error::Unknown(_) => Self::unknown_outcome(said),
            Error::Broke(_) => Self::internal(),
            Error::NotWritten(_)
            | Error::Unreadable(_)
            | Error::Away(_)
            | Error::Damaged(_)
            | Error::Newer { .. }
            | Error::Older { .. }
            | Error::Closed(_) => {
                let help = "whoever runs the server must look after the ledger; `countersign doctor` says more";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, code::LEDGER_UNAVAILABLE, said, help).with(Header::Retry(5))
            }
        }
    }

    /// The body is longer than it may be.
    pub fn too_large(max: usize) -> Self {
        let why = format!("the body is longer than {max} bytes");
        let help = if max < BODY_MAX { "send less; this server takes fewer bytes than others" } else { "send less" };
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code::BODY_TOO_LARGE, why, help)
    }

    /// What stands before the body is longer than it may be.
    pub fn long_head() -> Self {
        let why = format!(
            "there are more than {HEADERS_MAX} headers, or they have more than {HEADER_BYTES_MAX} bytes with the first line"
        );
        let help = "send fewer and shorter ones; what is long belongs into the body of a command";
        Self::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, code::HEADERS_TOO_LARGE, why, help)
    }

    /// How it is written.
    pub fn body(&self) -> String {
        let mut body = json!({
            "type": format!("urn:countersign:problem:{}", self.code),
            "title": self.status.canonical_reason().unwrap_or("Problem"),
            "status": self.status.as_u16(),
            "detail": self.detail,
            "code": self.code,
            "help": self.help,
            "findings": self.findings,
        });
        if let Some(run) = &self.run {
            body["run"] = json!(run);
        }
        visible_json(&body.to_string()).into_owned()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        match self.header {
            Header::Nothing => None,
            Header::Retry(seconds) => response.headers_mut().insert(RETRY_AFTER, seconds.into()),
            Header::Challenge => {
                let value = HeaderValue::from_static("Bearer realm=\"countersign\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, value)
            }
        };
        response.extensions_mut().insert(Outcome(self.code));
        response
    }
}

/// There is nothing of that name.
pub async fn no_route() -> Problem {
    let help = "`/openapi.json` lists everything that can be asked";
    Problem::new(StatusCode::NOT_FOUND, code::NOT_FOUND, "there is nothing at this path", help)
}

/// It is there, and is asked for otherwise.
pub async fn no_method() -> Problem {
    let help = "the header Allow says how it is asked for";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, code::METHOD_NOT_ALLOWED, "this path knows no such method", help)
}

/// A panic, which ends one request and no more.
pub fn broke(_: Box<dyn Any + Send + 'static>) -> Response {
    Problem::internal().into_response()
}
