//! What can be read: contracts, schemas, rules, runs and tasks.

use super::Shared;
use super::answer::Said;
use crate::explaining;
use countersign_engine::{Call, Failure};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

/// What every address begins with.
const SCHEME: &str = "countersign://";
/// How many are listed on a page.
const PAGE: usize = 100;
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";
const SCHEMA: &str = "application/schema+json";

/// The templates of addresses.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |path: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), name).with_description(about).with_mime_type(kind)
    };
    vec![
        template("contracts/{name}", "contract", "The reference page of a contract", MARKDOWN),
        template("schemas/{name}", "schema", "The JSON Schema of a contract", SCHEMA),
        template("rules/{id}", "rule", "Why a rule or a code is there, what it refuses and accepts", MARKDOWN),
        template("runs/{id}", "run", "A run as it stands", JSON),
        template("runs/{run}/tasks", "tasks", "The tasks of a run, in the order in which they were added", JSON),
        template("runs/{run}/tasks/{task}", "task", "A task as it stands, with all that was asked for", JSON),
    ]
}

/// What is the same in every project, in order.
fn fixed() -> Vec<Resource> {
    let resource = |path: String, name: &str, about: &str, kind: &str| {
        Resource::new(format!("{SCHEME}{path}"), name).with_description(about).with_mime_type(kind)
    };
    let contracts = countersign_domain::contracts().iter();
    let pages = contracts.clone().map(|it| resource(format!("contracts/{}", it.name), it.name, it.summary, MARKDOWN));
    let schemas = contracts.map(|it| {
        let about = format!("The JSON Schema of {}", it.name);
        resource(format!("schemas/{}", it.name), it.name, &about, SCHEMA)
    });
    let rules = countersign_domain::rules();
    let rules = rules.iter().map(|it| resource(format!("rules/{}", it.id), it.id, it.summary, MARKDOWN));
    pages.chain(schemas).chain(rules).collect()
}

/// Where a page begins.
enum Place {
    Fixed(usize),
    Runs(Option<String>),
}

impl Place {
    fn read(cursor: Option<&str>) -> Option<Self> {
        let Some(cursor) = cursor else { return Some(Self::Fixed(0)) };
        match cursor.split_once(':')? {
            ("fixed", from) => Some(Self::Fixed(from.parse().ok()?)),
            ("runs", "") => Some(Self::Runs(None)),
            ("runs", at) => Some(Self::Runs(Some(at.to_owned()))),
            _ => None,
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Fixed(from) => format!("fixed:{from}"),
            Self::Runs(at) => format!("runs:{}", at.as_deref().unwrap_or_default()),
        }
    }
}

/// A page of the list: first what is the same everywhere, then the runs, the newest first.
pub fn list(shared: &Shared, call: &Call, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let unknown = || ErrorData::invalid_params("there is no such cursor; begin without one", None);
    let (resources, next) = match Place::read(cursor).ok_or_else(unknown)? {
        Place::Fixed(from) => {
            let all = fixed();
            let end = from.saturating_add(PAGE).min(all.len());
            let next = if end < all.len() { Place::Fixed(end) } else { Place::Runs(None) };
            (all.get(from..end).ok_or_else(unknown)?.to_vec(), Some(next))
        }
        Place::Runs(at) => {
            let mut question = json!({ "limit": PAGE });
            if let Some(at) = at {
                question["cursor"] = json!(at);
            }
            let runs = shared.look(call, "run.list", &question.to_string()).map_err(fault)?;
            let next = runs["next"].as_str().map(|next| Place::Runs(Some(next.to_owned())));
            (runs["runs"].as_array().into_iter().flatten().filter_map(run).collect(), next)
        }
    };
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = next.map(|next| next.write());
    Ok(page)
}

fn run(run: &Value) -> Option<Resource> {
    let id = run["run_id"].as_str()?;
    let about = format!("A run that is {}", run["status"].as_str().unwrap_or("unknown"));
    Some(Resource::new(format!("{SCHEME}runs/{id}"), id).with_description(about).with_mime_type(JSON))
}

/// Reads what is at an address.
pub fn read(shared: &Shared, call: &Call, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let none = || {
        let shown = countersign_contract::show(uri);
        ErrorData::resource_not_found(format!("there is no resource `{shown}`"), Some(json!({ "uri": shown })))
    };
    let path: Vec<&str> = uri.strip_prefix(SCHEME).ok_or_else(none)?.split('/').collect();
    let view = |id: &str, question: Value| {
        let shown = shared.look(call, id, &question.to_string()).map_err(fault)?;
        let (shown, _) = Said::done(shown, Vec::new()).object();
        // One that is too long for an answer says so in its place.
        let shown = shown.get("answer").unwrap_or(&shown);
        Ok::<_, ErrorData>((format!("{shown:#}\n"), JSON))
    };
    let (text, kind) = match path[..] {
        ["contracts", name] => {
            let contract = countersign_domain::contract(name).ok_or_else(none)?;
            (countersign_contract::reference::page(contract), MARKDOWN)
        }
        ["schemas", name] => {
            let contract = countersign_domain::contract(name).ok_or_else(none)?;
            (format!("{:#}\n", (contract.schema)()), SCHEMA)
        }
        ["rules", id] => (explaining::explain(id, str::to_owned).map_err(|_| none())?, MARKDOWN),
        ["runs", run] => view("run.show", json!({ "run_id": run }))?,
        ["runs", run, "tasks"] => view("task.list", json!({ "run_id": run, "limit": PAGE }))?,
        ["runs", run, "tasks", task] => view("task.show", json!({ "run_id": run, "task_id": task }))?,
        _ => return Err(none()),
    };
    let contents = ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(kind.to_owned()),
        text,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Why something cannot be read. Resources have no results that say no.
pub fn fault(failure: Failure) -> ErrorData {
    let broken = matches!(failure, Failure::Ledger(_));
    let (said, _) = Said::failed(failure).object();
    let reason = said["reason"].as_str().unwrap_or_default().to_owned();
    if broken {
        ErrorData::internal_error(reason, Some(said))
    } else {
        ErrorData::resource_not_found(reason, Some(said))
    }
}
