//! `countersign inbox`

use super::Exit;
use super::asking::{Here, How, OfRun, pages, refused};
use super::output::{self, Format};
use super::words::{since, text, texts};
use crate::client::Client;
use serde_json::{Value, json};
use std::fmt::Write;

/// Show what waits for a person: what is asked, why, since when, and the commands that answer it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign inbox
  countersign inbox --run 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4 --format json

In a run that follows a plan, the answers are for people: at a terminal, or with an owner's token (--token-file).
Each of them names with --shown what it answers: it counts for that, once, and for a day. If something has changed since,
it is refused; look again.

Exit codes: 0 also when nothing waits, 1 refused, 2 wrong usage, 3 could not be done.")]
pub struct Args {
    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    let question = (json!({ "run_id": args.of.id() }), "items");
    let shown = match pages(&client, "inbox.list", question, args.limit) {
        Ok(shown) => shown,
        Err(failure) => return refused(failure, args.how.format),
    };
    output::print(&match args.how.format {
        Format::Json => super::asking::line(&shown),
        Format::Text => said(&shown, &client),
    });
    Ok(Exit::Allowed)
}

fn said(shown: &Value, client: &Client<'_>) -> String {
    let items: Vec<String> =
        shown["items"].as_array().into_iter().flatten().map(|item| one(item, &waited(item, client))).collect();
    if items.is_empty() {
        return "nothing waits for a person\n".to_owned();
    }
    let more = if shown["next"].is_string() { "\nthere is more; ask with a larger --limit\n" } else { "" };
    format!("{}{more}", items.join("\n"))
}

/// Since when it waits. The time stands in the ledger, which a server keeps to itself; the event does for both.
pub fn waited(item: &Value, client: &Client<'_>) -> String {
    let seq = item["since"].as_u64().unwrap_or(0);
    let stored = client.engine().ok().and_then(|engine| engine.stored(seq, seq).ok()?.into_iter().next());
    match stored.map(|event| since(event.value(), "time")).filter(|ago| !ago.is_empty()) {
        Some(ago) => format!("{ago}, since event {seq}"),
        None => format!("since event {seq}"),
    }
}

pub fn one(item: &Value, waited: &str) -> String {
    let [task, asks, title, instruction] = ["task_id", "asks", "title", "instruction_id"].map(|name| text(item, name));
    let subject = if task.is_empty() { &instruction } else { &task };
    let mut out = format!("{subject}  {asks}  {title}\n");
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name:<12} {value}");
        }
    };
    field("asked", asked(&asks, item["doubt"].as_str()).to_owned());
    field("because", format!("{} [{}]", text(item, "reason"), text(item, "code")));
    field("waits", waited.to_owned());
    field("run", text(item, "run_id"));
    field("instruction", if task.is_empty() { String::new() } else { instruction.clone() });
    field("sha256", text(item, "sha256"));
    field("about", text(item, "bound"));
    for line in written(item) {
        field("|", line);
    }
    let which = if asks == "validation" { "to look at" } else { "failures" };
    field(which, texts(item, "failures").join(", "));
    for criterion in item["criteria"].as_array().into_iter().flatten() {
        let found = criterion["status"].as_str().map(|found| format!(" [{found}]")).unwrap_or_default();
        let question = criterion["question"].as_str().map(|_| format!(": {}", text(criterion, "question")));
        let said = format!("{}{}{found}", text(criterion, "description"), question.unwrap_or_default());
        field(&text(criterion, "id"), said);
    }
    for found in item["found"].as_array().into_iter().flatten() {
        let [criterion, status, by, says] = ["criterion", "status", "by", "says"].map(|name| text(found, name));
        field("found", format!("{criterion} {status} by {by}: {says}"));
    }
    field("judge", text(item, "reasoning"));
    field("tests edited", texts(item, "test_edits").join(", "));
    for flag in texts(item, "flags") {
        field("note", flag);
    }
    for answer in texts(item, "answers") {
        field("answer", command(&answer, item));
    }
    out
}

/// The exact instruction, line by line.
fn written(item: &Value) -> Vec<String> {
    let instruction = item["instruction"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let whole = instruction.and_then(|it| serde_json::to_string_pretty(&it).ok()).unwrap_or_default();
    whole.lines().map(|line| countersign_diagnostic::visible(line).into_owned()).collect()
}

/// What a person is asked, in a sentence. Of an action, by what is known of it: to try again what was done is to do it twice.
fn asked(asks: &str, doubt: Option<&str>) -> &'static str {
    match asks {
        "delegation" if doubt == Some("unknown") => {
            "nobody knows whether it was done; look at the platform first: only if it was not, may it be tried again?"
        }
        "delegation" if doubt == Some("part") => {
            "a part of it was done; look at the platform first: may all of it be tried again nevertheless?"
        }
        "delegation" if doubt == Some("missing") => {
            "the platform said that it was done, and does not show it; look there first: may it be tried again?"
        }
        "acceptance" => "is it good enough, although not everything was shown to hold?",
        "validation" => "does it hold, as far as you can see?",
        "judgement" => "may it pass?",
        "conflict" => "how are two changes of the same thing brought together?",
        "content" => "somebody has changed this beside the run; does it stay, exactly as it is?",
        "approval" => "may this be done, exactly as it stands here?",
        "delegation" => "it was not done; may it be tried again?",
        _ => "how does it go on?",
    }
}

/// A command as it is typed, whatever else is open: with its run, and with what was shown. What names a content names what was
/// shown by that.
fn command(answer: &str, item: &Value) -> String {
    let is_named = item["content"].as_str().is_some_and(|content| answer.contains(content));
    let mark = item["shown"].as_str().filter(|_| !is_named).map(countersign_diagnostic::visible);
    let mark = mark.map(|mark| format!(" --shown {mark}")).unwrap_or_default();
    let run = item["run_id"].as_str().map(|_| format!(" --run {}", text(item, "run_id"))).unwrap_or_default();
    format!("{answer}{mark}{run}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_by_what_is_known_of_an_action() {
        let asked = |doubt: Value| one(&json!({ "asks": "delegation", "instruction_id": "DI-1", "doubt": doubt }), "");
        assert!(asked(json!(null)).contains("it was not done; may it be tried again?"));
        for doubt in ["unknown", "part", "missing"] {
            let said = asked(json!(doubt));
            assert!(!said.contains("it was not done;") && said.contains("first:"), "{said}");
        }
    }

    #[test]
    fn an_item_says_what_is_asked_and_how_it_is_answered() {
        let item = json!({
            "asks": "acceptance", "run_id": "R", "task_id": "T-1", "title": "Round\u{1b} totals", "code": "ACCEPTANCE_FAILED",
            "reason": "AC-2 not shown to hold", "since": 7, "failures": ["AC-2"], "shown": "0f.1", "bound": "1e8b",
            "answers": ["countersign gate accept T-1 --failures AC-2 --reason TEXT", "countersign task cancel T-1 --reason TEXT"],
        });
        let wanted = "\
T-1  acceptance  Round\\u{1b} totals
  asked        is it good enough, although not everything was shown to hold?
  because      AC-2 not shown to hold [ACCEPTANCE_FAILED]
  waits        since event 7
  run          R
  about        1e8b
  failures     AC-2
  answer       countersign gate accept T-1 --failures AC-2 --reason TEXT --shown 0f.1 --run R
  answer       countersign task cancel T-1 --reason TEXT --shown 0f.1 --run R
";
        assert_eq!(one(&item, "since event 7"), wanted);
    }
}
