//! A call of a tool, carried out.

use super::Shared;
use super::answer::{Said, without_place};
use super::tools::{Does, ToolRow};
use super::{documents, handoffs};
use countersign_engine::{Call, Reply};
use serde_json::Value;

/// Carries a call out. The arguments are JSON. This waits for the ledger, and so has no place on an asynchronous thread.
pub fn carry_out(shared: &Shared, call: &Call, row: &ToolRow, arguments: &str) -> Said {
    match row.does {
        Does::Ask(id) => shared.ask(call, id, arguments).map_or_else(Said::failed, replied),
        Does::Look(id) => shared.look(call, id, arguments).map_or_else(Said::failed, shown),
        Does::Check => documents::check_tool(shared, arguments),
        Does::Fix => documents::fix_tool(shared, arguments),
        Does::MakeHandoff => handoffs::make_tool(shared, call, arguments),
        Does::Explain => documents::explain_tool(shared, arguments),
    }
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
