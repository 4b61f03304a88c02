//! Reading: `GET /v1/views/{id}` for each row of the table of views, and the same under paths that can be read aloud.

use super::problem::Problem;
use super::{Caller, Server, State, answer};
use crate::world::Around;
use axum::Router;
use axum::extract::rejection::{QueryRejection, RawPathParamsRejection};
use axum::extract::{Extension, Query, RawPathParams};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use countersign_contract::rules::KIND_MISMATCH;
use countersign_contract::{Schemas, show};
use countersign_diagnostic::Code;
use countersign_engine::{VIEWS, ViewRow, view_row};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Paths by another name: what is in braces is a field of the question.
pub const PATHS: &[(&str, &str)] = &[
    ("/v1/runs", "run.list"),
    ("/v1/runs/{run_id}", "run.show"),
    ("/v1/runs/{run_id}/bundle", "bundle.make"),
    ("/v1/runs/{run_id}/effects", "effect.list"),
    ("/v1/runs/{run_id}/graph", "task.graph"),
    ("/v1/runs/{run_id}/next", "task.next"),
    ("/v1/runs/{run_id}/plan", "run.plan"),
    ("/v1/runs/{run_id}/reconciliation", "reconcile"),
    ("/v1/runs/{run_id}/tasks", "task.list"),
    ("/v1/runs/{run_id}/waiting", "gate.waiting"),
    ("/v1/runs/{run_id}/tasks/{task_id}", "task.show"),
    ("/v1/runs/{run_id}/tasks/{task_id}/assignment", "task.assignment"),
    ("/v1/runs/{run_id}/tasks/{task_id}/gates", "gate.status"),
    ("/v1/runs/{run_id}/tasks/{task_id}/worklog", "worklog.show"),
    ("/v1/runs/{run_id}/tasks/{task_id}/action", "delegation.task"),
    ("/v1/locks", "lock.list"),
    ("/v1/locks/holders", "lock.who"),
    ("/v1/locks/mine", "lock.mine"),
    ("/v1/locks/permission", "lock.may"),
    ("/v1/locks/strays", "lock.strays"),
    ("/v1/promises", "promise.list"),
    ("/v1/promises/{promise_id}", "promise.show"),
    ("/v1/promises/{promise_id}/gates", "gate.status"),
    ("/v1/inbox", "inbox.list"),
    ("/v1/handoffs/{trace_id}", "handoff.chain"),
    ("/v1/handoffs/{trace_id}/document", "handoff.show"),
    ("/v1/delegations/alerts", "delegation.alerts"),
    ("/v1/delegations/ends/{end}", "delegation.end"),
    ("/v1/delegations/entries", "delegation.entries"),
    ("/v1/delegations/{instruction_id}", "delegation.show"),
    ("/v1/delegations/{instruction_id}/next", "delegation.next"),
];

pub fn routes() -> Router<Arc<Server>> {
    let by_id = Router::new().route("/v1/views/{id}", get(view));
    PATHS.iter().filter_map(|(path, id)| Some((path, view_row(id)?))).fold(by_id, |router, (path, row)| {
        let read = move |server, caller, params, query, headers| named(row, server, caller, params, query, headers);
        router.route(path, get(read))
    })
}

type Params = Result<RawPathParams, RawPathParamsRejection>;
type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

async fn view(
    server: State,
    Extension(caller): Extension<Caller>,
    params: Params,
    query: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let params = given(params)?;
    let id = params.first().map(|(_, id)| id.as_str()).unwrap_or_default();
    match view_row(id) {
        Some(row) => look(server, caller, row, pairs(query)?, headers).await,
        None => {
            let unknown = server.engine.look(&countersign_engine::Nowhere, &caller.call(None), id, "");
            Err(unknown.err().map_or_else(Problem::internal, |failure| Problem::of(failure, "")))
        }
    }
}

async fn named(
    row: &'static ViewRow,
    server: State,
    Extension(caller): Extension<Caller>,
    params: Params,
    query: Pairs,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut asked = given(params)?;
    asked.extend(pairs(query)?);
    look(server, caller, row, asked, headers).await
}

fn unreadable(what: &str) -> Problem {
    let why = format!("the {what} cannot be read");
    Problem::new(StatusCode::BAD_REQUEST, Code::SchemaInvalid.as_str(), why, "encode it as URLs are")
}

fn given(params: Params) -> Result<Vec<(String, String)>, Problem> {
    let params = params.map_err(|_| unreadable("path"))?;
    Ok(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn pairs(query: Pairs) -> Result<Vec<(String, String)>, Problem> {
    Ok(query.map_err(|_| unreadable("query"))?.0)
}

async fn look(
    server: State,
    caller: Caller,
    row: &'static ViewRow,
    asked: Vec<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let permit = Arc::clone(&server.at_once).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::busy("too many requests are worked on"))?;
    must_be_of_kind(row, &asked)?;
    let question = question(row, &asked);
    let (server, patience) = (Arc::clone(&server), server.settings.patience);
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let around = Around::of(&server.project);
        server.engine.ledger().must_be_open().map_err(Problem::of_ledger)?;
        match server.engine.look(&around, &caller.call(None), row.info.id, &question) {
            Ok(value) => Ok(answer::shown(&value, &headers)),
            Err(failure) => Err(Problem::of(failure, &question)),
        }
    });
    match tokio::time::timeout(patience, work).await {
        Ok(done) => done.unwrap_or_else(|_| Err(Problem::internal())),
        Err(_) => Err(Problem::busy("the question takes too long to answer")),
    }
}

/// What a field of a question is.
fn kind_of(row: &ViewRow, name: &str) -> &'static str {
    static KINDS: LazyLock<HashMap<&str, Map<String, Value>>> =
        LazyLock::new(|| VIEWS.iter().map(|row| (row.info.id, fields(row.question))).collect());
    KINDS.get(row.info.id).and_then(|kinds| kinds.get(name)?["type"].as_str()).unwrap_or("string")
}

/// Whether a text can stand in JSON as it is, as what it should be.
fn is_plain(kind: &str, text: &str) -> bool {
    match kind {
        "integer" | "number" => serde_json::from_str::<serde_json::Number>(text).is_ok(),
        "boolean" => matches!(text, "true" | "false"),
        _ => false,
    }
}

/// Refuses what is no number or neither yes nor no where it should be: in an address nothing stands in quotes, and the reader of the
/// question would say how it is written in JSON.
fn must_be_of_kind(row: &ViewRow, asked: &[(String, String)]) -> Result<(), Problem> {
    for (name, text) in asked {
        let (wanted, such) = match kind_of(row, name) {
            kind if is_plain(kind, text) => continue,
            "integer" | "number" => ("a number", "10"),
            "boolean" => ("`true` or `false`", "true"),
            _ => continue,
        };
        let why = format!("`{name}` has to be {wanted}, and is `{}`", show(text));
        let help = format!("write it as in `?{name}={such}`, or leave it away");
        let finding = json!({
            "rule": KIND_MISMATCH.id, "code": Code::SchemaInvalid.as_str(), "severity": "error", "message": why,
            "pointer": format!("/{name}"), "help": help, "repair": null,
        });
        let mut problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Code::SchemaInvalid.as_str(), why, help);
        problem.findings.push(finding);
        return Err(problem);
    }
    Ok(())
}

/// The question as JSON. A field that is there twice stands there twice, for the reader to refuse.
fn question(row: &ViewRow, asked: &[(String, String)]) -> String {
    let member = |(name, text): &(String, String)| {
        let plain = is_plain(kind_of(row, name), text);
        let value = if plain { text.clone() } else { Value::from(text.as_str()).to_string() };
        format!("{}:{value}", Value::from(name.as_str()))
    };
    format!("{{{}}}", asked.iter().map(member).collect::<Vec<_>>().join(","))
}

/// The fields of an object, each with its schema.
pub fn fields(schema: fn(&mut Schemas) -> Value) -> Map<String, Value> {
    let mut schemas = Schemas::default();
    let schema = schema(&mut schemas);
    let defs = schemas.into_defs();
    let resolved = |schema: &Value| {
        let name = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
        name.and_then(|name| defs.get(name)).unwrap_or(schema).clone()
    };
    match resolved(&schema)["properties"].clone() {
        Value::Object(properties) => properties.into_iter().map(|(name, it)| (name, resolved(&it))).collect(),
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn every_view_has_a_path_and_every_path_a_view_with_its_fields() {
        for row in VIEWS {
            assert!(PATHS.iter().any(|(_, id)| *id == row.info.id), "{} has no path", row.info.id);
        }
        for (path, id) in PATHS {
            let fields = fields(view_row(id).unwrap().question);
            for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                assert!(fields.contains_key(name), "{path}: {id} has no field {name}");
            }
        }
    }

    #[test]
    fn a_question_is_written_by_the_types_of_its_fields() {
        let asked = [("limit", "5"), ("limit", "x"), ("cursor", "12"), ("a\"b", "\n")];
        let asked: Vec<_> = asked.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let text = question(view_row("run.list").unwrap(), &asked);
        assert_eq!(text, r#"{"limit":5,"limit":"x","cursor":"12","a\"b":"\n"}"#);
    }
}
