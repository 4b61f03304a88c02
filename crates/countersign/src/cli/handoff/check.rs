//! `countersign handoff check`

use super::onward::Document;
use super::{checked, unanswered};
use crate::checking;
use crate::cli::asking::{Here, How, line, without_nothing};
use crate::cli::output::Format;
use crate::cli::{Exit, output};
use crate::client::Client;
use crate::terminal::Terminal;
use countersign_contract::{Form, SIZE_MAX, parse};
use countersign_diagnostic::{Code, Source, render, visible};
use countersign_domain::handoff::noting::difference;
use countersign_domain::handoff::payload::TraceId;
use countersign_domain::handoff::route::drawing;
use countersign_engine::Failure;
use countersign_runner::handoff::kept;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Check a handoff, with the files that it refers to, and against what the ledger knows of its trace
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff check handoff.json
  countersign handoff check handoff.json --format json

Exit codes: 0 it may pass, 1 refused, 2 wrong usage, 3 could not be read.")]
pub struct Args {
    /// The handoff, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let format = args.how.format;
    let Some(document) = Document::read(here, &args.file, format)? else { return Ok(Exit::Refused) };
    let source = Source { name: &document.input.name, text: &document.text };
    let mut checked = checked(here.project, source, document.path());
    let recorded = recorded(here, &document)?;
    // One document has one verdict: of the two codes the one that outranks the other.
    if let Some((code, why)) = recorded.as_ref().and_then(|it| it.barred.as_ref()) {
        let decision = &mut checked.decision;
        if decision.code.is_none_or(|found| *code < found) {
            (decision.code, decision.reason) = (Some(*code), why.clone());
        }
        decision.allow = false;
    }
    let exit = if checked.decision.allow { Exit::Allowed } else { Exit::Refused };
    match format {
        Format::Text => {
            let said = recorded.map_or("nothing of its trace is recorded here".to_owned(), |it| it.says());
            let terminal = Terminal::stdout();
            let findings = checking::findings(&checked, source, terminal.look());
            let verdict = render::text::verdict(&checked.decision);
            output::print(&format!("{findings}{said}\n{}\n", terminal.bold(&verdict)));
        }
        Format::Json => {
            let shown = output::masked(&document.text, &checked.decision);
            let decision = render::json::decision(&checked.decision, Source { text: &shown, ..source });
            let mut decision: Value = serde_json::from_str(&decision)?;
            let mut known = json!(null);
            if let Some(it) = &recorded {
                known = json!({ "steps": it.steps, "step": it.step, "chain": it.chain });
                if let Some((code, why)) = &it.barred {
                    known["barred"] = json!({ "code": code.as_str(), "reason": why });
                }
            }
            decision["recorded"] = known;
            output::print(&line(&decision));
        }
    }
    Ok(exit)
}

/// What the ledger knows of a handoff.
struct Recorded {
    /// How many handoffs its trace has.
    steps: usize,
    /// The number of this one, if it was sent.
    step: Option<u64>,
    /// From the workflow that began to the source.
    chain: Vec<String>,
    target: String,
    /// How this one stands, if it was sent.
    status: String,
    /// Why it may not go on, or is not what was sent.
    barred: Option<(Code, String)>,
}

impl Recorded {
    fn says(&self) -> String {
        let way = visible(&drawing(&self.chain, &self.target)).into_owned();
        match (&self.barred, self.step) {
            (Some((_, why)), _) => format!("by what is recorded, {}", visible(why)),
            (None, Some(step)) => format!("recorded as handoff {step}, {}: {way}", self.status),
            (None, None) => format!("{} recorded of its trace; this one would go {way}", self.steps),
        }
    }
}

/// None, where there is no ledger, or nothing of the trace in it.
fn recorded(here: &Here<'_>, document: &Document) -> anyhow::Result<Option<Recorded>> {
    let word = |pointer: &str| document.word(pointer).unwrap_or_default();
    let Some(trace) = TraceId::parse(word("/handoff/trace_id")) else { return Ok(None) };
    if here.project.root.is_none() && here.global.ledger.is_none() && here.global.server.is_none() {
        return Ok(None);
    }
    let client = Client::open(here.project, here.global)?;
    let (source, target) = (word("/handoff/source/skill"), word("/handoff/target/skill"));
    let chain = match client.look("handoff.chain", &json!({ "trace_id": trace })) {
        Ok(chain) => chain,
        Err(Failure::Refused(refusal)) if refusal.absent => return Ok(None),
        Err(failure) => return Err(unanswered(failure)),
    };
    let steps: Vec<&Value> = chain["steps"].as_array().into_iter().flatten().collect();
    let is_this = |step: &&&Value| {
        step["source"] == source && step["target"] == target && step["made"] == word("/handoff/timestamp")
    };
    let names = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap_or_default() };
    if let Some(step) = steps.iter().rev().find(is_this) {
        let shown =
            client.look("handoff.show", &json!({ "trace_id": trace, "step": step["step"] })).map_err(unanswered)?;
        let sent = shown["document"].as_str().map(|text| parse(text, Form::of_text(text), SIZE_MAX));
        let changed = match sent {
            Some(Ok(sent)) => difference(&sent.root().to_value(), &document.value)
                .map(|place| (Code::IntegrityMismatch, format!("{place} was changed after it was sent"))),
            Some(Err(fault)) => {
                Some((Code::IntegrityMismatch, format!("what was sent cannot be read: {}", fault.message)))
            }
            None => {
                let why = "its text was erased after it was sent, so that nothing can be compared with it";
                Some((Code::DependencyNotMet, why.to_owned()))
            }
        };
        return Ok(Some(Recorded {
            steps: steps.len(),
            step: step["step"].as_u64(),
            chain: names(&step["chain"]),
            target: target.to_owned(),
            status: step["status"].as_str().unwrap_or_default().to_owned(),
            barred: changed.or_else(|| changed_kept(here, document, step)),
        }));
    }
    let meta = &document.value["handoff"]["meta"];
    let question = json!({
        "trace_id": trace, "source": Some(source).filter(|it| !it.is_empty()),
        "target": Some(target).filter(|it| !it.is_empty()), "reasoned": meta["handoff_reason"].is_string(),
        "approved": meta["user_approved"] == true, "chain": named_chain(meta),
    });
    let next = match client.look("handoff.chain", &without_nothing(question)) {
        Err(Failure::Malformed(_)) => {
            let why = "it is not plain between whom it goes: its source, its target or its chain is no name";
            json!({ "code": Code::SchemaInvalid.as_str(), "barred": why })
        }
        shown => shown.map_err(unanswered)?,
    };
    let text = |name: &str| next[name].as_str().map(str::to_owned);
    Ok(Some(Recorded {
        steps: steps.len(),
        step: None,
        chain: names(&next["next"]),
        target: target.to_owned(),
        status: String::new(),
        barred: text("code").and_then(|code| Code::parse(&code)).zip(text("barred")),
    }))
}

/// The file with what was taken out of a handoff that is not what it was when that was sent, as whoever receives is told. One
/// that is gone is found without the ledger.
fn changed_kept(here: &Here<'_>, document: &Document, step: &Value) -> Option<(Code, String)> {
    let found = kept::sums(&document.value, document.path(), here.project.root.as_deref());
    let differs = |was: &Value, is: &Value| was["sha256"] != is["sha256"] || was["bytes"] != is["bytes"];
    let is_changed = |was: &&Value| found.iter().any(|is| is["path"] == was["path"] && differs(was, is));
    let changed = step["sums"].as_array()?.iter().find(is_changed)?["path"].as_str()?;
    let why = format!("{changed} with what was taken out of it was changed after it was sent");
    Some((Code::IntegrityMismatch, why))
}

/// The chain that a document names; nothing, if its source began, or it cannot be read as one.
fn named_chain(meta: &Value) -> Vec<&str> {
    meta["handoff_chain"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
