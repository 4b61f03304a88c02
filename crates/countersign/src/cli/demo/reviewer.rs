//! The reviewer, whom the demonstration plays: what waits for a person is looked up and answered, with a token that says who
//! answers for it.

use super::story::once;
use crate::cli::{Global, output};
use crate::client::Client;
use crate::home::{Home, private_file};
use crate::project::Project;
use crate::token::{Tokens, Wanted};
use anyhow::bail;
use countersign_diagnostic::{visible, visible_lines};
use countersign_domain::deciding::Role;
use countersign_engine::Failure;
use serde_json::{Value, json};

/// In whose name.
const REVIEWER: &str = "ana";
/// How long the token can be used, in hours.
const HOURS: i64 = 1;

/// Whether it could be answered, or why the ledger refuses.
type Answered = Result<(), Failure>;

/// Answers everything that waits for a person.
pub fn answer(project: &Project, lead: &Client<'_>, run: &str) -> anyhow::Result<Answered> {
    let me = Global { ledger: None, actor: None, token_file: Some(token(lead)?), server: None };
    let client = Client::open(project, &me)?;
    output::print(&format!(
        "The demonstration answers as {REVIEWER}, with an owner's token that it made for itself.\n"
    ));
    let inbox = match client.look("inbox.list", &json!({ "run_id": run })) {
        Ok(inbox) => inbox,
        Err(failure) => return Ok(Err(failure)),
    };
    for item in inbox["items"].as_array().into_iter().flatten() {
        if let Err(failure) = one(&client, run, item)? {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(()))
}

/// A token of an owner, in a file that nobody else can read.
fn token(lead: &Client<'_>) -> anyhow::Result<std::path::PathBuf> {
    let home = Home::find()?;
    let ends = jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(HOURS))?;
    let tokens = Tokens::of(&home, lead.engine()?.ledger().project());
    let wanted = Wanted { actor: REVIEWER, role: Role::Owner, bound: None, expires: Some(ends.to_string()) };
    let (_, shown) = tokens.make(&wanted)?;
    let path = home.folder("tokens").join(format!("{REVIEWER}.token"));
    private_file(&path, &format!("{shown}\n"))?;
    Ok(path)
}

/// Answers one thing, as a person would who has looked at it.
fn one(client: &Client<'_>, run: &str, item: &Value) -> anyhow::Result<Answered> {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    let (task, code) = (text("task_id"), text("code"));
    output::print(&format!("\n{task}  {code}: {}\n", visible(once(text("reason")))));
    for command in item["answers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        output::print(&format!("  can be answered with `{}`\n", visible(command)));
    }
    let (said, answered) = match (text("asks"), code) {
        ("acceptance", _) => {
            let reason = "the example follows when the receipt is final";
            let named: Vec<&str> =
                item["failures"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let request = json!({
                "run_id": run, "task_id": task, "shown": item["shown"], "failures": named, "reason": reason,
            });
            (format!("accepts {}: \"{reason}\"", named.join(", ")), client.ask("gate.accept", &request))
        }
        ("decision", "SCOPE_VIOLATION") => {
            let of_task = json!({ "run_id": run, "task_id": task });
            let asked = match client.look("task.assignment", &of_task) {
                Ok(shown) => shown["assignment"]["task"].clone(),
                Err(failure) => return Ok(Err(failure)),
            };
            let scope = asked["lock_scope"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let note = format!("Change {} and nothing else.", scope.collect::<Vec<_>>().join(", "));
            let mut wanted = asked.clone();
            wanted["context_package"] = json!([{ "kind": "note", "value": note }]);
            let request =
                json!({ "run_id": run, "task": wanted, "shown": item["shown"], "reason": "in narrower words" });
            (format!("sends it back: \"{note}\""), client.ask("task.replan", &request))
        }
        ("approval", _) => {
            let [id, sha256] = ["instruction_id", "sha256"].map(text);
            let action: Value = serde_json::from_str(text("instruction")).unwrap_or_default();
            output::print(&visible_lines(&format!("  asked: {}\n  exactly {id}, sha256 {sha256}\n", action["ACTION"])));
            let reason = "the till should be found again as it was";
            let request = json!({ "run_id": run, "task_id": task, "shown": item["shown"], "reason": reason });
            (format!("approves it, once: \"{reason}\""), client.ask("delegation.approve", &request))
        }
        (asks, _) => bail!("{task} asks for {asks} ({code}), which the demonstration does not know of"),
    };
    match answered {
        Ok(_) => output::print(&format!("  {REVIEWER} {said}\n")),
        Err(failure) => return Ok(Err(failure)),
    }
    Ok(Ok(()))
}
