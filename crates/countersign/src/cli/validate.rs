//! `countersign validate`

mod answer;
mod show;

use super::output::{self, Format};
use super::{Exit, interrupt};
use crate::checking;
use crate::files;
use crate::gather::Input;
use crate::project::{FOLDER, Project};
use crate::terminal::Terminal;
use crate::world;
use answer::Answers;
use anyhow::{Context, bail};
use countersign_contract::{Alone, Form, Request, parse};
use countersign_diagnostic::Source;
use countersign_diagnostic::render::{json, text};
use countersign_domain::validation::payload::{ValidationRequest, ValidationType};
use countersign_domain::validation::row::BUILTIN;
use countersign_runner::agent::Stop;
use countersign_runner::validate::{Checks, Job, validate};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Carry out a validation request by itself, and print the response
///
/// No command ever comes from the request. What decides a criterion is a check that you name in a file, by the criterion's
/// id and in the form of a plan's checks, or a program that validates. Without either, what the request says of itself is
/// still looked at: the commit, the files, the ports and addresses, and the page where a browser is asked for. That can
/// refute a request, or show that it cannot be looked at; it makes nothing pass. Checks run in a clean checkout of the
/// claimed commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign validate request.json
  countersign validate request.json --checks checks.yaml --out response.json
  countersign validate request.json --agent --validator reviewer -- python3 reviewer.py
  countersign validate request.json --checks checks.yaml --pictures pictures --format text

The checks:
  AC-1: {test: [python3, -m, pytest, -q, tests/test_round.py]}
  AC-2:
    - {file: {path: billing/round.py, not_contains: float(}}
    - {http: {url: http://127.0.0.1:8000/health}}

Exit codes: 0 the verdict is PASS, 1 it is another or the request is refused, 2 wrong usage, 3 could not be run.")]
pub struct Args {
    /// The request; - is standard input
    #[arg(value_name = "REQUEST")]
    request: PathBuf,

    /// What decides each criterion: YAML or JSON, by the ids of the criteria
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,

    /// Who validates; never the author of the work [default: builtin, or the name of the program]
    #[arg(long, value_name = "NAME")]
    validator: Option<String>,

    /// Have a program validate: it reads the request from standard input and writes a response
    #[arg(long, requires = "program")]
    agent: bool,

    /// The program that validates, and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "agent")]
    program: Vec<String>,

    /// Where the work lies, whatever the request says
    #[arg(long, value_name = "DIR")]
    worktree: Option<PathBuf>,

    /// A host that may be asked, beside this machine; may be given several times
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,

    /// Where pictures of pages go [default: .countersign/pictures, in a project]
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,

    /// How the response is written
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,

    /// A file for the response, as well
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    let input = Input::named(&args.request, None);
    let text = input.text(project.settings.size_max)?;
    let Some(request) = read(args, project, &input, &text)? else { return Ok(Exit::Refused) };
    let validator = validator(args, &request)?;
    let checks = match &args.checks {
        Some(path) => {
            let named = Input::named(path, None);
            let text = named.text(project.settings.size_max)?;
            Checks::read(&named.name, &text, &criteria_of(&request)).map_err(anyhow::Error::msg)?
        }
        None => Checks::default(),
    };
    let root = project.tree_root().map_or_else(std::env::current_dir, Ok).context("there is no current directory")?;
    let pictures = pictures(args, project, &request, &checks)?;
    let stop = Stop::default();
    let _signals = interrupt::stops(&stop, true)?;
    let answers = Answers::to(project, &input.name, &text, &validator);
    let job = Job {
        request: &request,
        input: &as_json(&input.name, &text, project)?,
        root: &root,
        worktree: args.worktree.as_deref(),
        checks: &checks,
        program: args.agent.then_some(args.program.as_slice()),
        validator: &validator,
        allowed_hosts: &args.allow_host,
        pictures: pictures.as_deref(),
        stop: &stop,
    };
    let response = validate(&job, &mut |answer| answers.take(answer)).map_err(anyhow::Error::msg)?;
    let response = answers.passed(response)?;
    if let Some(path) = &args.out {
        files::write(path, &format!("{response:#}\n"))?;
    }
    output::print(&match args.format {
        Format::Json => super::asking::line(&response),
        Format::Text => show::text(&response),
    });
    Ok(if response["verdict"] == "PASS" { Exit::Allowed } else { Exit::Refused })
}

/// The request, if it may pass. Whatever is found in it is said.
fn read(args: &Args, project: &Project, input: &Input, text: &str) -> anyhow::Result<Option<Arc<ValidationRequest>>> {
    let outside = world::outside(None);
    let source = Source { name: &input.name, text };
    let contract = Some("validation_request");
    let request = Request { source, form: None, contract, against: None, others: &Alone, outside: &outside };
    let path = input.path.as_deref().unwrap_or(Path::new(""));
    let checked = checking::checked(&project.checker(), project, &request, path);
    let decision = &checked.decision;
    if !decision.allow && args.format == Format::Json {
        output::print(&format!("{}\n", json::decision(decision, source)));
    } else if !decision.details.diagnostics.is_empty() {
        output::say_rendered(&checking::findings(&checked, source, Terminal::stderr().look()));
    }
    if !decision.allow {
        output::say(&format!("the request is not carried out: {}", text::verdict(decision)));
        return Ok(None);
    }
    let record = checked.records.into_iter().next().and_then(|record| record.downcast().ok());
    record.map(Some).with_context(|| format!("{} could not be read as a validation request", input.name))
}

/// The request as JSON, for a program.
fn as_json(name: &str, text: &str, project: &Project) -> anyhow::Result<String> {
    let form = Form::of_name(name).unwrap_or_else(|| Form::of_text(text));
    match parse(text, form, project.settings.size_max) {
        Ok(document) => Ok(format!("{}\n", document.root().to_value())),
        Err(fault) => bail!("{name} cannot be read: {}", fault.message),
    }
}

/// Who validates. It is never who did the work.
fn validator(args: &Args, request: &ValidationRequest) -> anyhow::Result<String> {
    let program = args.program.first().map(Path::new);
    let name = program.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = args.validator.clone().or(name).unwrap_or_else(|| BUILTIN.to_owned());
    if name.trim().is_empty() || name.chars().count() > 200 {
        return Err(super::wrong("the name of a validator has 1 to 200 letters"));
    }
    let plain = |name: &str| name.trim().to_lowercase();
    if request.x_author.as_ref().is_some_and(|author| plain(author.as_str()) == plain(&name)) {
        bail!("`{name}` did the work, and nobody validates their own; name somebody else with --validator");
    }
    Ok(name)
}

/// Where pictures go, if any will be taken.
fn pictures(
    args: &Args,
    project: &Project,
    request: &ValidationRequest,
    checks: &Checks,
) -> anyhow::Result<Option<PathBuf>> {
    let has_app = request.services.as_ref().is_some_and(|services| services.app_url.is_some());
    let browses = request.validation_type != ValidationType::Code && has_app;
    if !browses && !checks.look_at_pages() {
        return Ok(None);
    }
    let usual = || project.root.as_ref().map(|root| root.join(FOLDER).join("pictures"));
    let Some(folder) = args.pictures.clone().or_else(usual) else {
        output::say("warning: no picture of the page is kept; name a folder for it with --pictures");
        return Ok(None);
    };
    let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
    made.map(Some).with_context(|| format!("{} cannot be made", folder.display()))
}

/// The ids of what a request asks about.
pub fn criteria_of(request: &ValidationRequest) -> Vec<&str> {
    request.acceptance_criteria.iter().map(|criterion| criterion.id.as_str()).collect()
}
