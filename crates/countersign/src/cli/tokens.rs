//! `countersign tokens`

use super::output::Format;
use super::{Exit, output};
use crate::gather::Input;
use crate::project::{Project, encoding_name};
use countersign_contract::{Form, parse};
use countersign_diagnostic::{visible, visible_json};
use countersign_tokens::Encoding;
use serde_json::json;
use std::path::PathBuf;

/// Count the tokens of a file, exactly
///
/// A document (JSON, YAML) is counted as the compact JSON that its limits are about, and also as it is written; any
/// other text as it is written. Counts for models with other tokenizers are estimates.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign tokens handoff.json
  countersign tokens notes.txt --encoding cl100k_base
  cat prompt.md | countersign tokens - --format json")]
pub struct Args {
    /// The file, or - for standard input
    file: PathBuf,

    /// o200k_base, cl100k_base, or chars4 for the estimate of four characters a token
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,

    /// How the count is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    let name = match &args.encoding {
        Some(name) => match encoding_name(name) {
            Ok(name) => name,
            Err(error) => {
                output::say(&format!("error: {error}"));
                return Ok(Exit::Usage);
            }
        },
        None => project.settings.encoding,
    };
    let encoding: Encoding = name.parse().map_err(|_| anyhow::anyhow!("there is no encoding `{name}`"))?;
    let input = Input::named(&args.file, None);
    let text = &input.text(project.settings.size_max)?;
    // What comes without a name that tells is a document if it can be read as an object: the count must not depend on
    // how the same document comes in.
    let unnamed = || text.trim_start().starts_with('{').then_some(Form::Json);
    let form = Form::of_name(&input.name).or_else(unnamed).filter(|form| *form != Form::Markdown);
    let document = form.and_then(|form| parse(text, form, project.settings.size_max).ok());
    let compact = document.map(|document| document.root().compact());
    let as_written = encoding.count(text);
    let compact_count = compact.as_deref().map(|compact| encoding.count(compact));
    if args.format == Format::Json {
        let line = json!({
            "file": input.name,
            "encoding": name,
            "tokens": compact_count.unwrap_or(as_written),
            "of": if compact.is_some() { "compact_json" } else { "text" },
            "tokens_as_written": as_written,
            "characters": compact.as_deref().unwrap_or(text).chars().count(),
            "bytes": compact.as_deref().unwrap_or(text).len(),
        });
        output::print(&format!("{}\n", visible_json(&line.to_string())));
        return Ok(Exit::Allowed);
    }
    let shown = match compact_count {
        Some(count) => format!("{count} tokens as compact JSON, {as_written} as written"),
        None => format!("{as_written} tokens"),
    };
    output::print(&format!("{}: {shown} ({name})\n", visible(&input.name)));
    Ok(Exit::Allowed)
}
