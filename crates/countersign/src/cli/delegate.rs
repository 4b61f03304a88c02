//! `countersign delegate`

pub mod forge;
mod resolve;

use super::Exit;
use super::asking::{Here, How, line, look, look_and_judge, refused, text_of, wrong};
use super::output::{self, Format};
use crate::client::{self, Client};
use crate::world::Around;
use countersign_diagnostic::visible;
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::Status;
use countersign_runner::Trouble;
use countersign_runner::delegate::{Answered, Handed, Looked, Setup, carry_out_handed};
use forge::Forge;
use resolve::Resolving;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Have a platform action carried out, once, with an audit entry and a response
///
/// The instruction is checked first: its shape, its authority, and whether the executor can do it. What passes is acted on once
/// for its id, however often it is handed in and whatever was killed in between; what does not is answered with what is wrong.
/// The audit entry is in the ledger and in `.evidence/platform-actions/` before the response is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign delegate instruction.yaml
  countersign delegate instruction.yaml --executor dry-run
  countersign delegate instruction.yaml --format json > response.json
  countersign delegate --next DI-2025-12-25-001
  countersign inbox
  countersign delegate --resolve DI-2025-12-25-001 --decision retry \\
      --reason 'the token was renewed' --shown MARK
  countersign delegate --alerts
  GITHUB_TOKEN=… countersign delegate instruction.yaml --executor github

Exit codes: 0 it was done, 1 it was not (the response says why) or was refused, 2 wrong usage, 3 could not be run.")]
pub struct Args {
    /// The instruction, in YAML or JSON; - is standard input
    #[arg(value_name = "INSTRUCTION", required_unless_present_any = ["next", "alerts", "resolve"])]
    instruction: Option<PathBuf>,

    /// Say what the requester of an instruction does next: await, verify, proceed, retry, wait, correct, escalate or abandon
    #[arg(long, value_name = "ID", conflicts_with = "instruction")]
    next: Option<String>,

    /// Say what of the last hour should worry whoever answers for delegation; exit 1 if anything should
    #[arg(long, conflicts_with_all = ["instruction", "next"])]
    alerts: bool,

    /// Who carries it out
    #[arg(long, value_enum, default_value_t = Who::Git)]
    executor: Who,

    #[command(flatten)]
    forge: Forge,

    #[command(flatten)]
    resolving: Resolving,

    #[command(flatten)]
    how: How,
}

/// Who carries an action out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    /// Nobody: what would be done is answered, and the instruction's id is used up
    DryRun,
    /// Git, in the project's own repository: branches and tags
    Git,
    /// GitHub, or a platform that speaks as it does: every action
    Github,
}

impl Who {
    fn kind(self) -> ExecutorKind {
        match self {
            Self::DryRun => ExecutorKind::DryRun,
            Self::Git => ExecutorKind::Git,
            Self::Github => ExecutorKind::Github,
        }
    }
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    if let Some(id) = &args.next {
        return look(here, &args.how, "delegation.next", json!({ "instruction_id": id }), next_words);
    }
    if let Some(id) = &args.resolving.resolve {
        return resolve::run(id, &args.resolving, here, args.how.format);
    }
    if args.alerts {
        let judge = |shown: &Value| if has_alerts(shown) { Exit::Refused } else { Exit::Allowed };
        return look_and_judge(here, &args.how, "delegation.alerts", json!({}), alert_words, judge);
    }
    client::must_be_local(here.project, here.global)?;
    let path = args.instruction.as_deref().unwrap_or(Path::new("-"));
    let text = text_of(here, path)?;
    let file = name_of(path);
    let Some(root) = here.project.tree_root() else {
        // Whoever named a ledger that cannot be opened is told that first.
        Client::open(here.project, here.global)?;
        anyhow::bail!("there is no project here; begin one with `countersign init`");
    };
    let platform = args.forge.platform(here, root.clone())?;
    let executor = platform.executor(args.executor.kind()).map_err(wrong)?;
    let handed = Handed::read(&Around::of(here.project), &file, &text);
    // The platform is asked whether it can be done while the ledger is opened.
    handed.foresee(executor.as_ref());
    let client = Client::open(here.project, here.global)?;
    let setup = Setup {
        engine: client.engine()?,
        world: client.around()?,
        call: client.call()?,
        root: &root,
        locks: &platform.locks,
        executor: executor.as_ref(),
        file: &file,
        text: &text,
        of_task: None,
    };
    match carry_out_handed(&setup, handed) {
        Ok(answered) => Ok(show(&answered, args.how.format)),
        Err(Trouble::Refused(failure)) => refused(*failure, args.how.format),
        Err(Trouble::Failed(why)) => Err(anyhow::Error::msg(why)),
    }
}

/// What the instruction is called. Standard input has no name to tell its form by.
fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "instruction".to_owned() } else { path.to_string_lossy().into_owned() }
}

fn show(answered: &Answered, format: Format) -> Exit {
    let response = &answered.response;
    match format {
        Format::Json => output::print(&line(response)),
        Format::Text => output::print(&words(answered)),
    }
    for warning in &answered.warnings {
        let word = warning.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", warning.pointer, warning.message, warning.help));
    }
    if let Looked::Unseen(why) = &answered.looked {
        output::say(&format!(
            "warning: it could not be looked at whether it is there: {}; hand it in again, and it is",
            visible(why)
        ));
    }
    let done = response["STATUS"] == Status::Success.as_str() && answered.looked != Looked::Missing;
    if done { Exit::Allowed } else { Exit::Refused }
}

fn words(answered: &Answered) -> String {
    let response = &answered.response;
    let text = |pointer: &str| {
        let value = response.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        visible(value).into_owned()
    };
    let mut out = format!("{} {} as {}", text("/INSTRUCTION_ID"), text("/STATUS"), text("/RESPONSE_ID"));
    out.push_str(if answered.repeated { " (answered before; nothing was done now)\n" } else { "\n" });
    if response["PLATFORM_EVIDENCE"].is_object() {
        let (state, url) = (text("/PLATFORM_EVIDENCE/RESOURCE_STATE"), text("/PLATFORM_EVIDENCE/RESOURCE_URL"));
        out.push_str(&format!("  {} {state}: {url}\n", text("/PLATFORM_EVIDENCE/RESOURCE_TYPE")));
        if answered.looked == Looked::Missing {
            out.push_str(
                "  it was looked for and is not there as it was asked for; a person decides: `countersign inbox`\n",
            );
        }
    }
    if response["FAILURE_DETAILS"].is_object() {
        let (kind, message) = (text("/FAILURE_DETAILS/ERROR_TYPE"), text("/FAILURE_DETAILS/ERROR_MESSAGE"));
        out.push_str(&format!("  {kind}: {message}\n  help: {}\n", text("/FAILURE_DETAILS/REMEDIATION_GUIDANCE")));
    }
    for error in response["VALIDATION_ERRORS"].as_array().into_iter().flatten() {
        let text = |name: &str| visible(error[name].as_str().unwrap_or("-")).into_owned();
        out.push_str(&format!("  {}: {}; {}\n", text("FIELD"), text("ERROR"), text("EXPECTED")));
    }
    out.push_str(&format!("  audit entry: {}\n", text("/AUDIT_ENTRY_PATH")));
    out
}

fn next_words(shown: &Value) -> String {
    let text = |name: &str| visible(shown[name].as_str().unwrap_or("-")).into_owned();
    let mut out = format!("{}: {}, because {}\n", text("instruction_id"), text("step"), text("reason"));
    let at = shown["not_before"].as_i64().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    if let Some(at) = at {
        out.push_str(&format!("  not before {at}\n"));
    }
    // What the instruction itself says about telling success, and about failing, is for whoever asked to act on.
    let step = shown["step"].as_str().unwrap_or_default();
    let succeeded = matches!(step, "verify" | "proceed");
    let lines: &[(&str, &str)] = match succeeded {
        true => &[("where", "resource_url"), ("seen", "seen"), ("criteria", "success_criteria")],
        false => &[("seen", "seen"), ("on failure", "failure_handling")],
    };
    for (word, name) in lines.iter().filter(|(_, name)| shown[*name].is_string()) {
        out.push_str(&format!("  {word}: {}\n", text(name)));
    }
    out
}

fn has_alerts(shown: &Value) -> bool {
    shown["alerts"].as_array().is_some_and(|alerts| !alerts.is_empty())
}

fn alert_words(shown: &Value) -> String {
    let mut out = format!("{} answered in the last hour\n", shown["answered"]);
    for alert in shown["alerts"].as_array().into_iter().flatten() {
        let text = |name: &str| visible(alert[name].as_str().unwrap_or("-")).into_owned();
        out.push_str(&format!("  {}: {}\n", text("alert"), text("says")));
    }
    out
}
