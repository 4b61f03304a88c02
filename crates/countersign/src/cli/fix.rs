//! `countersign fix`

use super::{Exit, output};
use crate::gather::{self, Company, Given, Input, Together};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::{files, world};
use anyhow::{Context, bail};
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::{Checker, Form, Outside, Request, check, parse, utf8};
use countersign_diagnostic::render::text;
use countersign_diagnostic::{Severity, Source};
use countersign_domain::validation::payload::ValidationRequest;
use countersign_domain::validation::tolerant;
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Repair documents: defaults, every rule's repair, and for handoffs the ladder of compression
///
/// Without --write nothing is written anywhere: the repaired document goes to standard output, what was changed to
/// standard error. With --write the document is replaced; what had to be taken out of it is first written to a file
/// that the document then refers to. Answers, evidence and approvals are never invented.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign fix handoff.json                       show what would be done
  countersign fix handoff.json --write
  countersign fix handoff.json --max-tokens 1500 --summarizer 'llm summarize'
  countersign fix answer.json --with request.json    a validator's loose answer

Exit codes: 0 the result passes, 1 a person must decide, 3 something could not be read.")]
pub struct Args {
    /// Files, or - for standard input
    #[arg(value_name = "FILES|-", required = true)]
    paths: Vec<PathBuf>,

    /// Replace the files
    #[arg(long)]
    write: bool,

    /// Take documents as this contract instead of telling it from their keys
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,

    /// Check against this document too; may be given several times
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,

    /// How many tokens a handoff may have; at most the configured limit
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,

    /// A command that reads a text on standard input and writes a shorter one
    #[arg(long, value_name = "CMD")]
    summarizer: Option<String>,

    /// How standard input is called and, by its ending, written
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,
}

/// How long a summariser may take for one text.
const SUMMARIZER_TIMEOUT: Duration = Duration::from_secs(60);
/// How many bytes of its answer are read.
const SUMMARY_MAX: u64 = 1 << 20;

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    let inputs = gather::inputs(&args.paths, args.stdin_filename.as_deref())?;
    if !args.write && inputs.len() > 1 {
        output::say("error: without --write one document is repaired at a time, since it goes to standard output");
        return Ok(Exit::Usage);
    }
    if args.write && inputs.iter().any(|input| input.path.is_none()) {
        output::say("error: standard input cannot be replaced; leave --write out");
        return Ok(Exit::Usage);
    }
    let mut settings = project.settings.clone();
    if let Some(max) = args.max_tokens {
        settings.tokens_max = max.min(settings.tokens_max);
    }
    let checker = Checker { settings: &settings, ..project.checker() };
    let outside = world::outside(None);
    let given = Given::read(&args.with, &checker, &outside);
    let mut exit = Exit::Allowed;
    for (number, input) in inputs.iter().enumerate() {
        let company =
            Company { given: &given, together: &Together::default(), inputs: &inputs, checker: &checker, number };
        let job = Job { args, project, checker: &checker, outside: &outside, company: &company };
        exit = exit.max(job.one(input)?);
    }
    Ok(exit)
}

struct Job<'a> {
    args: &'a Args,
    project: &'a Project,
    checker: &'a Checker<'a>,
    outside: &'a Outside,
    company: &'a Company<'a>,
}

impl Job<'_> {
    fn one(&self, input: &Input) -> anyhow::Result<Exit> {
        let bytes = match input.read(self.checker.settings.size_max) {
            Ok(bytes) => bytes,
            Err(why) => bail!("`{}` cannot be read: {why}", input.name),
        };
        let original =
            utf8(&bytes).map_err(|fault| anyhow::anyhow!("`{}` cannot be read: {}", input.name, fault.message))?;
        let (text, mut changes) = self.take_answer(input, original);
        let fixed = self.fix_and_keep(input, &text)?;
        changes.extend(fixed.changes.iter().cloned());
        let unchanged = fixed.text == original;
        if !unchanged {
            let before = check(self.checker, &self.request(Source { name: &input.name, text: original }));
            let shown = output::masked(original, &before.decision);
            let repaired = output::masked(&fixed.text, &fixed.checked.decision);
            output::say(&diff(&shown, &repaired, &input.name));
        }
        for change in &changes {
            output::say(&format!("  {change}"));
        }
        match &input.path {
            Some(path) if self.may_write(&fixed) && !unchanged => files::write(path, &fixed.text)?,
            _ if self.args.write => {}
            _ => output::print(&fixed.text),
        }
        Ok(self.conclude(input, &fixed, unchanged))
    }

    /// Brings a validator's loose answer into the form of a validation response, where the request tells how.
    fn take_answer(&self, input: &Input, original: &str) -> (String, Vec<String>) {
        let form = Form::of_name(&input.name).unwrap_or_else(|| Form::of_text(original));
        let document = parse(original, form, self.checker.settings.size_max).ok();
        let Some(value) = document.map(|document| document.root().to_value()) else {
            return (original.to_owned(), Vec::new());
        };
        let source = Source { name: &input.name, text: original };
        let checked = check(self.checker, &self.request(source));
        let is_answer = match checked.contract {
            None => !checked.told,
            Some(contract) => contract.name == "validation_response" && checked.records.is_empty(),
        };
        let request = self.company.given_only::<ValidationRequest>();
        let answer = is_answer.then(|| tolerant::repair_answer(&value, request.as_deref(), self.outside.now)).flatten();
        match answer {
            Some((answer, done)) => (countersign_contract::fix::write(&answer, original, form), done),
            None => (original.to_owned(), Vec::new()),
        }
    }

    /// Repairs the document, and with --write keeps what was taken out before anything else is written.
    fn fix_and_keep(&self, input: &Input, text: &str) -> anyhow::Result<Fixed> {
        let source = Source { name: &input.name, text };
        let mut fixed = self.fix(source, None);
        let Some(at) = fixed.kept_at.clone() else { return Ok(fixed) };
        let document = input.path.as_deref().unwrap_or(Path::new(""));
        let at = free_name(&at, &fixed.kept, document, self.project);
        if fixed.kept_at.as_deref() != Some(&at) {
            fixed = self.fix(source, Some(&at));
        }
        if !self.may_write(&fixed) {
            output::say(&format!("what is taken out would be kept in {at}"));
            return Ok(fixed);
        }
        let path = world::resolve(&at, document, self.project);
        let kept = world::beneath(&path, document, self.project).and_then(|()| keep(&path, &fixed));
        let Err(error) = kept else {
            output::say(&format!("what is taken out is kept in {}", path.display()));
            return Ok(fixed);
        };
        let name = format!("session-context-{}.json", uuid::Uuid::new_v4());
        let fallback = std::env::temp_dir().join("countersign-handoffs").join(name);
        output::say(&format!("warning: {error:#}; using the fallback location {}", fallback.display()));
        let fixed = self.fix(source, Some(&fallback.display().to_string()));
        keep(&fallback, &fixed).context("what is taken out cannot be kept anywhere; nothing was changed")?;
        Ok(fixed)
    }

    /// A document that gave something up and is still refused is not written: the original is then worth more.
    fn may_write(&self, fixed: &Fixed) -> bool {
        self.args.write && (fixed.checked.decision.allow || fixed.kept.is_empty())
    }

    fn fix(&self, source: Source<'_>, kept_at: Option<&str>) -> Fixed {
        let mut summarize = |text: &str, length: usize| {
            let command = self.args.summarizer.as_deref()?;
            match summarized(command, text, length) {
                Ok(shorter) => Some(shorter),
                Err(error) => {
                    output::say(&format!("warning: the summarizer did not help: {error:#}"));
                    None
                }
            }
        };
        fix(self.checker, &self.request(source), kept_at, &mut summarize)
    }

    fn request<'r>(&'r self, source: Source<'r>) -> Request<'r> {
        Request {
            source,
            form: None,
            contract: self.args.contract.as_deref(),
            against: None,
            others: self.company,
            outside: self.outside,
        }
    }

    fn conclude(&self, input: &Input, fixed: &Fixed, unchanged: bool) -> Exit {
        let decision = &fixed.checked.decision;
        if decision.allow {
            let done = if unchanged { "nothing to repair" } else { "repaired" };
            output::say(&format!("{done}: {}", text::verdict(decision)));
            return Exit::Allowed;
        }
        let shown = output::masked(&fixed.text, decision);
        let source = Source { name: &input.name, text: &shown };
        let terminal = Terminal::stdout();
        output::say(&format!(
            "\nafter {} of {} attempts a person must decide:\n",
            fixed.attempts,
            countersign_contract::fix::ATTEMPTS_MAX
        ));
        for finding in decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
            output::say(&text::diagnostic(finding, source, terminal.look()));
        }
        output::say(&text::verdict(decision));
        Exit::Refused
    }
}

fn diff(before: &str, after: &str, name: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(2).header(name, &format!("{name} (repaired)")).to_string()
}

/// Where what is taken out goes without overwriting what an earlier repair kept there.
fn free_name(at: &str, kept: &Map<String, Value>, document: &Path, project: &Project) -> String {
    let (stem, ending) = at.rsplit_once('.').unwrap_or((at, "json"));
    let names = std::iter::once(at.to_owned()).chain((2..).map(|count| format!("{stem}-{count}.{ending}")));
    let free = |name: &String| {
        let path = world::resolve(name, document, project);
        !path.exists() || std::fs::read_to_string(&path).is_ok_and(|old| old == kept_text(kept))
    };
    names.take(10_000).find(free).unwrap_or_else(|| at.to_owned())
}

fn keep(path: &Path, fixed: &Fixed) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    files::write(path, &kept_text(&fixed.kept))
}

fn kept_text(kept: &Map<String, Value>) -> String {
    format!("{:#}\n", json!({ "kept_by": "countersign fix", "values": kept }))
}

/// Runs the summariser: the text on its standard input, the length it should keep to in `COUNTERSIGN_LENGTH`. The words
/// of the command come from the person who typed them and are passed on as they are, without a shell.
fn summarized(command: &str, text: &str, length: usize) -> anyhow::Result<String> {
    let mut words = command.split_whitespace();
    let program = words.next().context("the command is empty")?;
    let mut child = Command::new(program)
        .args(words)
        .env("COUNTERSIGN_LENGTH", length.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let mut stdout = child.stdout.take().context("no standard output")?;
    let text = text.to_owned();
    std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut out = Vec::new();
        let read = stdout.by_ref().take(SUMMARY_MAX).read_to_end(&mut out);
        let _ = sender.send(read.map(|_| out));
    });
    // Output ends when everyone who holds it has gone; a command that leaves someone behind must not hold us.
    let out = receiver.recv_timeout(SUMMARIZER_TIMEOUT);
    if out.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let out = out.map_err(|_| anyhow::anyhow!("it took longer than {} s", SUMMARIZER_TIMEOUT.as_secs()))??;
    if !status.success() {
        bail!("it ended with {status}");
    }
    Ok(String::from_utf8(out).context("its output is not UTF-8")?.trim().to_owned())
}
