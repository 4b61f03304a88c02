//! The audit entry and the response, made from what was asked and what came of it. Neither leaves here unless both pass
//! their own checks, with each other and with the instruction.

use super::answer::Acted;
use crate::deciding::Refusal;
use crate::delegation::parties::EXECUTORS;
use crate::delegation::payload::{AuditEntryId, NOT_APPLICABLE, Status, YesNo, checksum, is_evidence};
use crate::paths::{self, Reach};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Checker, Outside, Request, Set, check, redact_value};
use jiff::Timestamp;
use serde_json::{Value, json};

/// What stands where an instruction that is refused names no evidence, or none that can be used.
const UNNAMED: &str = "(the instruction names none)";

/// An instruction that is answered.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) instruction_id: &'a str,
    pub(super) response_id: &'a str,
    pub(super) audit_entry_id: &'a str,
    pub(super) action: &'a str,
    /// What of the instruction goes into the entry.
    pub(super) header: &'a Value,
    /// When it was received; now, if that is not known yet.
    pub(super) received: Option<Timestamp>,
    /// When the attempt began that is answered, in milliseconds since 1970, if that is known.
    pub(super) begun_ms: Option<i64>,
    /// Who acts: the kind, and which one.
    pub(super) executor: (Option<&'a str>, &'a str),
}

impl<'a> Case<'a> {
    /// One that is answered to see whether it can be, under ids of no day in particular.
    pub(super) fn trial(instruction_id: &'a str, action: &'a str, header: &'a Value) -> Self {
        let (response_id, audit_entry_id) = ("DR-2000-01-01-001", "PAA-2000-01-01-001");
        let executor = (None, "trial");
        let (received, begun_ms) = (None, None);
        Self { instruction_id, response_id, audit_entry_id, action, header, received, begun_ms, executor }
    }

    /// The action as the entry has it: as it was given. What was kept before that could be said is known by its fact.
    fn action_type(&self) -> &str {
        self.header["ACTION_TYPE"].as_str().unwrap_or(self.action)
    }
}

/// What is recorded at the least when something was tried, whatever the platform says of it. None, if it cannot be told.
pub(super) fn least(checker: &Checker<'_>, now: Timestamp) -> Option<Acted> {
    let acted = json!({
        "status": Status::Failure,
        "platform_request": {
            "ENDPOINT": "git:trial", "METHOD": "POST", "PARAMETERS": {}, "TIMESTAMP_UTC": in_seconds(now),
        },
        "failure_details": {
            "ERROR_TYPE": "API_ERROR", "ERROR_CODE": "500", "ERROR_MESSAGE": "nobody knows whether it was done",
            "REMEDIATION_GUIDANCE": "a person must look", "RETRY_ALLOWED": YesNo::No,
        },
        "resulting_state": "whether what was asked for was done is not known",
    });
    let text = acted.to_string();
    check::read(checker, Source { name: "trial", text: &text }).ok()
}

fn in_seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// What came of an instruction.
pub(super) enum What<'a> {
    /// Nothing was done; this is what is wrong with it.
    Invalid(&'a [Value]),
    /// It was tried.
    Acted(&'a Acted),
}

/// An entry and a response that pass.
pub(super) struct Documents {
    pub(super) entry: Value,
    pub(super) response: Value,
    /// How long there was no entry, from when the instruction came, without the time in which who answers it acted; in
    /// milliseconds. Who was killed may have acted, so that the time from then on counts.
    pub(super) lag_ms: i64,
}

/// Makes both, and checks them with each other and with the instruction, if that can stand beside them.
pub(super) fn checked(
    checker: &Checker<'_>,
    outside: &Outside,
    case: &Case<'_>,
    what: &What<'_>,
    instruction: Option<&str>,
) -> Result<Documents, Refusal> {
    let now = outside.now.unwrap_or(Timestamp::UNIX_EPOCH);
    let kind = checker.settings.executors.first().map_or(EXECUTORS[0], String::as_str);
    let documents =
        documents(&Case { executor: (case.executor.0.or(Some(kind)), case.executor.1), ..*case }, what, now);
    let texts = [
        ("delegation_instruction", instruction.map(str::to_owned)),
        ("audit_entry", Some(documents.entry.to_string())),
        ("delegation_response", Some(documents.response.to_string())),
    ];
    let mut set = Set::default();
    // Without files: the entry is written after this.
    let outside = Outside { now: outside.now, ..Outside::default() };
    let request = |name, text| Request { contract: Some(name), ..Request::alone(Source { name, text }, &outside) };
    for (name, text) in texts.iter().filter_map(|(name, text)| Some((*name, text.as_deref()?))) {
        set.add_checked(&check(checker, &request(name, text)));
    }
    for (name, text) in texts[1..].iter().filter_map(|(name, text)| Some((*name, text.as_deref()?))) {
        let decision = check(checker, &Request { others: &set, ..request(name, text) }).decision;
        if let Some(code) = decision.code {
            let reason = format!("the {name} of {} would not pass: {}", case.instruction_id, decision.reason);
            let refusal =
                Refusal::new(code, reason, "what the executor brought cannot be answered with; tell a person");
            return Err(Refusal { findings: decision.details.diagnostics, ..refusal });
        }
    }
    Ok(documents)
}

fn documents(case: &Case<'_>, what: &What<'_>, now: Timestamp) -> Documents {
    let seconds = in_seconds(now);
    let acted = match what {
        What::Invalid(_) => None,
        What::Acted(acted) => Some(*acted),
    };
    let executed = acted.map(|acted| match &acted.platform_response {
        Some(answer) => answer.timestamp.clone(),
        None => acted.platform_request.timestamp.clone(),
    });
    let lag_ms = lag_ms(case, executed.as_ref(), now);
    let executed = executed.map_or_else(|| seconds.clone(), |at| at.as_str().to_owned());
    let mut entry = entry(case, what, &seconds, &executed);
    let mut response = response(case, what, now, &seconds);
    for document in [&mut entry, &mut response] {
        without_nothing(document);
        redact_value(document);
    }
    entry["INTEGRITY"]["SUPERSEDED_BY"] = Value::Null;
    entry["INTEGRITY"]["CHECKSUM"] = checksum(entry.clone()).into();
    Documents { entry, response, lag_ms }
}

fn lag_ms(case: &Case<'_>, executed: Option<&countersign_contract::Timestamp>, now: Timestamp) -> i64 {
    let since = |from: i64, to: i64| (to - from).max(0);
    let received = case.received.unwrap_or(now).as_millisecond();
    let Some(executed) = executed else { return since(received, now.as_millisecond()) };
    let before = case.begun_ms.map_or(0, |begun| since(received, begun));
    before + since(executed.instant().as_millisecond(), now.as_millisecond())
}

fn entry(case: &Case<'_>, what: &What<'_>, now: &str, executed: &str) -> Value {
    let (request, answer, outcome) = match what {
        What::Invalid(_) => {
            (Value::Null, Value::Null, json!({ "RESULTING_STATE": "nothing was done", "SUCCESS": YesNo::No }))
        }
        What::Acted(acted) => {
            let evidence = acted.platform_evidence.as_ref().filter(|_| acted.status == Status::Success);
            let outcome = json!({
                "RESULTING_STATE": acted.resulting_state,
                "RESOURCE_ID": evidence.map(|it| &it.resource_id),
                "RESOURCE_TYPE": evidence.map(|it| it.resource_type),
                "RESOURCE_NUMBER": evidence.and_then(|it| it.resource_number),
                "SUCCESS": if evidence.is_some() { YesNo::Yes } else { YesNo::No },
                "COMPLETION_NOTES": acted.completion_notes,
            });
            (json!(acted.platform_request), json!(acted.platform_response), outcome)
        }
    };
    json!({
        "PLATFORM_ACTION_AUDIT_VERSION": "1.0",
        "AUDIT_ENTRY_ID": case.audit_entry_id,
        "TIMESTAMP_UTC": now,
        "ACTION": {
            "TYPE": case.action_type(), "INSTRUCTION_ID": case.instruction_id, "RESPONSE_ID": case.response_id,
        },
        "REQUESTER": case.header["REQUESTER"],
        "EXECUTOR": {
            "AGENT_TYPE": case.executor.0, "AGENT_INSTANCE_ID": case.executor.1, "EXECUTION_TIMESTAMP": executed,
        },
        "AUTHORIZATION_EVIDENCE": case.header["AUTHORIZATION_EVIDENCE"],
        "PLATFORM_REQUEST": request,
        "PLATFORM_RESPONSE": answer,
        "OUTCOME": outcome,
        "GOVERNANCE_CONTEXT": case.header["GOVERNANCE_CONTEXT"],
        "INTEGRITY": { "IMMUTABLE": true, "CREATED_BY": case.executor.1, "VERIFICATION_STATUS": "UNVERIFIED" },
    })
}

fn response(case: &Case<'_>, what: &What<'_>, now: Timestamp, seconds: &str) -> Value {
    let took = case.received.map_or(0, |received| (now.as_millisecond() - received.as_millisecond()).max(0));
    let path = AuditEntryId::parse(case.audit_entry_id).map(|id| id.path());
    let (status, evidence, failure, errors) = match what {
        What::Invalid(errors) => (Status::InvalidRequest, Value::Null, Value::Null, json!(errors)),
        What::Acted(acted) if acted.status == Status::Success => {
            (acted.status, json!(acted.platform_evidence), Value::Null, Value::Null)
        }
        What::Acted(acted) => (acted.status, Value::Null, json!(acted.failure_details), Value::Null),
    };
    json!({
        "DELEGATION_RESPONSE_VERSION": "1.0",
        "RESPONSE_ID": case.response_id,
        "INSTRUCTION_ID": case.instruction_id,
        "TIMESTAMP_UTC": seconds,
        "STATUS": status,
        "PLATFORM_EVIDENCE": evidence,
        "FAILURE_DETAILS": failure,
        "VALIDATION_ERRORS": errors,
        "AUDIT_ENTRY_ID": case.audit_entry_id,
        "AUDIT_ENTRY_PATH": path,
        "EXECUTOR": {
            "AGENT_TYPE": case.executor.0, "AGENT_INSTANCE_ID": case.executor.1, "EXECUTION_DURATION_MS": took,
        },
    })
}

/// A path of evidence, as an entry keeps it: as it was given. Where one is needed and none can be used, the entry says so.
pub(super) fn evidence_path(path: Option<&str>, needed: bool) -> String {
    let usable = |path: &str| (!needed || is_evidence(path)) && paths::fault(path, Reach::Below).is_none();
    match path {
        Some(path) if usable(path) => path.to_owned(),
        None if !needed => NOT_APPLICABLE.to_owned(),
        _ => UNNAMED.to_owned(),
    }
}

/// A reference to evidence, as an entry keeps it. Where one is needed and none is named, the entry says so.
pub(super) fn reference(text: Option<&str>, needed: bool) -> Option<String> {
    if needed && !text.is_some_and(is_evidence) { Some(UNNAMED.to_owned()) } else { text.map(str::to_owned) }
}

/// What an answer cannot be made from.
pub(super) fn lost(what: &str, id: &str) -> Refusal {
    let reason = format!("{what} of {id} cannot be read any more");
    Refusal::new(Code::IntegrityMismatch, reason, "it was erased; give the instruction again under a new id")
}

fn without_nothing(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(without_nothing);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nothing),
        _ => {}
    }
}
