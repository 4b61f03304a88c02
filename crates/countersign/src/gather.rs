//! Which documents are meant, and which belong together.

use crate::files;
use anyhow::{Context, bail};
use countersign_contract::check::detect;
use countersign_contract::{
    AnyRecord, Checked, Checker, Contract, Form, Links, Others, Outside, Request, Set, check, parse, utf8,
};
use countersign_diagnostic::Source;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document that was asked for.
#[derive(Debug, Clone)]
pub struct Input {
    /// Where it is; none for standard input.
    pub path: Option<PathBuf>,
    /// How it is called in output.
    pub name: String,
    /// Whether it was found in a directory rather than named, and so may be none of ours.
    pub found: bool,
}

/// The documents that the arguments mean, in their order; those of a directory by name.
pub fn inputs(arguments: &[PathBuf], stdin_name: Option<&str>) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            let name = stdin_name.unwrap_or("<stdin>").to_owned();
            inputs.push(Input { path: None, name, found: false });
        } else if argument.is_dir() {
            walk(argument, &mut inputs)?;
        } else {
            inputs.push(named(argument));
        }
    }
    if inputs.iter().filter(|input| input.path.is_none()).count() > 1 {
        bail!("standard input can be read only once");
    }
    Ok(inputs)
}

fn named(path: &Path) -> Input {
    Input { path: Some(path.to_owned()), name: path.display().to_string(), found: false }
}

/// Files whose ending is one that documents have, in order; what git ignores is left out.
fn walk(directory: &Path, inputs: &mut Vec<Input>) -> anyhow::Result<()> {
    let mut walk = ignore::WalkBuilder::new(directory);
    // Evidence lives in folders that begin with a dot.
    walk.hidden(false).require_git(false).sort_by_file_path(Ord::cmp);
    walk.filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != crate::project::FOLDER);
    for entry in walk.build() {
        let entry = entry.with_context(|| format!("{} cannot be walked", directory.display()))?;
        let file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.into_path();
        if file && Form::of_name(&path.to_string_lossy()).is_some() {
            inputs.push(Input { found: true, ..named(&path.strip_prefix("./").unwrap_or(&path).to_owned()) });
        }
    }
    Ok(())
}

impl Input {
    /// The bytes of the document, or why they cannot be had.
    pub fn read(&self, size_max: usize) -> Result<Vec<u8>, String> {
        match &self.path {
            Some(path) => files::read(path, size_max),
            None => files::read_stdin(size_max),
        }
    }
}

/// Documents that were given with `--with`: context, and no decision of their own.
#[derive(Debug, Default)]
pub struct Given {
    set: Set,
    broken: Vec<String>,
    /// Whether one could not be read at all.
    pub unread: bool,
}

impl Given {
    /// Reads and checks the documents. One that cannot be used refuses everything that is checked with it.
    pub fn read(paths: &[PathBuf], checker: &Checker<'_>, outside: &Outside) -> Self {
        let mut given = Self::default();
        for path in paths {
            let name = path.display().to_string();
            let bytes = match files::read(path, checker.settings.size_max) {
                Ok(bytes) => bytes,
                Err(why) => {
                    given.broken.push(format!("{name}: {why}"));
                    given.unread = true;
                    continue;
                }
            };
            let text = match utf8(&bytes) {
                Ok(text) => text,
                Err(fault) => {
                    given.broken.push(format!("{name}: {}", fault.message));
                    continue;
                }
            };
            let checked = check(checker, &Request::alone(Source { name: &name, text }, outside));
            if checked.decision.allow {
                given.set.add_checked(&checked);
            } else {
                let code = checked.decision.code_str();
                given.broken.push(format!("{name} is itself refused with {code}: {}", checked.decision.reason));
            }
        }
        given
    }
}

/// Documents that are checked in one go: each may be needed by another. Only names are kept; a document is read again
/// when another asks for it, so that memory does not grow with what the documents say.
#[derive(Debug, Default)]
pub struct Together {
    by_name: HashMap<&'static str, HashMap<String, Vec<usize>>>,
    links: Links,
}

/// What is known of a document before it is checked.
#[derive(Debug)]
pub struct Entry {
    contract: &'static str,
    names: Vec<String>,
    needs: Vec<String>,
}

impl Entry {
    /// Reads just enough of a document to know what it is called. None for one that has no names, or cannot be read.
    pub fn of(input: &Input, checker: &Checker<'_>) -> Option<Self> {
        let bytes = files::read(input.path.as_ref()?, checker.settings.size_max).ok()?;
        let text = utf8(&bytes).ok()?;
        let form = Form::of_name(&input.name).unwrap_or_else(|| Form::of_text(text));
        let document = parse(text, form, checker.settings.size_max).ok()?;
        let contract = detect(checker, &document)?;
        let contract = countersign_domain::contract(contract)?;
        let (names, kin) = contract.index(&document)?;
        let needs = kin.into_iter().filter(|kin| kin.contract == contract.name).map(|kin| kin.name).collect();
        Some(Self { contract: contract.name, names, needs })
    }
}

impl Together {
    /// Puts the documents' names in order.
    pub fn of(entries: Vec<Option<Entry>>) -> Self {
        let mut all = Self::default();
        for (number, entry) in entries.into_iter().enumerate() {
            let Some(entry) = entry else { continue };
            for name in entry.names {
                for needs in &entry.needs {
                    all.links.add(entry.contract, &name, needs);
                }
                all.by_name.entry(entry.contract).or_default().entry(name).or_default().push(number);
            }
        }
        all
    }
}

/// Everything that one document is checked with.
#[derive(Debug)]
pub struct Company<'a> {
    /// What was given with `--with`.
    pub given: &'a Given,
    /// What is checked in the same go.
    pub together: &'a Together,
    /// The documents behind `together`.
    pub inputs: &'a [Input],
    /// How they are read.
    pub checker: &'a Checker<'a>,
    /// Which of `inputs` is being checked.
    pub number: usize,
}

impl Others for Company<'_> {
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord> {
        if self.given.set.given(contract) {
            return self.given.set.find(contract, name);
        }
        let numbers = self.together.by_name.get(contract)?.get(name)?;
        let folder = |number: usize| self.inputs.get(number).and_then(|it| it.path.as_ref()?.parent());
        let here = folder(self.number);
        // Of several with the same ids, the one in the same folder is meant.
        let near = numbers.iter().find(|number| folder(**number) == here);
        let number = near.or_else(|| numbers.first()).filter(|number| **number != self.number)?;
        let checked = self.load(self.inputs.get(*number)?)?;
        let contract = checked.contract?;
        checked.records.into_iter().find(|record| (contract.names)(record).iter().any(|it| it == name))
    }

    fn is_empty(&self) -> bool {
        self.given.set.is_empty() && self.given.broken.is_empty() && self.together.by_name.is_empty()
    }

    fn given(&self, contract: &str) -> bool {
        self.given.set.given(contract)
    }

    fn unreadable(&self) -> &[String] {
        &self.given.broken
    }

    fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>> {
        self.given.set.circle(contract, name).or_else(|| self.together.links.circle(contract, name))
    }
}

impl Company<'_> {
    /// The one record of a contract that was given with `--with`; none where there are several.
    pub fn given_only<T: Contract>(&self) -> Option<Arc<T>> {
        self.given.set.only(T::NAME).and_then(|record| record.downcast().ok())
    }

    fn load(&self, input: &Input) -> Option<Checked> {
        let bytes = input.read(self.checker.settings.size_max).ok()?;
        let text = utf8(&bytes).ok()?;
        let outside = Outside::default();
        Some(check(self.checker, &Request::alone(Source { name: &input.name, text }, &outside)))
    }
}
