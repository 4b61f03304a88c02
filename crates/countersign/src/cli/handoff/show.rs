//! `countersign handoff show`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, look_and_judge, wrong};
use crate::cli::output::{self, Format};
use crate::cli::words::{text, texts};
use countersign_diagnostic::visible_lines;
use serde_json::{Value, json};

/// Show a handoff as it was sent
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff show 550e8400-e29b-41d4-a716-446655440000
  countersign handoff show 550e8400-e29b-41d4-a716-446655440000 --step 1 --document > handoff.json")]
pub struct Args {
    /// The trace
    #[arg(value_name = "TRACE")]
    trace: String,

    /// The number of the handoff; otherwise the last one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: Option<u32>,

    /// The document alone, as it was sent
    #[arg(long)]
    document: bool,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if args.document && args.how.format == Format::Json {
        return Err(wrong("--document and --format json exclude each other; JSON has the document in it"));
    }
    let question = json!({ "trace_id": args.trace, "step": args.step });
    let said = |shown: &Value| if args.document { document(shown) } else { said(shown) };
    look_and_judge(here, &args.how, "handoff.show", question, said, |shown| match shown["document"].is_string() {
        // Nothing on standard output, where the document was asked for, is not the document.
        false if args.document => {
            output::say(&format!("error: {ERASED}; have its source make it anew"));
            Exit::Refused
        }
        _ => Exit::Allowed,
    })
}

/// What is said where the document was.
const ERASED: &str = "the text of this handoff was erased after it was sent; who handed it to whom is kept";

fn document(shown: &Value) -> String {
    let Some(document) = shown["document"].as_str() else { return String::new() };
    format!("{}\n", visible_lines(document.trim_end()))
}

fn said(shown: &Value) -> String {
    let step = &shown["step"];
    let cell = |name: &str| text(step, name);
    let chain = texts(step, "chain").join(" → ");
    let mut out = format!("handoff {}: {chain} → {}, {}\n", cell("step"), cell("target"), cell("status"));
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("  {name:<9} {value}\n"));
        }
    };
    field("sent", format!("{} by {}", cell("sent_at"), cell("sent_by")));
    if step["received_at"].is_string() {
        field("received", format!("{} by {}", cell("received_at"), cell("received_by")));
    }
    field("expires", cell("expires_at"));
    field("tokens", cell("tokens"));
    field("payload", text(shown, "payload_hash"));
    field("taken out", texts(shown, "taken").join(", "));
    field("kept in", texts(step, "kept").join(", "));
    match shown["document"].is_string() {
        true => format!("{out}\n{}", document(shown)),
        false => format!("{out}  {ERASED}\n"),
    }
}
