//! `countersign check`

mod show;
mod tally;

use super::{Exit, contracts, output};
use crate::company::{Company, Entry, Given, Together};
use crate::files::Unread;
use crate::gather::{self, Input};
use crate::project::Project;
use crate::shelf::Shelf;
use crate::strangers::Marks;
use crate::terminal::{self, Terminal};
use crate::{checking, parallel, world};
use clap::ValueEnum;
use countersign_contract::{Checker, Outside, Request, utf8};
use countersign_diagnostic::Source;
use std::path::{Path, PathBuf};
use tally::{Outcome, Tally};

/// Check payloads: may they pass, why not, where, and what to do
///
/// The contract of a document is told from its keys. Documents that belong together are checked against each other:
/// those given with --with, and in a directory those whose ids meet.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  countersign check assignment.json
  countersign check result.json --with assignment.json
  countersign check worklogs/T-12.jsonl --against /backup/T-12.jsonl
  countersign check .                        every payload below, paired by ids
  generate | countersign check - --stdin-filename result.json --format json

Exit codes: 0 all allowed, 1 one refused, 2 wrong usage, 3 one could not be read, or nothing was found.")]
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

    /// What standard input is called in output; the ending of the name tells its form
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,

    /// Judge expiry and clocks as of this time instead of now
    #[arg(long, value_name = "TIME")]
    now: Option<jiff::Timestamp>,
}

impl Args {
    /// What it means to name files and nothing else.
    pub fn of(paths: &[&str]) -> Self {
        Self { paths: paths.iter().map(PathBuf::from).collect(), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
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
    if let Some(name) = args.contract.as_deref().filter(|name| !contracts::is_known(name, project)) {
        contracts::say_unknown(name, project);
        return Ok(Exit::Usage);
    }
    let mut settings = project.settings.clone();
    settings.strict |= args.strict;
    let checker = Checker { settings: &settings, ..project.checker() };
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let gathered = gather::inputs(paths, args.stdin_filename.as_deref())?;
    let inputs = &gathered.inputs[..];
    let outside = world::outside(args.now);
    let mut given = Given::read(&args.with, inputs, &checker, &outside);
    let against = args.against.as_deref().and_then(|path| given.older(path, settings.size_max));
    let together = if inputs.len() > 1 {
        Together::of(parallel::all(inputs.len(), |number| Entry::of(inputs.get(number)?, &checker)))
    } else {
        Together::default()
    };
    let marks = Marks::of(&checker);
    let (shelf, terminal) = (Shelf::default(), Terminal::stdout());
    let job = Job { args, project, checker, inputs, outside, given, together, marks, shelf, against, terminal };
    let mut tally = Tally::beside(gathered.links_left);
    job.stream(&mut tally);
    for unread in job.given.unread.iter().chain(&gathered.unread) {
        output::say(&format!("error: {unread}"));
        tally.note(unread, None);
    }
    job.conclude(&tally);
    Ok(tally.exit())
}

/// Everything that stays the same for all documents of one call.
struct Job<'a> {
    args: &'a Args,
    project: &'a Project,
    checker: Checker<'a>,
    inputs: &'a [Input],
    outside: Outside,
    given: Given,
    together: Together,
    marks: Marks<'a>,
    shelf: Shelf,
    against: Option<String>,
    terminal: Terminal,
}

impl Job<'_> {
    /// Checks all documents on all cores and shows each as soon as those before it are shown.
    fn stream(&self, tally: &mut Tally) {
        let bar = self.progress();
        let one = |number: usize| self.inputs.get(number).map(|input| self.one(input, number));
        parallel::each(self.inputs.len(), one, |outcome| {
            let shown = outcome.map(|outcome| tally.take(outcome)).unwrap_or_default();
            match &bar {
                Some(bar) => {
                    bar.inc(1);
                    if !shown.is_empty() {
                        bar.suspend(|| output::print(&shown));
                    }
                }
                None if shown.is_empty() => {}
                None => output::print(&shown),
            }
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    /// A bar where somebody sees it. Where nobody does there is none: one that is hidden reckons all the same.
    fn progress(&self) -> Option<indicatif::ProgressBar> {
        if self.inputs.len() < PROGRESS_FROM || !terminal::shows_progress() {
            return None;
        }
        let bar = indicatif::ProgressBar::new(self.inputs.len() as u64);
        let style = indicatif::ProgressStyle::with_template("checking {bar:30} {pos} of {len} files, {eta} left");
        Some(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    fn one(&self, input: &Input, number: usize) -> Outcome {
        // What was found in a directory may be none of ours; what was named, or is to be taken as a contract, is.
        let may_be_stranger = input.found && self.args.contract.is_none();
        let bytes = match input.read(self.checker.settings.size_max) {
            Ok(bytes) => bytes,
            Err(Unread::TooLarge) => return self.too_large(input, may_be_stranger),
            Err(Unread::Failed(why)) => return self.unread(input, &why),
        };
        let text = match utf8(&bytes) {
            Ok(text) => text,
            Err(_) if may_be_stranger && !self.marks.in_bytes(&bytes) => return Outcome::NotOurs,
            Err(fault) => return self.unread(input, &format!("{}; {}", fault.message, fault.help)),
        };
        let company = Company::new(&self.given, &self.together, self.inputs, &self.checker, &self.shelf, number);
        let request = Request {
            source: Source { name: &input.name, text },
            form: None,
            contract: self.args.contract.as_deref(),
            against: self.against.as_deref().map(|text| Source { name: "the earlier copy", text }),
            others: &company,
            outside: &self.outside,
        };
        let path = input.path.as_deref().unwrap_or(Path::new(""));
        let checked = checking::checked(&self.checker, self.project, &request, path);
        let told = checked.told && checked.contract.is_none_or(|it| it.forms.contains(&request.form()));
        if may_be_stranger && !told && !self.marks.claim(text, request.form(), self.checker.settings.size_max) {
            return Outcome::NotOurs;
        }
        self.show(&checked, request.source)
    }

    /// A document that is too large is refused without being read, unless it is none of ours.
    fn too_large(&self, input: &Input, may_be_stranger: bool) -> Outcome {
        if let (true, Some(path)) = (may_be_stranger, &input.path) {
            match self.marks.in_file(path) {
                Ok(true) => {}
                Ok(false) => return Outcome::NotOurs,
                Err(why) => return self.unread(input, &why),
            }
        }
        self.show(&show::too_large(input, self.checker.settings.size_max), Source { name: &input.name, text: "" })
    }
}
