//! What the platform holds after an action, as a response shows it.

use super::progress::{Exchange, Progress};
use super::table::escaped;
use crate::delegate::said;
use countersign_domain::delegation::action::{ActionType, Effect, Parameters};
use countersign_domain::delegation::clock;
use countersign_domain::delegation::payload::{DelegationInstruction, HttpsUrl, ResourceType};
use serde_json::{Value, json};

/// How long an address may be.
const ADDRESS_MAX: usize = 1000;

/// What was done, as `delegation.answer` takes it.
pub(super) fn done(
    instruction: &DelegationInstruction,
    progress: &Progress,
    web: &str,
    at: &str,
) -> Result<Value, String> {
    let unshown = || "nothing that the platform answered shows that it is done".to_owned();
    let (request, status) = progress.shown_by().and_then(shown).ok_or_else(unshown)?;
    let info = instruction.action.kind().info();
    let (resource, kind) = (&progress.main, info.produces);
    let number = kind.is_numbered().then(|| number(instruction, resource)).flatten();
    let url = resource["html_url"].as_str().and_then(|url| shown_address(instruction, url));
    let url = url.unwrap_or_else(|| address(instruction, web, number));
    let id = identity(instruction, resource, number);
    let state = state(instruction, resource);
    let mut evidence = json!({
        "RESOURCE_TYPE": kind, "RESOURCE_ID": id, "RESOURCE_URL": url, "RESOURCE_STATE": state,
        "API_RESPONSE_STATUS": status,
    });
    if let Some(number) = number {
        evidence["RESOURCE_NUMBER"] = json!(number);
    }
    match info.effect {
        Effect::Creates => {
            let time = time(instruction, resource, &["created_at", "submitted_at"], at);
            evidence["CREATED_AT"] = json!(time);
        }
        Effect::Updates => evidence["UPDATED_AT"] = json!(time(instruction, resource, &["updated_at"], at)),
        Effect::Deletes => {}
    }
    let notes = if progress.found {
        "found done after an attempt whose answer was not heard; it was not sent again"
    } else {
        "done by the platform's REST interface"
    };
    let notes: Vec<String> = std::iter::once(notes.to_owned()).chain(progress.notes()).collect();
    Ok(json!({
        "status": "SUCCESS",
        "platform_request": request,
        "platform_response": {
            "STATUS_CODE": status, "STATUS": "SUCCESS", "RESOURCE_URL": url, "RESOURCE_ID": id, "RESOURCE_TYPE": kind,
            "TIMESTAMP_UTC": at,
        },
        "platform_evidence": evidence,
        "resulting_state": format!("{kind} {id} is {state}"),
        "completion_notes": notes.join("; "),
    }))
}

/// A request as it is recorded, with its own status.
fn shown(exchange: &Exchange) -> Option<(Value, u16)> {
    Some((exchange.request(), exchange.status?))
}

fn number(instruction: &DelegationInstruction, resource: &Value) -> Option<i64> {
    resource["number"].as_i64().filter(|number| *number > 0).or(instruction.action.parameters.numbers()[0])
}

/// An address that the platform gave, if it can be one of what is in the repository.
fn shown_address(instruction: &DelegationInstruction, url: &str) -> Option<String> {
    let parsed = HttpsUrl::parse(url)?;
    let here = parsed.repository().is_none_or(|(owner, name)| {
        let repository = &instruction.requester.repository;
        owner.eq_ignore_ascii_case(repository.owner()) && name.eq_ignore_ascii_case(repository.name())
    });
    (here && said::told(url, ADDRESS_MAX) == url).then(|| url.to_owned())
}

/// The platform's id, or else what the resource is known by.
fn identity(instruction: &DelegationInstruction, resource: &Value, number: Option<i64>) -> String {
    let given = resource["node_id"].as_str().and_then(said::named);
    let given = given.or_else(|| resource["id"].as_u64().map(|id| id.to_string()));
    let named = || instruction.action.parameters.refs()[0].map(|(_, name, _)| name.to_owned());
    let id = named().filter(|_| is_ref(instruction)).or(given).or_else(|| number.map(|it| it.to_string()));
    let id = id.or_else(named).unwrap_or_else(|| instruction.instruction_id.to_string());
    id.chars().take(200).collect()
}

fn is_ref(instruction: &DelegationInstruction) -> bool {
    matches!(instruction.action.kind().info().produces, ResourceType::Branch | ResourceType::Tag)
}

/// Where people find it, if the platform does not say.
fn address(instruction: &DelegationInstruction, web: &str, number: Option<i64>) -> String {
    let root = format!("{web}/{}", instruction.requester.repository);
    let name = || {
        let name = instruction.action.parameters.refs()[0].map_or("", |(_, name, _)| name);
        escaped(name, true)
    };
    let number = number.or(instruction.action.parameters.numbers()[0]).unwrap_or(0);
    match instruction.action.kind().info().produces {
        ResourceType::Branch => format!("{root}/tree/{}", name()),
        ResourceType::Tag => format!("{root}/releases/tag/{}", name()),
        ResourceType::PullRequest | ResourceType::Review => format!("{root}/pull/{number}"),
        ResourceType::Workflow => format!("{root}/actions"),
        _ => format!("{root}/issues/{number}"),
    }
}

fn state(instruction: &DelegationInstruction, resource: &Value) -> String {
    let action = instruction.action.kind();
    let said = || {
        let given = ["state", "status"].into_iter().filter_map(|name| resource[name].as_str());
        given.filter_map(said::named).next().map(|state| state.to_lowercase())
    };
    match (&instruction.action.parameters, action.info().effect) {
        (Parameters::MergePullRequest(_), _) if resource["merged"] == true => "merged".to_owned(),
        (_, Effect::Deletes) => "deleted".to_owned(),
        (_, Effect::Updates) if action == ActionType::UpdateBranchProtection => "protected".to_owned(),
        (_, effect) => said().unwrap_or_else(|| unsaid(instruction, effect).to_owned()),
    }
}

/// The state that an action leads to, where the platform says none. It is looked afterwards whether it is so.
fn unsaid(instruction: &DelegationInstruction, effect: Effect) -> &'static str {
    match instruction.action.amounts_to() {
        ActionType::CreateGithubIssue | ActionType::CreatePullRequest => "open",
        ActionType::CloseGithubIssue | ActionType::ClosePullRequest => "closed",
        _ if effect == Effect::Creates => "created",
        _ => "updated",
    }
}

/// A time that the platform gave. One from before the instruction is that of another clock, or of a resource that was so
/// already, and one that is yet to come is that of another clock too; then it is the time at which it was seen.
fn time(instruction: &DelegationInstruction, resource: &Value, names: &[&str], at: &str) -> String {
    let given = names.iter().find_map(|name| resource[*name].as_str());
    let given = given.and_then(countersign_contract::Timestamp::parse);
    let seen = countersign_contract::Timestamp::parse(at);
    let given = given.filter(|time| !clock::before(time, &instruction.timestamp));
    let given = given.filter(|time| seen.as_ref().is_some_and(|seen| !clock::before(seen, time)));
    given.map_or_else(|| at.to_owned(), |time| time.as_str().to_owned())
}
