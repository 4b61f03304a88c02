//! `countersign fix`

use super::splitting::{Typed, typed};
use super::{Exit, contracts, interrupt, output};
use crate::company::{Company, Given, Together};
use crate::gather::Input;
use crate::project::Project;
use crate::repairing::{Repairs, left, printable};
use crate::shelf::Shelf;
use crate::terminal::Terminal;
use crate::{files, world};
use anyhow::{Context, ensure};
use countersign_contract::fix::Fixed;
use countersign_contract::{Checked, Checker, Outside, check, rules};
use countersign_diagnostic::render::text;
use countersign_diagnostic::{Diagnostic, Severity, Source, visible};
use countersign_runner::agent::Stop;
use countersign_runner::handoff::{Summarizer, keeping, summarized};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

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

Exit codes: 0 the result passes, 1 a person must decide, 2 wrong usage, 3 something could not be read.")]
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

    /// A command that reads a text on standard input and writes a shorter one: a program and its arguments, in words as a shell
    /// would split them; no shell
    #[arg(long, value_name = "CMD", value_parser = typed)]
    summarizer: Option<Typed>,

    /// Show every change, however many there are
    #[arg(long)]
    whole_diff: bool,

    /// What standard input is called in output; the ending of the name tells its form
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,
}

/// How much of what was changed is shown unasked: more than a document has that people write, and less than a terminal
/// keeps.
const DIFF_LINES_MAX: usize = 400;
const LETTERS_MAX: usize = 1000;
const CHANGES_MAX: usize = 100;

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    if let Some(name) = args.contract.as_deref().filter(|name| !contracts::is_known(name, project)) {
        contracts::say_unknown(name, project);
        return Ok(Exit::Usage);
    }
    if let Some(wrong) = wrong_usage(args) {
        output::say(&format!("error: {wrong}"));
        return Ok(Exit::Usage);
    }
    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::named(path, args.stdin_filename.as_deref())).collect();
    let mut settings = project.settings.clone();
    if let Some(max) = args.max_tokens {
        settings.tokens_max = max.min(settings.tokens_max);
    }
    let checker = Checker { settings: &settings, ..project.checker() };
    let outside = world::outside(None);
    let given = Given::read(&args.with, &inputs, &checker, &outside);
    let (together, shelf) = (Together::default(), Shelf::default());
    given.unread.iter().for_each(|unread| output::say(&format!("error: {unread}")));
    let mut exit = if given.unread.is_empty() { Exit::Allowed } else { Exit::Failed };
    let stop = Stop::default();
    let summarizer = args.summarizer.as_ref().map(|typed| Summarizer::typed(&typed.0).stopped_by(&stop));
    let _signals = summarizer.as_ref().map(|_| interrupt::stops(&stop, false)).transpose()?;
    for (number, input) in inputs.iter().enumerate() {
        let company = Company::new(&given, &together, &inputs, &checker, &shelf, number);
        let contract = args.contract.as_deref();
        let document = input.path.as_deref().unwrap_or(Path::new(""));
        let repairs = Repairs { project, checker: &checker, outside: &outside, company: &company, contract, document };
        let job = Job { args, summarizer: summarizer.as_ref(), repairs };
        // One that fails does not keep the others from being repaired.
        exit = exit.max(job.one(input).unwrap_or_else(|error| {
            output::say(&format!("error: {error:#}"));
            Exit::Failed
        }));
    }
    Ok(exit)
}

fn wrong_usage(args: &Args) -> Option<String> {
    let mut paths = args.paths.iter();
    if let Some(folder) = paths.clone().find(|path| path.is_dir()) {
        return Some(format!("`{}` is a directory; name the files to repair", folder.display()));
    }
    if !args.write && args.paths.len() > 1 {
        return Some("without --write one document is repaired at a time, since it goes to standard output".to_owned());
    }
    if args.write && paths.any(|path| path.as_os_str() == "-") {
        return Some("standard input cannot be replaced; leave --write out".to_owned());
    }
    None
}

struct Job<'a> {
    args: &'a Args,
    summarizer: Option<&'a Summarizer>,
    repairs: Repairs<'a>,
}

impl Job<'_> {
    fn one(&self, input: &Input) -> anyhow::Result<Exit> {
        let repairs = &self.repairs;
        let original = &input.text(repairs.checker.settings.size_max)?;
        let source = Source { name: &input.name, text: original };
        let before = check(repairs.checker, &repairs.request(source, repairs.outside));
        let (text, mut changes) = repairs.take_answer(&input.name, original, &before);
        let fixed = self.fix_and_keep(input, &text)?;
        changes.extend(fixed.changes.iter().cloned());
        let unchanged = fixed.text == *original;
        if !unchanged {
            self.show_diff(input, original, &before, &fixed);
        }
        self.show_changes(&changes);
        left(&fixed).iter().for_each(|left| output::say(left));
        match &input.path {
            Some(path) if self.may_write(&fixed) && !unchanged => files::write(path, &fixed.text)?,
            _ if self.args.write => {}
            _ => {
                let (shown, said) = printable(&fixed);
                said.into_iter().for_each(output::say);
                output::print(&shown);
            }
        }
        Ok(self.conclude(input, &fixed, unchanged))
    }

    fn show_diff(&self, input: &Input, original: &str, before: &Checked, fixed: &Fixed) {
        if output::may_hide_secret(original, before) {
            output::say("the diff is not shown: the original may hold a secret that was not found");
            return;
        }
        let shown = output::masked(original, &before.decision);
        let repaired = output::masked(&fixed.text, &fixed.checked.decision);
        let diff = diff(&shown, &repaired, &visible(&input.name));
        let (head, rest) = diff.split_at(self.shown(&diff, DIFF_LINES_MAX));
        let cut: Vec<_> = head.split('\n').map(|line| self.cut(line)).collect();
        output::say_lines(&cut.join("\n"));
        self.say_more(rest.lines().count(), "lines of the diff");
    }

    fn show_changes(&self, changes: &[String]) {
        let most = if self.args.whole_diff { changes.len() } else { CHANGES_MAX };
        changes.iter().take(most).for_each(|change| output::say(&format!("  {change}")));
        self.say_more(changes.len().saturating_sub(most), "changes");
    }

    /// Where what is shown of a text ends: behind so many lines, unless all of them are wanted.
    fn shown(&self, text: &str, lines_max: usize) -> usize {
        let end = text.match_indices('\n').nth(lines_max - 1).map(|(at, _)| at + 1);
        end.filter(|_| !self.args.whole_diff).unwrap_or(text.len())
    }

    /// As much of a line as is shown: texts of an agent are often one line each.
    fn cut<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match line.char_indices().nth(LETTERS_MAX).filter(|_| !self.args.whole_diff) {
            Some((end, _)) => format!("{} … {} more characters", &line[..end], line[end..].chars().count()).into(),
            None => line.into(),
        }
    }

    fn say_more(&self, more: usize, what: &str) {
        if more > 0 {
            output::say(&format!("  … {more} more {what}; `--whole-diff` shows all of them"));
        }
    }

    /// Repairs the document, and with --write keeps what was taken out before anything else is written.
    fn fix_and_keep(&self, input: &Input, text: &str) -> anyhow::Result<Fixed> {
        let source = Source { name: &input.name, text };
        let outside = self.repairs.with_names_taken(source);
        let before = self.repairs.kept_before(source);
        let fixed = self.fix(source, before.as_ref().map(|(name, _)| name.as_str()), &outside)?;
        let Some(at) = &fixed.kept_at else { return Ok(fixed) };
        let writes = self.may_write(&fixed);
        let size_max = self.repairs.checker.settings.size_max;
        let kept = match &before {
            Some((_, path)) if writes => keeping::add(path, &fixed.kept, size_max).map(|()| path.clone()),
            Some((_, path)) => Ok(path.clone()),
            None => {
                let place = world::place(at, self.repairs.document, self.repairs.project)
                    .with_context(|| format!("{at} lies outside the project and the temporary directory"));
                place.and_then(|path| if writes { keeping::begin(&path, &fixed.kept).map(|()| path) } else { Ok(path) })
            }
        };
        let error = match kept {
            Ok(path) if writes => {
                output::say(&format!("what is taken out is kept in {}", path.display()));
                return Ok(fixed);
            }
            Ok(_) => {
                self.say_unkept(input, at);
                return Ok(fixed);
            }
            Err(error) => error,
        };
        let name = format!("session-context-{}.json", uuid::Uuid::new_v4());
        let fallback = std::env::temp_dir().join("countersign-handoffs").join(name);
        output::say(&format!("warning: {error:#}; using the fallback location {}", fallback.display()));
        let fixed = self.fix(source, Some(&fallback.display().to_string()), &outside)?;
        if !writes {
            self.say_unkept(input, &fallback.display().to_string());
            return Ok(fixed);
        }
        keeping::begin(&fallback, &fixed.kept)
            .context("what is taken out cannot be kept anywhere; nothing was changed")?;
        Ok(fixed)
    }

    /// Says where what is taken out would be kept, and that the document which is shown refers to nothing that is there.
    fn say_unkept(&self, input: &Input, at: &str) {
        if self.args.write {
            return;
        }
        output::say(&format!("what is taken out would be kept in {at}"));
        let how = match &input.path {
            Some(_) => "--write writes both",
            None => "save the original as a file, and repair that with --write, which writes both",
        };
        output::say(&format!("warning: the document refers to that file, which is not written; {how}"));
    }

    /// A document that gave something up and is still refused is not written: the original is then worth more.
    fn may_write(&self, fixed: &Fixed) -> bool {
        self.args.write && (fixed.checked.decision.allow || fixed.kept.is_empty())
    }

    fn fix(&self, source: Source<'_>, kept_at: Option<&str>, outside: &Outside) -> anyhow::Result<Fixed> {
        let mut summarize = |text: &str, length: usize| {
            let by = self.summarizer.as_ref().filter(|by| !by.is_too_slow())?;
            match summarized(by, text, length) {
                Ok(shorter) => Some(shorter),
                Err(error) => {
                    output::say(&format!("warning: the summarizer did not help: {error:#}"));
                    None
                }
            }
        };
        let fixed = self.repairs.fix(source, kept_at, outside, &mut summarize);
        ensure!(!self.summarizer.is_some_and(Summarizer::is_stopped), "stopped; `{}` was not changed", source.name);
        Ok(fixed)
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
        let terminal = Terminal::stderr();
        let look = output::look(terminal.look(), &fixed.text, &fixed.checked);
        let most = countersign_contract::fix::ATTEMPTS_MAX;
        output::say_lines(&format!("\nafter {} of {most} attempts a person must decide:\n", fixed.attempts));
        let untold = !fixed.checked.told && self.args.contract.is_none();
        let doubt = self.repairs.doubt(source).filter(|_| untold);
        let said_by_doubt = |it: &&Diagnostic| doubt.is_some() && it.rule == rules::CONTRACT_UNDETECTED.id;
        let errors = decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        for finding in errors.filter(|it| !said_by_doubt(it)) {
            output::say_rendered(&text::diagnostic(&beyond_fix(finding), source, look));
        }
        if let Some(doubt) = &doubt {
            output::say(doubt);
            output::say("");
        }
        if untold && self.args.with.is_empty() {
            output::say("if it is a validator's loose answer, name what it was asked with `--with REQUEST`");
        }
        if self.args.write && !unchanged && !self.may_write(fixed) {
            output::say(&format!(
                "nothing was written: what was taken out was not enough; {} is as it was",
                visible(&input.name)
            ));
        }
        output::say(&text::verdict(decision));
        Exit::Refused
    }
}

/// A finding without the advice to use what was just used.
fn beyond_fix(finding: &Diagnostic) -> Diagnostic {
    let help = finding.help.split("; `countersign fix`").next().unwrap_or_default().to_owned();
    Diagnostic { help, ..finding.clone() }
}

fn diff(before: &str, after: &str, name: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(2).header(name, &format!("{name} (repaired)")).to_string()
}
