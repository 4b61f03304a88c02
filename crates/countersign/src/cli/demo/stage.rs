//! The demonstration itself: the plan is carried out, a person answers, the rest is carried out, and the ledger is read.

use super::story::Story;
use super::{HOME, agent, caught, reviewer, scenery};
use crate::cli::asking::Here;
use crate::cli::output::Format;
use crate::cli::run::inlining;
use crate::cli::{Cli, Exit, Global, failed, interrupt, output};
use crate::client::Client;
use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use clap::Parser;
use countersign_diagnostic::visible_lines;
use countersign_domain::plan::command::read;
use countersign_domain::plan::payload::Plan;
use countersign_engine::Failure;
use countersign_runner::Trouble;
use countersign_runner::agent::Stop;
use countersign_runner::delegate::Platform;
use countersign_runner::run::{self as runner, End, Outcome, Setup, State};
use serde_json::json;
use std::path::Path;

/// Who leads.
const LEAD: &str = "lead";

/// What carries the run out, both times.
struct Stage<'a> {
    client: &'a Client<'a>,
    root: &'a Path,
    run: &'a str,
    plan: &'a Plan,
    story: &'a Story<'a>,
    stop: &'a Stop,
}

/// Plays it in an empty directory.
pub fn play(dir: &Path, fleeting: bool) -> anyhow::Result<Exit> {
    say("A new repository, with a project and a ledger of its own");
    let root = scenery::build(dir)?;
    if typed(&root, &["init", "--name", "till"], &[&root.to_string_lossy()])? != Exit::Allowed {
        bail!("no project could be made in {}", root.display());
    }
    scenery::commit(&root)?;
    scenery::instruct(&root)?;
    let project = Project::find(Some(&root), None)?;
    let lead = Global { ledger: None, actor: Some(LEAD.to_owned()), token_file: None, server: None };
    let client = Client::open(&project, &lead)?;
    let text = std::fs::read_to_string(root.join("plan.yaml")).context("the plan cannot be read")?;
    let text = match inlining::written(&Here { global: &lead, project: &project }, text, Format::Text)? {
        Ok(text) => text,
        Err(exit) => return Ok(exit),
    };
    say("The plan is carried out: six agents, of which one is honest");
    let run = match client.ask("run.start", &json!({ "plan": text })) {
        Ok(reply) => reply.answer["run_id"].as_str().unwrap_or_default().to_owned(),
        Err(failure) => return failed(failure),
    };
    let shown = match client.look("run.plan", &json!({ "run_id": run })) {
        Ok(shown) => shown,
        Err(failure) => return failed(failure),
    };
    // As it stands in the ledger, which is what a run follows.
    let plan = read(shown["plan"].as_str().unwrap_or_default()).context("the plan in the ledger cannot be read")?;
    let stop = Stop::default();
    let _signals = interrupt::stops(&stop, true)?;
    let story = Story::new(&plan);
    let stage = Stage { client: &client, root: &root, run: &run, plan: &plan, story: &story, stop: &stop };
    match stage.carry_out()?.map(|outcome| outcome.end) {
        Ok(End::Waits) => {}
        Ok(End::Stopped) => return stopped(),
        Err(failure) => return failed(*failure),
        Ok(other) => bail!("three tasks should wait for a person now, and it ended as {other:?}"),
    }
    say("What is left waits for a person; the demonstration plays one");
    if let Err(failure) = reviewer::answer(&project, &client, &run)? {
        return failed(failure);
    }
    say("The run goes on, as with `countersign run --resume`");
    let outcome = match stage.carry_out()? {
        Ok(outcome) => outcome,
        Err(failure) => return failed(*failure),
    };
    if outcome.end == End::Stopped {
        return stopped();
    }
    if outcome.end == End::Finished
        && let Err(failure) = client.ask("run.close", &json!({ "run_id": run }))
    {
        return failed(failure);
    }
    say("Who lied, and what caught them, read back from the ledger");
    let rows = caught::rows(client.engine()?, &run)?;
    output::print(&caught::table(&rows));
    let as_expected = |agent: &str| caught::is_caught(&rows, agent) == (agent != agent::HONEST);
    let everybody = plan.agents.iter().all(|(agent, _)| as_expected(agent));
    let done = outcome.end == End::Finished && outcome.tasks.iter().all(|task| task.state == State::Done);
    conclude(dir, &stage, everybody && done, fleeting)
}

impl Stage<'_> {
    fn carry_out(&self) -> anyhow::Result<Result<Outcome, Box<Failure>>> {
        let spool = self.root.join(FOLDER).join("runs").join(self.run);
        std::fs::create_dir_all(&spool).with_context(|| format!("{} cannot be made", spool.display()))?;
        let platform = Platform::at(self.root.to_owned(), self.root.join(FOLDER).join("delegations"));
        let setup = Setup {
            platform: &platform,
            engine: self.client.engine()?,
            world: self.client.around()?,
            mends: Some(self.client.around()?),
            call: self.client.call()?,
            root: self.root,
            spool: &spool,
            plan: self.plan,
            run: self.run,
            concurrency: 1,
            waits: false,
            notify: None,
            variables: &[],
            stop: self.stop,
            watch: self.story,
        };
        match runner::carry_out(&setup) {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(Trouble::Refused(failure)) => Ok(Err(failure)),
            Err(Trouble::Failed(why)) => bail!(why),
        }
    }
}

fn stopped() -> anyhow::Result<Exit> {
    output::say("the demonstration was stopped");
    Ok(Exit::Failed)
}

/// Shows how everything stands, and that the ledger says so and nobody has changed it.
fn conclude(dir: &Path, stage: &Stage<'_>, as_expected: bool, fleeting: bool) -> anyhow::Result<Exit> {
    let root = stage.root;
    let mut all = as_expected;
    let shown: [(&str, &[&str], &[&str]); 3] = [
        ("How it stands", &["task", "list"], &["--run", stage.run]),
        ("The checkpoint: kept elsewhere, it shows any later rewrite of the ledger", &["checkpoint"], &[]),
        ("The ledger is verified: every event, and everything that follows from them", &["verify"], &[]),
    ];
    for (what, words, more) in shown {
        say(what);
        all &= typed(root, words, more)? == Exit::Allowed;
    }
    say("What was done on the platform, once, and the entry that says so");
    scenery::keep(root)?;
    let tag =
        scenery::git(root, &["for-each-ref", "--format=%(refname) %(*objectname:short) %(subject)", "refs/tags"])?;
    let entries = scenery::git(root, &["ls-files", ".evidence"])?;
    output::print(&visible_lines(&format!("{tag}{entries}")));
    say("What was landed");
    output::print(&visible_lines(&scenery::git(root, &["log", "--format=%h %s", "--reverse"])?));
    next(dir, stage, fleeting);
    if !all {
        output::say(
            "the demonstration did not go as it should: somebody was not caught, a task is not done, or the ledger does not match",
        );
        return Ok(Exit::Refused);
    }
    Ok(Exit::Allowed)
}

/// What to look at, as commands to copy.
fn next(dir: &Path, stage: &Stage<'_>, fleeting: bool) {
    say("What to look at next");
    if fleeting {
        output::print(
            "All of this is gone now. To keep it, and to be told what to look at:\n  countersign demo --dir ./countersign-demo\n",
        );
        return;
    }
    output::print(&format!(
        "  export COUNTERSIGN_HOME={} COUNTERSIGN_RUN={}\n  cd {}\n  cat plan.yaml\n  countersign run show\n  \
         countersign task show T-4\n  countersign worklog show T-2\n  countersign trace\n  countersign log\n  countersign verify\n  \
         countersign check .evidence/platform-actions/*/*.md\n  git log --stat\n",
        quoted(&dir.join(HOME)),
        stage.run,
        quoted(stage.root),
    ));
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = text.chars().all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it));
    if plain { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Types a command at the command line of the project, where it is shown; `more` is not shown.
fn typed(root: &Path, words: &[&str], more: &[&str]) -> anyhow::Result<Exit> {
    output::print(&format!("$ countersign {}\n", words.join(" ")));
    let root = root.to_string_lossy();
    let line = ["countersign", "--project", &root, "--as", LEAD].into_iter().chain(words.iter().copied());
    let cli = Cli::try_parse_from(line.chain(more.iter().copied()))?;
    crate::cli::run(cli)
}

fn say(line: &str) {
    output::print(&format!("\n{}\n", crate::terminal::Terminal::stdout().bold(&format!("== {line}"))));
}
