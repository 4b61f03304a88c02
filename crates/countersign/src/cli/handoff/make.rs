//! `countersign handoff make`

use super::onward::{Document, discover, meant, show_refused};
use super::{tiers, verdict};
use crate::cli::asking::{Here, How, line, refused, wrong};
use crate::cli::output::Format;
use crate::cli::splitting::{Typed, typed};
use crate::cli::targets::Among;
use crate::cli::{Exit, interrupt, output};
use crate::client::Client;
use crate::terminal::Terminal;
use crate::world;
use countersign_contract::Checker;
use countersign_contract::fix::{ATTEMPTS_MAX, Fixed};
use countersign_diagnostic::{Code, Source, render, visible};
use countersign_domain::deciding::Refusal;
use countersign_domain::handoff::payload::TraceId;
use countersign_engine::Failure;
use countersign_runner::agent::Stop;
use countersign_runner::handoff::{Chain, Made, Making, Summarizer, Undrafted, Words, Written, prompt};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Make a handoff within its budget
///
/// Id, times, hash, size and count are filled in. What is too long is shortened step by step, and everything that is taken
/// out is kept in one file that the handoff refers to. What cannot be mended without a person is reported, and nothing is
/// written. The handoff lies in {session}/handoffs/{source}-to-{target}-{time}.json, or in the temporary directory if that
/// cannot be written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff make --source planner --target builder --summary 'Build the plan' --problem-type implementation \\
      --payload plan.json
  countersign handoff make --from received.json --source builder --target reviewer --summary 'Review it' --payload done.json
  countersign handoff make --from draft.json --max-tokens 1500 --summarizer 'llm summarize' --out handoff.json
  countersign handoff make --from draft.json --repairer 'llm repair' --out handoff.json

Exit codes: 0 made, 1 a person must decide, 2 wrong usage, 3 could not be read or written.")]
pub struct Args {
    /// A handoff to begin with: a draft, or the one that was received before
    #[arg(long, value_name = "DRAFT")]
    pub from: Option<PathBuf>,

    /// Who hands over
    #[arg(long, value_name = "SKILL")]
    pub source: Option<String>,

    /// Who takes over
    #[arg(long, value_name = "SKILL")]
    pub target: Option<String>,

    /// What it is about, in at most 500 characters
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,

    /// decision, creative, analytical, strategic, implementation, research or verification
    #[arg(long, value_name = "KIND")]
    pub problem_type: Option<String>,

    /// What is handed over: an object becomes part of the working payload, or, if it has nothing but `working`, `session` and
    /// `references`, of those; another text stands in it under the file's name. May be given several times
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub payload: Vec<PathBuf>,

    /// The trace that it goes on with; its chain is taken from the ledger
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<String>,

    /// The directory of the session; otherwise one below `.countersign/sessions`
    #[arg(long, value_name = "DIR")]
    pub session_path: Option<PathBuf>,

    /// The run of the source; otherwise the beginning of the trace's id
    #[arg(long, value_name = "ID")]
    pub workflow_id: Option<String>,

    /// Where in its work the source stands
    #[arg(long, value_name = "TEXT")]
    pub phase: Option<String>,

    /// How sure the source is: high, medium or low
    #[arg(long, value_name = "WORD")]
    pub confidence: Option<String>,

    /// Why it is handed over, and why again where the target was part of the chain before
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// A person agreed to this handoff; it is sent by a person then, at a terminal or with a token
    #[arg(long)]
    pub approved: bool,

    /// From when on nobody may act on it
    #[arg(long, value_name = "TIME")]
    pub expires_at: Option<jiff::Timestamp>,

    /// How many tokens it may have; at most the configured limit
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,

    /// A command that reads a text on standard input and writes a shorter one: a program and its arguments, in words as a shell
    /// would split them; no shell
    #[arg(long, value_name = "CMD", value_parser = typed)]
    pub summarizer: Option<Typed>,

    /// A command that mends what rules cannot: it reads on standard input what is wrong with which document, and writes the mended
    /// document. What was not wrong must come back as it was; hash, size and count are computed anew. Split as --summarizer is
    #[arg(long, value_name = "CMD", value_parser = typed)]
    pub repairer: Option<Typed>,

    /// Hand it to a target that neither a registry nor a skill file names, though some name others
    #[arg(long)]
    pub unlisted: bool,

    /// Where it is written instead; - is standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub among: Among,

    #[command(flatten)]
    pub how: How,
}

/// What an agent can do instead of saying that a person agreed.
const NOT_APPROVED: &str = "ask your person, who makes and sends it";

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if args.approved && std::env::var_os("COUNTERSIGN_ATTEMPT").is_some() {
        let reason = "--approved is the word of a person, and this process was started by an agent's attempt";
        return refused(Failure::from(Refusal::new(Code::AuthorizationMissing, reason, NOT_APPROVED)), args.how.format);
    }
    let Some(words) = words(args, here)? else { return Ok(Exit::Refused) };
    let mut settings = here.project.settings.clone();
    settings.tokens_max = args.max_tokens.map_or(settings.tokens_max, |max| max.min(settings.tokens_max));
    let checker = Checker { settings: &settings, ..here.project.checker() };
    let stop = Stop::default();
    let program = |typed: &Typed| Summarizer::typed(&typed.0).stopped_by(&stop);
    let (summarizer, repairer) = (args.summarizer.as_ref().map(program), args.repairer.as_ref().map(program));
    let _signals = summarizer.as_ref().or(repairer.as_ref()).map(|_| interrupt::stops(&stop, false)).transpose()?;
    let client = ledger(here, &words)?;
    let chain = |client: &Client<'_>, question: &Value| client.look("handoff.chain", question);
    let chain = client.as_ref().map(|client| move |question: &Value| chain(client, question));
    let making = Making {
        root: here.project.root.as_deref(),
        checker: &checker,
        outside: &world::outside(None),
        summarizer: summarizer.as_ref(),
        repairer: repairer.as_ref(),
        chain: chain.as_ref().map(|chain| chain as Chain<'_>),
        warn: &|what: &str| output::say(&format!("warning: {what}")),
    };
    let mut value = match making.draft(&words) {
        Ok(value) => value,
        Err(why) => return undrafted(args, why),
    };
    let word = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).filter(|it| !it.trim().is_empty());
    let Some(target) = word("/handoff/target/skill").map(str::to_owned) else {
        return discover(here, &args.among, &value, args.how.format);
    };
    match meant(here, &args.among, &value, &target, args.unlisted, args.how.format)? {
        Some(chosen) => value["handoff"]["target"]["skill"] = json!(chosen),
        None => return Ok(Exit::Refused),
    }
    // Whoever named the session at the command line may write there.
    let place = making.place(&value, args.out.as_deref(), args.session_path.is_some());
    let written = match making.write(&value, &place)? {
        Written::Made(made) => made,
        Written::Undecided(fixed) => {
            report(args, &fixed);
            return Ok(Exit::Refused);
        }
    };
    for finding in &written.fixed.checked.decision.details.diagnostics {
        let word = finding.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
    }
    made(args, &written);
    Ok(Exit::Allowed)
}

/// The ledger that knows the trace, where a trace is named and there is a ledger or must be one.
fn ledger<'p>(here: &Here<'p>, words: &Words) -> anyhow::Result<Option<Client<'p>>> {
    let begun = words.from.as_ref().and_then(|it| it.pointer("/handoff/trace_id")).and_then(Value::as_str);
    let trace = words.trace.as_deref().or(begun).and_then(TraceId::parse);
    let has_ledger = here.project.root.is_some() || here.global.ledger.is_some() || here.global.server.is_some();
    let asks = trace.is_some() && (has_ledger || words.trace.is_some());
    asks.then(|| Client::open(here.project, here.global)).transpose()
}

/// What was said on the command line. None, if what it was to begin with may not be used; that was said.
fn words(args: &Args, here: &Here<'_>) -> anyhow::Result<Option<Words>> {
    if let Some(trace) = args.trace.as_deref().filter(|trace| TraceId::parse(trace).is_none()) {
        return Err(wrong(format!("`{trace}` is no trace id: a UUID in lower case")));
    }
    let from = match &args.from {
        None => None,
        Some(path) => match begin(args, here, path)? {
            Some(value) => Some(value),
            None => return Ok(None),
        },
    };
    let payload = if args.payload.is_empty() { None } else { Some(tiers::of(&args.payload, here)?) };
    Ok(Some(Words {
        from,
        source: args.source.clone(),
        target: args.target.clone(),
        summary: args.summary.clone(),
        problem_type: args.problem_type.clone(),
        payload,
        trace: args.trace.clone(),
        session_path: args.session_path.clone(),
        workflow_id: args.workflow_id.clone(),
        phase: args.phase.clone(),
        confidence: args.confidence.clone(),
        reason: args.reason.clone(),
        approved: args.approved,
        expires_at: args.expires_at,
    }))
}

/// What was begun with. A document that vouches for another payload than it has is not gone on from.
fn begin(args: &Args, here: &Here<'_>, path: &Path) -> anyhow::Result<Option<Value>> {
    let format = args.how.format;
    let Some(document) = Document::read(here, path, format)? else {
        output::say("the draft is no handoff that can be read; make it again without --from");
        return Ok(None);
    };
    let source = Source { name: &document.input.name, text: &document.text };
    let checked = super::checked(here.project, source, document.path());
    let findings = &checked.decision.details.diagnostics;
    if findings.iter().any(|it| it.rule == "payload-hash-mismatch") && args.payload.is_empty() {
        show_refused(here, &document.input, &document.text, format);
        return Ok(None);
    }
    Ok(Some(document.value))
}

fn undrafted(args: &Args, why: Undrafted) -> anyhow::Result<Exit> {
    match (why, args.how.format) {
        (Undrafted::Barred { code, why }, Format::Json) => {
            output::print(&line(&json!({ "allow": false, "code": code, "reason": why })));
            Ok(Exit::Refused)
        }
        (Undrafted::Barred { code, why }, Format::Text) => {
            output::say(&format!("refused [{code}]: {why}"));
            Ok(Exit::Refused)
        }
        (Undrafted::Unasked(failure), format) => refused(failure, format),
        (Undrafted::Unusable(why), _) => Err(anyhow::Error::msg(why)),
    }
}

/// What a person must decide. Nothing was written.
fn report(args: &Args, fixed: &Fixed) {
    let source = Source { name: "the handoff", text: &fixed.text };
    let decision = &fixed.checked.decision;
    match args.how.format {
        Format::Json => {
            let shown = output::masked(&fixed.text, decision);
            let rendered = render::json::decision(decision, Source { text: &shown, ..source });
            let mut report: Value = serde_json::from_str(&rendered).unwrap_or_default();
            report["attempts"] = json!(fixed.attempts);
            report["changes"] = json!(fixed.changes);
            report["repair_prompt"] = json!(prompt(fixed));
            output::print(&line(&report));
        }
        Format::Text => {
            output::say_lines(&format!("after {} of {ATTEMPTS_MAX} attempts a person must decide:\n", fixed.attempts));
            output::say_rendered(verdict(&fixed.checked, source, &Terminal::stderr()).trim_end());
            output::say("nothing was written");
            output::say("  agent  --repairer CMD has a program mend it; --format json shows what it is asked");
        }
    }
}

fn made(args: &Args, made: &Made) {
    let fixed = &made.fixed;
    let value: Value = serde_json::from_str(&fixed.text).unwrap_or_default();
    let word = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let trace = word("/handoff/trace_id");
    let taken: Vec<&String> = fixed.kept.keys().collect();
    match (args.how.format, &made.path) {
        // The document is what was asked for on standard output, whatever the format of the answer.
        (_, None) => {
            output::print(&fixed.text);
            fixed.changes.iter().for_each(|change| output::say(&format!("  {change}")));
        }
        (Format::Json, Some(path)) => output::print(&line(&json!({
            "path": path, "trace_id": trace, "tokens": value["handoff"]["meta"]["token_count"],
            "payload_hash": word("/handoff/meta/payload_hash"), "kept_at": fixed.kept_at, "taken": taken,
            "changes": fixed.changes, "attempts": fixed.attempts, "fallback": made.fallback,
        }))),
        (Format::Text, Some(path)) => {
            let path = path.display().to_string();
            let mut out = format!("made: {}, trace {}\n", visible(&path), visible(trace));
            for change in &fixed.changes {
                out.push_str(&format!("  {}\n", visible(change)));
            }
            out.push_str(&format!("  next  countersign handoff send {}\n", visible(&path)));
            output::print(&out);
        }
    }
}
