//! `countersign trace`

mod tree;

use super::asking::{Here, line, refused, wrong};
use super::{Exit, output};
use crate::client::{self, Client};
use crate::tracing;
use anyhow::Context;
use countersign_runner::otlp::{self, Span};
use serde_json::json;
use tree::Tree;

/// Show a run, or the handoffs of a trace, as what took how long, inside of what
///
/// Spans are made from the ledger: the run, its tasks, the attempts at them, and in each the agent and the gates. Nothing has to
/// have been switched on before. With --send the trace goes to an OpenTelemetry collector, with the same ids each time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign trace
  countersign trace 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4 --format json
  countersign trace --send --endpoint http://localhost:4318
  countersign trace 550e8400-e29b-41d4-a716-446655440000 --send
  countersign trace --format otlp | jq '.resourceSpans[].scopeSpans[].spans | length'

With --send, the endpoint is --endpoint, or what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT or the project's
settings say. Only what has ended is sent.")]
pub struct Args {
    /// The run, or the trace of handoffs; otherwise the newest run
    #[arg(value_name = "RUN|TRACE")]
    run: Option<String>,

    /// Send the trace instead of showing it
    #[arg(long)]
    send: bool,

    /// The collector to send to, such as `http://localhost:4318`; from then on the project's settings may name it, too
    #[arg(long, value_name = "URL", requires = "send")]
    endpoint: Option<String>,

    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A tree, for people
    Text,
    /// The same tree, for programs
    Json,
    /// What would be sent, as OTLP in JSON
    Otlp,
}

impl Format {
    /// How a refusal is written.
    fn of_answer(self) -> output::Format {
        if self == Self::Text { output::Format::Text } else { output::Format::Json }
    }
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    client::must_be_local(here.project, here.global)?;
    let client = Client::open(here.project, here.global)?;
    let named = match &args.run {
        Some(run) => run.clone(),
        None => match client.look("run.list", &json!({ "limit": 1 })) {
            Ok(shown) => shown["runs"][0]["run_id"].as_str().unwrap_or_default().to_owned(),
            Err(failure) => return refused(failure, args.format.of_answer()),
        },
    };
    if named.is_empty() {
        return Err(wrong("there is no run yet; `countersign run PLAN` begins one"));
    }
    // What is no run may be the trace of handoffs; what is neither is refused as everywhere.
    let (run, trace) = match client.look("run.show", &json!({ "run_id": named })) {
        Ok(shown) => {
            let run = shown["run_id"].as_str().unwrap_or_default().to_owned();
            let trace = otlp::of_run(client.engine()?, &run).map_err(anyhow::Error::msg)?;
            (run, trace)
        }
        Err(failure) => match client.look("handoff.chain", &json!({ "trace_id": named })) {
            Ok(_) => {
                let trace = otlp::of_handoff(client.engine()?, &named).map_err(anyhow::Error::msg)?;
                (named, trace)
            }
            Err(_) => return refused(failure, args.format.of_answer()),
        },
    };
    if args.send {
        return send(args, here, &client, &run, &trace.ended);
    }
    match args.format {
        Format::Text => output::print(&Tree::of(&trace).text()),
        Format::Json => output::print(&line(&json!({ "run_id": run, "spans": Tree::of(&trace).json() }))),
        Format::Otlp => {
            let mut resource = otlp::resource(&|name| std::env::var(name).ok());
            resource.push(("countersign.project.id".to_owned(), client.engine()?.ledger().project().to_owned()));
            output::print(&line(&otlp::json(&resource, &trace.ended)));
        }
    }
    Ok(Exit::Allowed)
}

fn send(args: &Args, here: &Here<'_>, client: &Client<'_>, run: &str, spans: &[Span]) -> anyhow::Result<Exit> {
    let settings = match &args.endpoint {
        Some(endpoint) => tracing::settings_at(here.project, endpoint)?,
        None => tracing::settings(here.project)?,
    };
    let settings = settings.ok_or_else(|| {
        wrong("nobody says where traces go, or OTEL_SDK_DISABLED switches them off; name a collector with --endpoint")
    })?;
    let settings = settings.with_resource("countersign.project.id", client.engine()?.ledger().project());
    let sent = otlp::send_all(&settings, spans).map_err(anyhow::Error::msg);
    let sent = sent.with_context(|| format!("{} did not take the trace", settings.url))?;
    let (url, why) = (&settings.url, sent.why.as_deref().unwrap_or_default());
    match args.format {
        Format::Text => output::print(&format!("{} spans of {run} were sent to {url}\n", sent.taken)),
        Format::Json | Format::Otlp => {
            let answer = json!({ "run_id": run, "endpoint": url, "sent": sent.taken, "rejected": sent.rejected });
            output::print(&line(&answer));
        }
    }
    if sent.rejected > 0 {
        output::say(&format!("{} spans were not taken: {why}", sent.rejected));
        return Ok(Exit::Refused);
    }
    Ok(Exit::Allowed)
}
