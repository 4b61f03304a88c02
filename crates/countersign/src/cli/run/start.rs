//! `countersign run start`, for short `countersign run PLAN`

use super::live::Live;
use super::{dry, inlining, reading, report};
use crate::cli::asking::{Here, How, pages, refused, text_of, wrong};
use crate::cli::delegate::forge::Forge;
use crate::cli::output::{self, Format};
use crate::cli::splitting::{Typed, typed};
use crate::cli::{Exit, interrupt};
use crate::client::{self, Client};
use crate::terminal;
use crate::tracing::Tracing;
use anyhow::{Context, bail};
use countersign_contract::Checked;
use countersign_diagnostic::{Code, Diagnostic, Severity};
use countersign_domain::deciding::Refusal;
use countersign_domain::plan::command::read;
use countersign_domain::plan::payload::{Plan, Span};
use countersign_engine::{Call, Failure};
use countersign_runner::Trouble;
use countersign_runner::agent::Stop;
use countersign_runner::run::{self as runner, End, Outcome, Setup, State};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The largest number that every form of a plan can hold.
const COUNT_MAX: u64 = (1 << 53) - 1;

/// Start a run with a plan: agents work, and nothing is done until it is verified
///
/// Each task is given to its agent in a working tree of its own. What the agent claims is tested in a clean checkout, looked at
/// by whom the plan names, and only then merged. Whatever needs a person is in `countersign inbox`, and nothing else stops.
/// A run that was stopped or killed goes on with --resume. Traces go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT or the
/// settings name; `countersign trace` shows them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run plan.yaml
  countersign run plan.yaml --dry-run
  countersign run --resume
  countersign run --resume --budget attempts=20 --budget wall_time=2h
  countersign run plan.yaml --concurrency 4 --notify './tell-me.sh --to \"the team\"'

What programs read and write:
  an agent that works      an assignment, and a subagent_result; `countersign schema NAME` has each of these forms
  one that validates       a validation_request, and a validation_response
  one that judges          a JSON object, and {\"verdict\": \"PASS\", \"reasoning\": \"why\"}, or WARN or FAIL

Exit codes: 0 every task is done, 1 something is not done, 2 wrong usage, 3 could not be run.")]
#[group(id = "start")]
pub struct Args {
    /// The plan, in YAML or JSON; - is standard input
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,

    /// Show the order, what goes on side by side and what each gate asks, and do nothing
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,

    /// Go on with a run that was stopped or killed: the only open one, or the one named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "plan")]
    resume: Option<String>,

    /// How many agents work at once; otherwise what the plan says, or as many as there are cores
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,

    /// Wait for people when nothing else is left to do; so it is at a terminal
    #[arg(long, overrides_with = "no_wait")]
    wait: bool,

    /// End when only people can go on; so it is without a terminal
    #[arg(long)]
    no_wait: bool,

    /// A command to run whenever a person is asked: a program and its arguments, in words as a shell would split them; no
    /// shell. It reads the item of the inbox from standard input, as JSON
    #[arg(long, value_name = "CMD", value_parser = typed)]
    notify: Option<Typed>,

    /// What may be spent this time instead of what the plan says: attempts, tokens, money or wall_time
    #[arg(long, value_name = "NAME=VALUE", value_parser = budget)]
    budget: Vec<(String, Value)>,

    /// The id of the run, a UUID of version 4; otherwise one is drawn
    #[arg(long, value_name = "UUID", conflicts_with = "resume")]
    id: Option<String>,

    #[command(flatten)]
    forge: Forge,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let plan = match (&args.plan, &args.resume) {
        (Some(path), _) => match inlining::written(here, text_of(here, path)?, args.how.format)? {
            Ok(text) => Some(text),
            Err(exit) => return Ok(exit),
        },
        (None, Some(_)) => None,
        (None, None) => return Err(wrong("name a plan, or go on with a run: `countersign run --resume`")),
    };
    if let Some(text) = plan.as_ref().filter(|_| !args.budget.is_empty())
        && let Some(plan) = reading::plan(&reading::checked(here, text))
        && let Some(refusal) = too_little(here, &serde_json::to_value(with_budgets(plan.clone(), &args.budget)?)?)
    {
        return refused(refusal, args.how.format);
    }
    if args.dry_run {
        return dry::run(here, &plan.unwrap_or_default(), args.how.format);
    }
    client::must_be_local(here.project, here.global)?;
    let client = Client::open(here.project, here.global)?;
    if let Some(text) = &plan {
        let checked = reading::checked(here, text);
        fits(args, here, &checked)?;
        reading::advise(&checked);
    }
    let run = match plan {
        Some(plan) => match client.ask("run.start", &start(args, &plan)) {
            Ok(reply) => reply.answer["run_id"].as_str().unwrap_or_default().to_owned(),
            Err(failure) => return refused(failure, args.how.format),
        },
        None => match client.look("run.plan", &resumed(args)) {
            Ok(shown) => shown["run_id"].as_str().unwrap_or_default().to_owned(),
            Err(Failure::Refused(mut refusal)) if refusal.code == Code::MissingRequiredInput => {
                refusal.help = "name it: `countersign run --resume RUN`; `countersign run list` shows them".into();
                return refused(Failure::Refused(refusal), args.how.format);
            }
            Err(failure) => return refused(failure, args.how.format),
        },
    };
    let tracing = Tracing::beside_run(here);
    let exit = carry_out(args, here, &client, &run);
    tracing.end();
    exit
}

/// Whether a plan can be carried out here as it was asked for. What cannot be is refused before a run is begun.
fn fits(args: &Args, here: &Here<'_>, checked: &Checked) -> anyhow::Result<()> {
    // What is no plan is refused with its faults, when the run would be begun.
    let Some(plan) = reading::plan(checked) else { return Ok(()) };
    let plan = with_budgets(plan.clone(), &args.budget)?;
    let root = here.project.root.as_deref();
    root.map_or(Ok(()), |root| runner::ready(root, &plan).map_err(anyhow::Error::msg))
}

/// A budget from the command line: a name, and how much.
fn budget(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE, such as attempts=20")?;
    let no = |what: &str, such: &str| format!("`{value}` is no {what}; write {name}={such}, for example");
    let value = match name {
        "wall_time" => {
            let span = Span::parse(value).filter(|span| span.seconds() > 0);
            json!(span.ok_or_else(|| no("length of time with a unit", "90s, 20m or 1h30m"))?)
        }
        "attempts" | "tokens" => {
            let count = value.parse::<u64>().ok().filter(|count| (1..=COUNT_MAX).contains(count));
            json!(count.ok_or_else(|| no("whole number from 1 on", "20"))?)
        }
        "money" => {
            let money = value.parse::<f64>().ok().filter(|money| money.is_finite() && *money > 0.0);
            json!(money.ok_or_else(|| no("amount of US dollars", "2.50"))?)
        }
        _ => return Err(format!("there is no budget `{name}`; there are attempts, tokens, money and wall_time")),
    };
    Ok((name.to_owned(), value))
}

/// The plan with the budgets that were named for this time.
fn with_budgets(plan: Plan, budgets: &[(String, Value)]) -> anyhow::Result<Plan> {
    if budgets.is_empty() {
        return Ok(plan);
    }
    let mut changed = serde_json::to_value(&plan)?;
    for (name, value) in budgets {
        changed["budgets"][name] = value.clone();
    }
    read(&changed.to_string()).ok_or_else(|| wrong("the budgets do not fit the plan"))
}

/// Why nothing could be done with the budgets that were named for this time: they are held to what those of a plan are. What else
/// there is to say of it was said when it was begun.
fn too_little(here: &Here<'_>, plan: &Value) -> Option<Failure> {
    let checked = reading::checked(here, &plan.to_string());
    let is_of_budget = |it: &Diagnostic| it.severity == Severity::Error && it.pointer.as_str().starts_with("/budgets/");
    let findings: Vec<Diagnostic> = checked.decision.details.diagnostics.into_iter().filter(is_of_budget).collect();
    let refusal = findings.first().map(|it| Refusal::new(it.code, it.message.clone(), it.help.clone()));
    refusal.map(|refusal| Failure::Refused(Box::new(Refusal { findings, ..refusal })))
}

/// A plan without the tasks that are over: nothing is spent on them any more.
fn left_of(client: &Client<'_>, run: &str, plan: &Plan) -> anyhow::Result<Value> {
    let Ok(shown) = pages(client, "task.list", (json!({ "run_id": run }), "tasks"), None) else {
        bail!("the tasks of run {run} cannot be read");
    };
    let is_over = |task: &&Value| ["done", "failed", "canceled"].iter().any(|status| task["status"] == *status);
    let over: Vec<&Value> = shown["tasks"].as_array().into_iter().flatten().filter(is_over).collect();
    let mut left = serde_json::to_value(plan)?;
    if let Some(tasks) = left["tasks"].as_array_mut() {
        tasks.retain(|task| over.iter().all(|it| it["task_id"] != task["id"]));
    }
    Ok(left)
}

fn start(args: &Args, plan: &str) -> Value {
    match &args.id {
        Some(id) => json!({ "plan": plan, "run_id": id }),
        None => json!({ "plan": plan }),
    }
}

fn resumed(args: &Args) -> Value {
    match args.resume.as_deref().filter(|run| !run.is_empty()) {
        Some(run) => json!({ "run_id": run }),
        None => json!({}),
    }
}

/// Carries a run out from the plan that stands in the ledger.
fn carry_out(args: &Args, here: &Here<'_>, client: &Client<'_>, run: &str) -> anyhow::Result<Exit> {
    let plan = with_budgets(plan_of(client, run)?, &args.budget)?;
    if args.resume.is_some()
        && !args.budget.is_empty()
        && let Some(refusal) = too_little(here, &left_of(client, run, &plan)?)
    {
        return refused(refusal, args.how.format);
    }
    let root = here.project.root.as_deref().context("there is no project here; run `countersign init`")?;
    let root = root.canonicalize().with_context(|| format!("{} cannot be read", root.display()))?;
    let spool = root.join(crate::project::FOLDER).join("runs").join(run);
    std::fs::create_dir_all(&spool).with_context(|| format!("{} cannot be made", spool.display()))?;
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let planned = plan.concurrency.and_then(|it| usize::try_from(it.get()).ok());
    let concurrency = args.concurrency.map(usize::from).or(planned).unwrap_or(cores);
    let stop = Stop::default();
    let live = Live::new(&plan, run, args.how.format, &stop);
    if args.resume.is_some() && live.is_drawn() {
        live.take_up(client);
    }
    let _signals = interrupt::stops(&stop, !live.is_drawn())?;
    let platform = args.forge.platform(here, root.clone())?;
    let call = leading(client.call()?);
    let setup = Setup {
        platform: &platform,
        engine: client.engine()?,
        world: client.around()?,
        mends: Some(client.around()?),
        call: &call,
        root: &root,
        spool: &spool,
        plan: &plan,
        run,
        concurrency,
        waits: (args.wait || terminal::can_ask()) && !args.no_wait,
        notify: args.notify.as_ref().map(|words| words.0.as_slice()),
        variables: &variables(here, &root),
        stop: &stop,
        watch: &live,
    };
    let outcome = runner::carry_out(&setup);
    live.end();
    match outcome {
        Ok(outcome) => conclude(args, client, run, &outcome),
        Err(Trouble::Refused(failure)) => refused(*failure, args.how.format),
        Err(Trouble::Failed(why)) => Err(anyhow::Error::msg(why)),
    }
}

/// Who carries a run out, known by more than the number of a process: that can be had again, and looks the same in another
/// namespace.
fn leading(call: &Call) -> Call {
    Call { authn: format!("{} nonce={}", call.authn, uuid::Uuid::new_v4().simple()), ..call.clone() }
}

fn plan_of(client: &Client<'_>, run: &str) -> anyhow::Result<Plan> {
    let shown = match client.look("run.plan", &json!({ "run_id": run })) {
        Ok(shown) => shown,
        Err(_) => bail!("the plan of run {run} cannot be read"),
    };
    read(shown["plan"].as_str().unwrap_or_default())
        .with_context(|| format!("the plan of run {run} was erased, or was written by a newer version"))
}

/// What every agent is told of where it is. Tokens are not among it.
fn variables(here: &Here<'_>, root: &std::path::Path) -> Vec<(String, String)> {
    let mut variables = vec![("COUNTERSIGN_PROJECT".to_owned(), root.to_string_lossy().into_owned())];
    if let Ok(program) = std::env::current_exe() {
        variables.push(("COUNTERSIGN_BIN".to_owned(), program.to_string_lossy().into_owned()));
    }
    // One with a password in it would be a secret.
    let ledger = here.global.ledger.as_ref().filter(|ledger| !ledger.contains("://"));
    let ledger = ledger.and_then(|ledger| std::path::absolute(ledger).ok());
    variables.extend(ledger.map(|ledger| ("COUNTERSIGN_LEDGER".to_owned(), ledger.to_string_lossy().into_owned())));
    if let Ok(home) = std::env::var("COUNTERSIGN_HOME") {
        variables.push(("COUNTERSIGN_HOME".to_owned(), home));
    }
    variables
}

/// Closes what is finished, and says how it ended.
fn conclude(args: &Args, client: &Client<'_>, run: &str, outcome: &Outcome) -> anyhow::Result<Exit> {
    let shown = client.look("run.show", &json!({ "run_id": run }));
    let status = shown.ok().and_then(|shown| shown["status"].as_str().map(str::to_owned));
    // One that was over before: there was nothing to go on with.
    let over = status.filter(|status| status != "open");
    if outcome.end == End::Finished
        && over.is_none()
        && let Err(failure) = client.ask("run.close", &json!({ "run_id": run }))
    {
        return refused(failure, args.how.format);
    }
    match args.how.format {
        Format::Json => output::print(&report::json(client, run, outcome, over.as_deref())?),
        Format::Text => output::print(&report::text(client, run, outcome, over.as_deref())?),
    }
    let all_done = outcome.tasks.iter().all(|task| task.state == State::Done);
    Ok(if all_done { Exit::Allowed } else { Exit::Refused })
}
