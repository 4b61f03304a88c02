//! A call of a tool, carried out.

use super::Shared;
use super::answer::{Said, without_place};
use super::tools::{Does, ToolRow};
use super::{documents, handoffs};
use crate::paths;
use countersign_engine::{Call, Reply};
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// Carries a call out. The arguments are JSON. This waits for the ledger, and so has no place on an asynchronous thread.
pub fn carry_out(shared: &Shared, call: &Call, row: &ToolRow, arguments: &str) -> Said {
    match row.does {
        Does::Ask(id) => shared.ask(call, id, arguments).map_or_else(Said::failed, replied),
        Does::Look(id) => shared.look(call, id, &in_project(shared, arguments)).map_or_else(Said::failed, shown),
        Does::Check => documents::check_tool(shared, arguments),
        Does::Fix => documents::fix_tool(shared, arguments),
        Does::MakeHandoff => handoffs::make_tool(shared, call, arguments),
        Does::Explain => documents::explain_tool(shared, arguments),
    }
}

/// A question about a file, by what the project calls it: clients name files by their whole paths. One that lies elsewhere stays
/// as it is, and is refused as that.
fn in_project<'a>(shared: &Shared, arguments: &'a str) -> Cow<'a, str> {
    let asked = || -> Option<String> {
        let mut asked: Value = serde_json::from_str(arguments).ok()?;
        let path = asked.get("path")?.as_str().filter(|path| Path::new(path).is_absolute())?;
        asked["path"] = paths::in_project(&shared.project, path).ok()?.into();
        Some(asked.to_string())
    };
    asked().map_or(Cow::Borrowed(arguments), Cow::Owned)
}

fn replied(reply: Reply) -> Said {
    let said = Said::done(reply.answer, reply.findings.iter().map(without_place).collect());
    if reply.repeated { said.with("repeated", true) } else { said }
}

/// What is shown. Of a question whether something is allowed the answer is the verdict.
fn shown(answer: Value) -> Said {
    let Some(false) = answer["allowed"].as_bool() else { return Said::done(answer, Vec::new()) };
    let fields = [("code", "code"), ("reason", "reason"), ("help", "help")];
    let texts: Vec<(&str, String)> =
        fields.into_iter().filter_map(|(to, from)| Some((to, answer[from].as_str()?.to_owned()))).collect();
    let said = Said::done(answer, Vec::new()).with("allow", false);
    texts.into_iter().fold(said, |said, (field, text)| said.with(field, text))
}
