//! `countersign check`

use super::{Exit, output};
use crate::gather::{self, Company, Entry, Given, Input, Together};
use crate::project::Project;
use crate::terminal::{self, Terminal};
use crate::world;
use anyhow::Context;
use clap::ValueEnum;
use countersign_contract::{Checked, Checker, Outside, Request, check, utf8};
use countersign_diagnostic::render::{github, json, sarif, text};
use countersign_diagnostic::{Decision, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Check payloads: may they pass, why not, where, and what to do
///
/// The contract of a document is told from its keys. Documents that belong together are checked against each other:
/// those given with --with, and in a directory those whose ids meet.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign check assignment.json
  countersign check result.json --with assignment.json
  countersign check worklogs/T-12.jsonl --against /backup/T-12.jsonl
  countersign check .                        every payload below, paired by ids
  generate | countersign check - --stdin-filename result.json --format json

Exit codes: 0 all allowed, 1 one refused, 3 one could not be read.")]
pub struct Args {
    /// Files, directories, or - for standard input [default: .]
    #[arg(value_name = "FILES|DIRS|-")]
    paths: Vec<PathBuf>,

    /// Take documents as this contract instead of telling it from their keys
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,

    /// Check against this document too; may be given several times
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,

    /// An earlier copy of the document, for what may only grow or change in order
    #[arg(long, value_name = "OLD")]
    against: Option<PathBuf>,

    /// Unknown fields are errors
    #[arg(long)]
    strict: bool,

    /// How decisions are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// How standard input is called and, by its ending, written
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,

    /// Judge expiry and clocks as of this time instead of now
    #[arg(long, value_name = "TIME")]
    now: Option<jiff::Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One decision a line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// How many files make a progress bar worth its place.
const PROGRESS_FROM: usize = 64;

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    let mut settings = project.settings.clone();
    settings.strict |= args.strict;
    let checker = Checker { settings: &settings, ..project.checker() };
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let inputs = gather::inputs(paths, args.stdin_filename.as_deref())?;
    let outside = world::outside(args.now);
    let given = Given::read(&args.with, &checker, &outside);
    let against = args.against.as_deref().map(|path| read_older(path, settings.size_max)).transpose()?;
    let terminal = Terminal::stdout();
    let job = Job { args, project, checker, inputs: &inputs, outside, given, against, terminal };
    let together = if inputs.len() > 1 {
        Together::of(job.in_parallel(|input, _| Entry::of(input, &job.checker)))
    } else {
        Together::default()
    };
    let mut tally = Tally::default();
    job.stream(&together, &mut tally);
    Ok(job.conclude(tally))
}

fn read_older(path: &Path, size_max: usize) -> anyhow::Result<String> {
    let bytes = crate::files::read(path, size_max)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("the earlier copy {} cannot be read", path.display()))?;
    String::from_utf8(bytes).with_context(|| format!("the earlier copy {} is not UTF-8", path.display()))
}

/// Everything that stays the same for all documents of one call.
struct Job<'a> {
    args: &'a Args,
    project: &'a Project,
    checker: Checker<'a>,
    inputs: &'a [Input],
    outside: Outside,
    given: Given,
    against: Option<String>,
    terminal: Terminal,
}

/// What became of one document.
enum Outcome {
    Decided { code: Option<&'static str>, shown: String, sarif: Vec<serde_json::Value> },
    Unread { shown: String },
    NotOurs,
}

#[derive(Default)]
struct Tally {
    allowed: usize,
    refused: BTreeMap<&'static str, usize>,
    unread: usize,
    skipped: usize,
    sarif: Vec<serde_json::Value>,
}

impl Job<'_> {
    /// Checks all documents on all cores and shows each as soon as those before it are shown.
    fn stream(&self, together: &Together, tally: &mut Tally) {
        let bar = self.progress();
        self.each_in_parallel(
            |input, number| self.one(input, number, together),
            |outcome| {
                bar.inc(1);
                let shown = tally.take(outcome);
                if !shown.is_empty() {
                    bar.suspend(|| output::print(&shown));
                }
            },
        );
        bar.finish_and_clear();
    }

    fn progress(&self) -> indicatif::ProgressBar {
        if self.inputs.len() < PROGRESS_FROM || !terminal::shows_progress() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(self.inputs.len() as u64);
        let style = indicatif::ProgressStyle::with_template("checking {bar:30} {pos}/{len} files, {eta} left");
        style.map_or(bar.clone(), |style| bar.with_style(style))
    }

    fn in_parallel<T: Send>(&self, work: impl Fn(&Input, usize) -> T + Sync) -> Vec<T> {
        let mut all = Vec::with_capacity(self.inputs.len());
        self.each_in_parallel(work, |done| all.push(done));
        all
    }

    /// Does `work` for each input on all cores, and hands the results to `take` in order. The channel is short, so that
    /// finished results do not pile up behind a slow one.
    fn each_in_parallel<T: Send>(&self, work: impl Fn(&Input, usize) -> T + Sync, mut take: impl FnMut(T)) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(self.inputs.len());
        if cores <= 1 {
            self.inputs.iter().enumerate().for_each(|(number, input)| take(work(input, number)));
            return;
        }
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::sync_channel(cores * 8);
        std::thread::scope(|scope| {
            for _ in 0..cores {
                let (sender, next, work) = (sender.clone(), &next, &work);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(input) = self.inputs.get(number) else { break };
                        if sender.send((number, work(input, number))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut turn = 0;
            for (number, done) in receiver {
                waiting.insert(number, done);
                while let Some(done) = waiting.remove(&turn) {
                    take(done);
                    turn += 1;
                }
            }
        });
    }

    fn one(&self, input: &Input, number: usize, together: &Together) -> Outcome {
        let bytes = match input.read(self.checker.settings.size_max) {
            Ok(bytes) => bytes,
            Err(why) => return self.unread(input, &format!("`{}` cannot be read: {why}", input.name)),
        };
        let source_text = match utf8(&bytes) {
            Ok(text) => text,
            Err(_) if input.found && self.args.contract.is_none() => return Outcome::NotOurs,
            Err(fault) => return self.unread(input, &format!("`{}` cannot be read: {}", input.name, fault.message)),
        };
        let company = Company { given: &self.given, together, inputs: self.inputs, checker: &self.checker, number };
        let request = Request {
            source: Source { name: &input.name, text: source_text },
            form: None,
            contract: self.args.contract.as_deref(),
            against: self.against.as_deref().map(|text| Source { name: "the earlier copy", text }),
            others: &company,
            outside: &self.outside,
        };
        let checked = self.check(&request, input);
        if input.found && !checked.told && !self.has_marks(source_text) {
            return Outcome::NotOurs;
        }
        self.show(&checked.decision, request.source)
    }

    /// Checks a document; if it refers to files, looks for them and checks again with the answer.
    fn check(&self, request: &Request<'_>, input: &Input) -> Checked {
        let checked = check(&self.checker, request);
        let path = input.path.as_deref().unwrap_or(Path::new(""));
        match world::look_for_files(&checked, &self.outside, path, self.project) {
            Some(outside) => check(&self.checker, &Request { outside: &outside, ..*request }),
            None => checked,
        }
    }

    /// Whether a text that cannot be placed has the marks of a contract in it all the same: a payload that broke must
    /// not be passed over as a file of someone else's.
    fn has_marks(&self, text: &str) -> bool {
        let key = |mark: &&str| text.contains(&format!("\"{mark}\"")) || text.contains(&format!("\n{mark}:"));
        text.len() < self.checker.settings.size_max
            && self.checker.contracts.iter().any(|contract| contract.marks.iter().all(|mark| key(&mark)))
    }

    fn show(&self, decision: &Decision, source: Source<'_>) -> Outcome {
        let mut sarif = Vec::new();
        let shown = match self.args.format {
            Format::Text => self.text(decision, source),
            Format::Json => format!("{}\n", json::decision(decision, source)),
            Format::Github => github::decision(decision, source),
            Format::Sarif => {
                sarif = decision.details.diagnostics.iter().map(|it| sarif::result(it, source)).collect();
                String::new()
            }
        };
        let code = decision.code.map(|code| code.as_str());
        Outcome::Decided { code, shown, sarif }
    }

    fn text(&self, decision: &Decision, source: Source<'_>) -> String {
        let mut out = String::new();
        let masked = output::masked(source.text, decision);
        let source = Source { text: &masked, ..source };
        for diagnostic in &decision.details.diagnostics {
            out.push_str(&text::diagnostic(diagnostic, source, self.terminal.look()));
            out.push('\n');
        }
        // Of many documents those without findings are only counted.
        if self.inputs.len() == 1 || !decision.details.diagnostics.is_empty() {
            out.push_str(&self.terminal.bold(&text::verdict(decision)));
            out.push('\n');
        }
        out
    }

    fn unread(&self, input: &Input, why: &str) -> Outcome {
        let shown = match self.args.format {
            Format::Json => {
                let line = serde_json::json!({
                    "allow": false,
                    "code": "SCHEMA_INVALID",
                    "reason": why,
                    "details": { "file": input.name, "contract": null, "version": null, "diagnostics": [] },
                });
                format!("{line}\n")
            }
            Format::Github => format!("::error::{why}\n"),
            Format::Text | Format::Sarif => {
                output::say(&format!("error: {why}"));
                String::new()
            }
        };
        Outcome::Unread { shown }
    }

    fn conclude(&self, mut tally: Tally) -> Exit {
        tally.unread += usize::from(self.given.unread);
        if self.args.format == Format::Sarif {
            let rules = countersign_domain::rules();
            let rules: Vec<sarif::Rule<'_>> = rules
                .iter()
                .map(|it| sarif::Rule {
                    id: it.id,
                    summary: it.summary,
                    explanation: it.explanation,
                    severity: it.severity,
                })
                .collect();
            let log = sarif::log(&rules, std::mem::take(&mut tally.sarif), env!("CARGO_PKG_VERSION"));
            output::print(&format!("{log:#}\n"));
            return tally.exit();
        }
        let decided = tally.allowed + tally.refused.values().sum::<usize>();
        if self.inputs.len() != 1 {
            output::say(&tally.summary());
        }
        if decided == 0 && tally.unread == 0 {
            output::say("error: nothing to check was found; name a file, or the contract with --contract");
            return Exit::Failed;
        }
        tally.exit()
    }
}

impl Tally {
    fn take(&mut self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Decided { code, shown, sarif } => {
                match code {
                    None => self.allowed += 1,
                    Some(code) => *self.refused.entry(code).or_default() += 1,
                }
                self.sarif.extend(sarif);
                shown
            }
            Outcome::Unread { shown } => {
                self.unread += 1;
                shown
            }
            Outcome::NotOurs => {
                self.skipped += 1;
                String::new()
            }
        }
    }

    fn exit(&self) -> Exit {
        match (self.unread > 0, self.refused.is_empty()) {
            (true, _) => Exit::Failed,
            (false, false) => Exit::Refused,
            (false, true) => Exit::Allowed,
        }
    }

    fn summary(&self) -> String {
        let refused: usize = self.refused.values().sum();
        let mut out = format!("{} allowed, {refused} refused", self.allowed);
        if refused > 0 {
            let codes: Vec<String> = self.refused.iter().map(|(code, count)| format!("{code} {count}")).collect();
            out.push_str(&format!(" ({})", codes.join(", ")));
        }
        if self.unread > 0 {
            out.push_str(&format!(", {} could not be read", self.unread));
        }
        if self.skipped > 0 {
            out.push_str(&format!(", {} skipped as no payload", self.skipped));
        }
        out
    }
}
