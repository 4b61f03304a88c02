//! The command line: one file for each verb.

mod apply;
pub mod asking;
mod backup;
mod bundle;
mod check;
mod checkpoint;
mod completions;
mod contracts;
mod delegate;
mod demo;
mod doctor;
mod erase;
mod example;
mod explain;
mod export;
mod fix;
mod gate;
mod handoff;
mod hook;
mod import;
mod inbox;
mod init;
mod install;
mod interrupt;
mod lock;
mod log;
mod man;
mod mcp;
mod migrate;
mod new;
pub mod output;
mod promise;
mod prove;
mod quick;
mod rebuild;
mod reconcile;
mod record;
mod rules;
mod run;
mod schema;
mod serve;
mod show;
mod splitting;
mod targets;
mod task;
mod token;
mod tokens;
mod trace;
mod validate;
mod verify;
mod verify_proof;
mod watch;
mod words;
mod worklog;

pub use asking::wrong;
pub use output::say;

use crate::place::Place;
use crate::project::Project;
use asking::Here;
use clap::{CommandFactory, Parser, Subcommand};
use countersign_diagnostic::{Diagnostic, Severity};
use countersign_engine::Failure;
use std::path::PathBuf;
use std::process::ExitCode;

/// What a command ended with, as its exit code says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything was allowed.
    Allowed = 0,
    /// Something was refused.
    Refused = 1,
    /// The command was called wrongly.
    Usage = 2,
    /// Something could not be read or done at all.
    Failed = 3,
}

/// Checks what agents hand to each other, and keeps a ledger of it that nobody can quietly rewrite
#[derive(Debug, Parser)]
#[command(name = "countersign", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    everywhere: Everywhere,

    #[command(subcommand)]
    verb: Verb,
}

/// What may be said with every verb.
#[derive(Debug, Default, clap::Args)]
struct Everywhere {
    /// The project's directory; otherwise the one above with a `.countersign` in it
    #[arg(long, global = true, env = "COUNTERSIGN_PROJECT", value_name = "DIR", help_heading = "Everywhere")]
    project: Option<PathBuf>,

    /// How many bytes a document may have; 16 MiB unless given
    #[arg(
        long, global = true, env = "COUNTERSIGN_MAX_SIZE", value_name = "BYTES", help_heading = "Everywhere",
        value_parser = clap::value_parser!(u32).range(1..=SIZE_LIMIT),
    )]
    max_size: Option<u32>,

    /// The ledger: a file or a URL; otherwise the project's own
    #[arg(
        long,
        global = true,
        env = "COUNTERSIGN_LEDGER",
        value_name = "FILE|URL",
        help_heading = "Everywhere",
        hide_env_values = true
    )]
    ledger: Option<String>,

    /// In whose name; otherwise the user's
    #[arg(long = "as", global = true, env = "COUNTERSIGN_ACTOR", value_name = "NAME", help_heading = "Everywhere")]
    actor: Option<String>,

    /// A file with a token, for what `--as` alone does not allow; or the token itself in COUNTERSIGN_TOKEN
    #[arg(long, global = true, env = "COUNTERSIGN_TOKEN_FILE", value_name = "FILE", help_heading = "Everywhere")]
    token_file: Option<PathBuf>,

    /// The server to ask instead of the ledger, by its address
    #[arg(long, global = true, env = "COUNTERSIGN_URL", value_name = "URL", help_heading = "Everywhere")]
    server: Option<String>,
}

/// What is said of every verb on the ledger.
pub struct Global {
    /// What `--ledger` names.
    pub ledger: Option<String>,
    /// What `--as` says.
    pub actor: Option<String>,
    /// What `--token-file` names.
    pub token_file: Option<PathBuf>,
    /// What `--server` names.
    pub server: Option<String>,
}

/// The most that `--max-size` may allow.
const SIZE_LIMIT: i64 = countersign_contract::SIZE_MAX_LIMIT as i64;

const AFTER_HELP: &str = "\
Examples:
  countersign check assignment.json
  countersign check result.json --with assignment.json
  countersign check . --format sarif > findings.sarif
  countersign fix handoff.json --write
  countersign explain LOCK_CONFLICT
  countersign init && countersign record result.json
  countersign run open --objective 'Round money half to even'
  countersign task add T-1 --title 'Round totals' --lock src/money --accept 'tests pass'
  countersign task claim --as coder-1
  countersign gate status T-1
  countersign inbox
  countersign watch
  countersign log --follow
  countersign verify

Exit codes: 0 allowed, 1 refused, 2 wrong usage, 3 could not be read or done.";

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Args),
    Fix(fix::Args),
    Explain(explain::Args),
    Rules(rules::Args),
    Contracts(contracts::Args),
    Schema(schema::Args),
    Example(example::Args),
    New(new::Args),
    Tokens(tokens::Args),
    Targets(targets::Args),
    Validate(validate::Args),
    Handoff(handoff::Args),
    Init(init::Args),
    Demo(demo::Args),
    DemoAgent(demo::agent::Args),
    Run(run::Args),
    Task(task::Args),
    Lock(lock::Args),
    Promise(promise::Args),
    Gate(gate::Args),
    Inbox(inbox::Args),
    Delegate(delegate::Args),
    Worklog(worklog::Args),
    Apply(apply::Args),
    Bundle(bundle::Args),
    Reconcile(reconcile::Args),
    Watch(watch::Args),
    Trace(trace::Args),
    Token(token::Args),
    Record(record::Args),
    Log(log::Args),
    Show(show::Args),
    Verify(verify::Args),
    Checkpoint(checkpoint::Args),
    Prove(prove::Args),
    VerifyProof(verify_proof::Args),
    Export(export::Args),
    Import(import::Args),
    Erase(erase::Args),
    Rebuild(rebuild::Args),
    Backup(backup::Args),
    Doctor(doctor::Args),
    Migrate(migrate::Args),
    Mcp(mcp::Args),
    Serve(serve::Args),
    Hook(hook::Args),
    Install(install::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command line and says how it ended. What went wrong on the way is said on standard error.
pub fn main() -> ExitCode {
    let cli = match quick::read().map_or_else(Cli::try_parse, Ok) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Allowed };
            let _ = error.print();
            return ExitCode::from(code as u8);
        }
    };
    let exit = run(cli).unwrap_or_else(|error| {
        output::say(&format!("error: {error:#}"));
        if error.is::<asking::Wrong>() { Exit::Usage } else { Exit::Failed }
    });
    let exit = if output::landed() { exit } else { Exit::Failed };
    ExitCode::from(exit as u8)
}

fn run(Cli { everywhere: cli, verb }: Cli) -> anyhow::Result<Exit> {
    // Whatever is done from here on reads the clock, and may take for granted that what it shows is a time.
    countersign_ledger::Clock::System.now()?;
    let project = || Project::find(cli.project.as_deref(), cli.max_size.map(|size| size as usize));
    // A variable says whose ledger is meant, and nothing of where somebody stands.
    let variable = std::env::var_os("COUNTERSIGN_PROJECT").map(std::path::PathBuf::from);
    let is_named = cli.project.is_some() && variable != cli.project;
    // A variable that is set to nothing says nothing.
    let unset = std::env::var_os("COUNTERSIGN_ACTOR").is_some_and(|it| it.is_empty());
    let actor = cli.actor.filter(|actor| !(unset && actor.is_empty()));
    let global = Global { ledger: cli.ledger, actor, token_file: cli.token_file, server: cli.server };
    let place = || {
        let project = project()?;
        crate::client::must_be_local(&project, &global)?;
        Place::of(&project, global.ledger.as_deref())
    };
    if let Verb::Hook(args) = verb {
        return Ok(hook::run(&args, &global, cli.project.as_deref()));
    }
    match verb {
        Verb::Check(args) => check::run(&args, &project()?),
        Verb::Fix(args) => fix::run(&args, &project()?),
        Verb::Explain(args) => explain::run(&args),
        Verb::Rules(args) => rules::run(&args),
        Verb::Contracts(args) => contracts::run(&args, &project()?),
        Verb::Schema(args) => schema::run(&args, project),
        Verb::Example(args) => example::run(&args, project),
        Verb::New(args) => new::run(&args, project),
        Verb::Tokens(args) => tokens::run(&args, &project()?),
        Verb::Targets(args) => targets::run(&args, &project()?),
        Verb::Validate(args) => validate::run(&args, &project()?),
        Verb::Handoff(args) => handoff::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Init(args) => init::run(&args, &global),
        Verb::Demo(args) => demo::run(&args),
        Verb::DemoAgent(args) => demo::agent::run(&args),
        Verb::Run(args) => run::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Task(args) => task::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Lock(args) => lock::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Promise(args) => promise::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Gate(args) => gate::run(&args, &global, project),
        Verb::Inbox(args) => inbox::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Delegate(args) => delegate::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Worklog(args) => worklog::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Apply(args) => apply::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Bundle(args) => bundle::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Reconcile(args) => reconcile::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Watch(args) => watch::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Trace(args) => trace::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Token(args) => token::run(&args, &Here { global: &global, project: &project()? }),
        Verb::Record(args) => record::run(&args, &global, &project()?),
        Verb::Log(args) => log::run(&args, &place()?),
        Verb::Show(args) => show::run(&args, &place()?),
        Verb::Verify(args) => verify::run(&args, place),
        Verb::Checkpoint(args) => checkpoint::run(&args, &place()?),
        Verb::Prove(args) => prove::run(&args, &place()?),
        Verb::VerifyProof(args) => verify_proof::run(&args),
        Verb::Export(args) => export::run(&args, &place()?),
        Verb::Import(args) => import::run(&args, &global, &project()?),
        Verb::Erase(args) => erase::run(&args, &global, &project()?),
        Verb::Rebuild(args) => rebuild::run(&args, &place()?),
        Verb::Backup(args) => backup::run(&args, &place()?),
        Verb::Doctor(args) => doctor::run(&args, &project()?, &global, is_named),
        Verb::Migrate(args) => migrate::run(&args, &project()?, global.ledger.as_deref()),
        Verb::Mcp(args) => mcp::run(&args, &global, project()?),
        Verb::Serve(args) => serve::run(&args, &global, project()?),
        // Answered above: it needs neither settings nor a ledger before it has read what it is asked.
        Verb::Hook(_) => Ok(Exit::Allowed),
        Verb::Install(args) => install::run(&args, &project()?, is_named),
        Verb::Completions(args) => completions::run(&args, &mut Cli::command()),
        Verb::Man(args) => man::run(&args, &Cli::command()),
    }
}

/// Says why a command was not carried out: refused, or the ledger could not take it.
pub fn failed(failure: Failure) -> anyhow::Result<Exit> {
    match failure {
        Failure::Refused(refusal) => {
            output::say(&format!("refused [{}]: {}", refusal.code.as_str(), refusal.reason));
            for finding in refusal.findings.iter().filter(|it| it.severity == Severity::Error) {
                output::say(&told(finding));
            }
            output::say(&format!("  help: {}", refusal.help));
            Ok(Exit::Refused)
        }
        Failure::Malformed(decision) => {
            let code = decision.code.map_or("SCHEMA_INVALID", |code| code.as_str());
            output::say(&format!("refused [{code}]: {}", decision.reason));
            for finding in decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
                output::say(&told(finding));
            }
            Ok(Exit::Refused)
        }
        Failure::Unknown(why) => anyhow::bail!(why),
        Failure::Ledger(error @ countersign_ledger::Error::Refused(_)) => {
            output::say(&format!("refused [CONCURRENCY_CONFLICT]: {error}"));
            Ok(Exit::Refused)
        }
        Failure::Ledger(error) => Err(error.into()),
    }
}

/// What is wrong, where and what to do, in a line. What is about all of a document has no place.
pub fn told(finding: &Diagnostic) -> String {
    let place = if finding.pointer.as_str().is_empty() { String::new() } else { format!("{}: ", finding.pointer) };
    format!("  {place}{}; {}", finding.message, finding.help)
}

/// A bar for work that can take long; hidden where nobody sees it.
pub fn progress(what: &'static str, length: u64) -> indicatif::ProgressBar {
    if length < PROGRESS_FROM || !crate::terminal::shows_progress() {
        return indicatif::ProgressBar::hidden();
    }
    let template = format!("{what} {{bar:30}} {{pos}} of {{len}} events, {{eta}} left");
    let bar = indicatif::ProgressBar::new(length);
    indicatif::ProgressStyle::with_template(&template).map_or(bar.clone(), |style| bar.with_style(style))
}

/// How many events make a progress bar worth its place.
const PROGRESS_FROM: u64 = 20_000;
