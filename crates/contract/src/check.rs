//! The road of a check: parse, tell the contract, read the shape, ask the rules, decide.

use crate::contract::{AnyRecord, Contract, ContractInfo, Kin, Subject};
use crate::document::{Cursor, Document, Form};
use crate::fault::{Fault, FaultKind};
use crate::foreign::Foreign;
use crate::outside::{Outside, Settings};
use crate::report::Report;
use crate::rule::RuleInfo;
use crate::set::{Alone, Others};
use crate::shape::Shape;
use crate::{FINDINGS_MAX, parse, rules, show};
use countersign_diagnostic::{Decision, Details, Pointer, Severity, Source};
use std::sync::Arc;

/// What is known before any document is looked at.
#[derive(Debug)]
pub struct Checker<'c> {
    /// The contracts, in the order in which candidates are named.
    pub contracts: &'c [ContractInfo],
    /// Contracts that a user declared as JSON Schemas.
    pub foreign: &'c [Foreign],
    /// The settings.
    pub settings: &'c Settings,
    /// Severities that the configuration raised, by rule.
    pub raised: &'c [(String, Severity)],
}

/// One document to check, and what it is checked with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The document.
    pub source: Source<'r>,
    /// How it is written; none means to tell from its name, or else from its text.
    pub form: Option<Form>,
    /// The contract by name; none means to tell from its keys.
    pub contract: Option<&'r str>,
    /// An earlier copy of it.
    pub against: Option<Source<'r>>,
    /// The documents given with it.
    pub others: &'r dyn Others,
    /// What the door saw of the world.
    pub outside: &'r Outside,
}

impl<'r> Request<'r> {
    /// A document on its own.
    pub fn alone(source: Source<'r>, outside: &'r Outside) -> Self {
        Self { source, form: None, contract: None, against: None, others: &Alone, outside }
    }

    /// How the document is written.
    pub fn form(&self) -> Form {
        let form = self.form.or_else(|| Form::of_name(self.source.name));
        form.unwrap_or_else(|| Form::of_text(self.source.text))
    }
}

/// A document that was checked.
#[derive(Debug)]
pub struct Checked {
    /// What was decided, and on what findings.
    pub decision: Decision,
    /// The records, if their shape could be read. They are valid only if the decision allows.
    pub records: Vec<AnyRecord>,
    /// The contract, if it could be told and is one of ours.
    pub contract: Option<ContractInfo>,
    /// Whether a contract could be told at all.
    pub told: bool,
}

impl Checked {
    /// Whether the document may be given with another: it is allowed, or refused only for what that other is about.
    pub fn is_context(&self) -> bool {
        let despite = self.contract.map_or(&[][..], |contract| contract.context_despite);
        self.decision.code.is_none_or(|code| despite.contains(&code))
    }
}

/// What a typed check gives back.
#[derive(Debug, Default)]
pub struct Records {
    records: Vec<AnyRecord>,
    version: Option<String>,
}

/// What a typed check is given.
#[derive(Debug)]
pub struct Run<'a> {
    document: &'a Document<'a>,
    older: Option<&'a Document<'a>>,
    others: &'a dyn Others,
    outside: &'a Outside,
    settings: &'a Settings,
}

/// Checks one document. Never fails: what cannot be read is a decision that says so.
pub fn check(checker: &Checker<'_>, request: &Request<'_>) -> Checked {
    check_for(checker, request, FINDINGS_MAX)
}

/// Checks one document, and lists up to `most` errors and as many other findings.
pub(crate) fn check_for(checker: &Checker<'_>, request: &Request<'_>, most: usize) -> Checked {
    let mut report = Report::new(checker.settings.strict).with_room(most);
    let source = request.source;
    let document = match parse(source.text, request.form(), checker.settings.size_max) {
        Ok(document) => document,
        Err(fault) => {
            add_fault(&mut report, fault);
            return conclude(checker, source, report, None, None, Records::default());
        }
    };
    let older = request.against.map(|older| parse(older.text, document.form(), checker.settings.size_max)).transpose();
    // Lines that are all gone tell nothing; the earlier copy tells what they were.
    let telling = older.as_ref().ok().and_then(Option::as_ref).filter(|_| is_without_lines(&document));
    let contract = match tell(checker, telling.unwrap_or(&document), request.contract, &mut report) {
        Some(contract) => contract,
        None => return conclude(checker, source, report, Some(&document), None, Records::default()),
    };
    let older = older.unwrap_or_else(|fault| {
        let message = format!("the earlier copy cannot be read: {}", fault.message);
        report.find_at(&rules::COMPANION_UNREADABLE, Pointer::root(), message, fault.help);
        None
    });
    for broken in request.others.unreadable() {
        let message = format!("a document given with it cannot be used: {}", show(broken));
        report.find_at(&rules::COMPANION_UNREADABLE, Pointer::root(), message, "mend that document first");
    }
    let records = match contract {
        Told::Ours(contract) => {
            let older = older.as_ref();
            let Request { others, outside, .. } = *request;
            let run = Run { document: &document, older, others, outside, settings: checker.settings };
            (contract.run)(&run, &mut report)
        }
        Told::Foreign(contract) => {
            if is_without_lines(&document) {
                report.empty(document.root(), "this document");
            }
            for (base, at) in places(&document) {
                contract.check(at, &base, &mut report);
            }
            if older.is_some() {
                unused(&mut report, &contract.name, "an earlier copy");
            }
            Records::default()
        }
    };
    report.settle();
    rules::check_texts(&document, &mut report);
    conclude(checker, source, report, Some(&document), Some(contract), records)
}

/// Reads a value of a shape that is no contract, such as the request of a command, or says everything that is wrong with it.
pub fn read<T: Shape>(checker: &Checker<'_>, source: Source<'_>) -> Result<T, Box<Decision>> {
    let mut report = Report::new(checker.settings.strict);
    let document = match parse(source.text, Form::Json, checker.settings.size_max) {
        Ok(document) => document,
        Err(fault) => {
            add_fault(&mut report, fault);
            return Err(Box::new(conclude(checker, source, report, None, None, Records::default()).decision));
        }
    };
    let read = T::read(document.root(), &mut report);
    report.settle();
    rules::check_texts(&document, &mut report);
    let decision = conclude(checker, source, report, Some(&document), None, Records::default()).decision;
    read.filter(|_| decision.allow).ok_or_else(|| Box::new(decision))
}

#[derive(Clone, Copy)]
enum Told<'c> {
    Ours(&'c ContractInfo),
    Foreign(&'c Foreign),
}

impl<'c> Told<'c> {
    fn name(&self) -> &'c str {
        match self {
            Told::Ours(contract) => contract.name,
            Told::Foreign(contract) => &contract.name,
        }
    }
}

/// Which contract a document is of: the one that was named, or the one whose marks it has. Validity plays no part.
fn tell<'c>(
    checker: &Checker<'c>,
    document: &Document<'_>,
    named: Option<&str>,
    report: &mut Report,
) -> Option<Told<'c>> {
    if let Some(name) = named {
        let ours = checker.contracts.iter().find(|it| it.name == name).map(Told::Ours);
        let found = ours.or_else(|| checker.foreign.iter().find(|it| it.name == name).map(Told::Foreign));
        if found.is_none() {
            let help = format!("known are {}", list(checker.contracts.iter().map(|it| it.name)));
            let message = format!("there is no contract `{}`", show(name));
            report.find_at(&rules::CONTRACT_UNDETECTED, Pointer::root(), message, help);
        }
        return found;
    }
    let keys = root_keys(document);
    let mut candidates = candidates(checker, &keys);
    match (candidates.next(), candidates.next()) {
        (Some(one), None) => Some(one),
        (None, _) => {
            let marks = checker.contracts.iter().map(|it| format!("{} (`{}`)", it.name, it.marks.join("`, `")));
            let message = "no contract has these keys";
            let help = format!("name one with `--contract`; known are {}", list(marks));
            report.find_at(&rules::CONTRACT_UNDETECTED, Pointer::root(), message, help);
            None
        }
        (Some(one), Some(other)) => {
            let names = list([one, other].into_iter().chain(candidates).map(|it| it.name()));
            let message = format!("the keys are those of several contracts: {names}");
            report.find_at(&rules::CONTRACT_AMBIGUOUS, Pointer::root(), message, "name one with `--contract`");
            None
        }
    }
}

/// The keys that tell a contract.
fn root_keys<'d>(document: &'d Document<'_>) -> Vec<&'d str> {
    let root = document.root();
    let record = match document.form() {
        Form::JsonLines => root.items().next().unwrap_or(root),
        _ => root,
    };
    let mut keys = Vec::with_capacity(record.entries().count());
    keys.extend(record.entries().map(|(key, _)| key.raw()));
    keys
}

fn candidates<'c>(checker: &Checker<'c>, keys: &[&str]) -> impl Iterator<Item = Told<'c>> {
    let ours = checker.contracts.iter().filter(|it| it.marks.iter().all(|mark| keys.contains(mark)));
    let foreign = checker.foreign.iter().filter(|it| !it.marks.is_empty());
    let foreign = foreign.filter(|it| it.marks.iter().all(|mark| keys.contains(&mark.as_str())));
    ours.map(Told::Ours).chain(foreign.map(Told::Foreign))
}

/// Whether a document has the marks of a contract, without checking it further: `Ok` with the name.
pub fn detect<'c>(checker: &Checker<'c>, document: &Document<'_>) -> Option<&'c str> {
    let keys = root_keys(document);
    let mut candidates = candidates(checker, &keys);
    let one = candidates.next()?;
    candidates.next().is_none().then(|| one.name())
}

/// The records of a document, each with the pointer that leads to it.
fn places<'d>(document: &'d Document<'d>) -> Vec<(Pointer, Cursor<'d>)> {
    let root = document.root();
    match document.form() {
        Form::JsonLines => root.items().enumerate().map(|(line, at)| (Pointer::root().item(line), at)).collect(),
        _ => vec![(Pointer::root(), root)],
    }
}

/// Whether a document of lines has none.
fn is_without_lines(document: &Document<'_>) -> bool {
    document.form() == Form::JsonLines && document.root().items().next().is_none()
}

fn places_of<'d>(document: &'d Document<'d>) -> Vec<Cursor<'d>> {
    places(document).into_iter().map(|(_, at)| at).collect()
}

/// Says that something was given and plays no part. Silence would look like a comparison that went well.
fn unused(report: &mut Report, contract: &str, what: &str) {
    let message = format!("{what} was given, but nothing compares `{contract}` with it");
    report.find_at(&rules::COMPANION_UNUSED, Pointer::root(), message, "leave it out, or give what it belongs with");
}

/// Reads the records of a document and asks the rules of `T` about each.
pub(crate) fn run<T: Contract>(run: &Run<'_>, report: &mut Report) -> Records {
    if !T::FORMS.contains(&run.document.form()) {
        let forms = list(T::FORMS.iter().map(|form| form.as_str()));
        let message = format!("`{}` is not written as {}", T::NAME, run.document.form().as_str());
        report.find_at(&rules::FORM_UNFIT, Pointer::root(), message, format!("write it as {forms}"));
        return Records::default();
    }
    if run.document.form() == Form::JsonLines {
        return run_lines::<T>(run, report);
    }
    // Nearly always there is one record, and moving it about costs more than reading it: it is put where it stays.
    let root = run.document.root();
    let Some(record) = T::read(root, report).map(Arc::new) else { return Records::default() };
    ask(run, std::slice::from_ref(&*record), [(Pointer::root(), root)].into_iter(), report);
    Records { version: record.version().map(str::to_owned), records: vec![record] }
}

fn run_lines<T: Contract>(run: &Run<'_>, report: &mut Report) -> Records {
    if is_without_lines(run.document) {
        let gone = run.older.map_or(0, |older| older.root().items().count());
        match T::emptied().filter(|_| gone > 0) {
            Some(rule) => {
                let message = format!("the earlier copy has {gone} lines, this one none");
                report.find_at(rule, Pointer::root(), message, "put the missing lines back");
            }
            None => report.empty(run.document.root(), "this document"),
        }
    }
    let places = places(run.document);
    let lines: Vec<T> = places.iter().filter_map(|(_, at)| T::read(*at, report)).collect();
    let version = lines.first().and_then(T::version).map(str::to_owned);
    // A rule may look at the lines before and after, so none is asked unless all can be read.
    if lines.len() == places.len() {
        ask(run, &lines, places.into_iter(), report);
    }
    Records { version, records: lines.into_iter().map(|record| Arc::new(record) as AnyRecord).collect() }
}

/// Asks the rules of `T` about each of `lines`, which stand at `places`.
fn ask<'d, T: Contract>(
    run: &Run<'d>,
    lines: &[T],
    places: impl Iterator<Item = (Pointer, Cursor<'d>)>,
    report: &mut Report,
) {
    let older = run.older.and_then(|older| read_older::<T>(older, report));
    let older_roots: Vec<Cursor<'_>> = run.older.map(places_of).unwrap_or_default();
    if run.older.is_some() && !T::HAS_PAST {
        unused(report, T::NAME, "an earlier copy");
    }
    for ((line, record), (base, root)) in lines.iter().enumerate().zip(places) {
        report.set_base(base);
        let subject = Subject {
            record,
            root,
            part: false,
            lines,
            line,
            older: older.as_deref(),
            older_roots: &older_roots,
            others: run.others,
            outside: run.outside,
            settings: run.settings,
        };
        check_kin(&subject, report);
        for rule in T::rules() {
            report.enter(&rule.info);
            (rule.check)(&subject, report);
        }
        T::check_parts(&subject, report);
    }
    report.set_base(Pointer::root());
}

fn read_older<'d, T: Contract>(older: &'d Document<'d>, report: &mut Report) -> Option<Vec<T>> {
    let mut unread = Report::new(false);
    let records: Option<Vec<T>> = places_of(older).into_iter().map(|at| T::read(at, &mut unread)).collect();
    if records.is_none() {
        let message = "the earlier copy is not of this contract";
        report.find_at(&rules::COMPANION_UNREADABLE, Pointer::root(), message, "give an earlier copy that passes");
    }
    records
}

fn check_kin<T: Contract>(subject: &Subject<'_, T>, report: &mut Report) {
    if subject.others.is_empty() {
        return;
    }
    let kin = subject.record.kin();
    let strange = |contract: &&'static str| *contract != T::NAME && kin.iter().all(|kin| kin.contract != *contract);
    for contract in subject.others.contracts().into_iter().filter(strange).filter(|_| subject.line == 0) {
        unused(report, T::NAME, &format!("`{contract}`"));
    }
    let mut contracts: Vec<&'static str> = Vec::new();
    for kin in kin.iter().filter(|kin| kin.required) {
        let contested = || !kin.several && subject.others.contested(kin.contract, &kin.name);
        let matters = subject.others.given(kin.contract) || contested();
        if matters && !contracts.contains(&kin.contract) {
            contracts.push(kin.contract);
        }
    }
    for contract in contracts {
        let mut wanted = kin.iter().filter(|kin| kin.contract == contract && kin.required);
        let contested = |kin: &&Kin| !kin.several && subject.others.contested(contract, &kin.name);
        if let Some(kin) = wanted.clone().find(contested) {
            let message = format!("several different documents say that they are {contract} `{}`", show(&kin.name));
            report.enter(&rules::COMPANION_CONTESTED);
            report.add(Pointer::root(), message, "give the one that is meant");
            continue;
        }
        if wanted.clone().any(|kin| subject.others.has(contract, &kin.name)) {
            continue;
        }
        let name = wanted.next().map(|kin| show(&kin.name)).unwrap_or_default();
        let message = format!("no {contract} given with it is `{name}`");
        report.enter(&rules::COMPANION_UNMATCHED);
        report.add(Pointer::root(), message, "give the one it belongs to, or correct the ids");
    }
}

fn add_fault(report: &mut Report, fault: Fault) {
    let rule: &'static RuleInfo = match fault.kind {
        FaultKind::Syntax => &rules::SYNTAX_INVALID,
        FaultKind::DuplicateKey => &rules::KEY_DUPLICATE,
        FaultKind::Limit => &rules::LIMIT_EXCEEDED,
        FaultKind::YamlFeature => &rules::YAML_FEATURE_REFUSED,
    };
    report.find_at(rule, Pointer::root(), fault.message, fault.help).span = Some(fault.span);
}

fn conclude(
    checker: &Checker<'_>,
    source: Source<'_>,
    report: Report,
    document: Option<&Document<'_>>,
    contract: Option<Told<'_>>,
    records: Records,
) -> Checked {
    let weigh = |rule: &str, severity: Severity| {
        let raised = checker.raised.iter().find(|(raised, _)| raised == rule).map(|(_, severity)| *severity);
        raised.map_or(severity, |raised| raised.max(severity))
    };
    let version = records.version.or_else(|| {
        let name = contract.map(|it| it.name())?;
        checker.contracts.iter().find(|it| it.name == name).map(|it| it.version.to_owned())
    });
    let details = Details {
        file: source.name.to_owned(),
        contract: contract.map(|it| it.name().to_owned()),
        version,
        diagnostics: report.finish(document, weigh),
    };
    Checked {
        decision: Decision::from_findings(details),
        records: records.records,
        contract: match contract {
            Some(Told::Ours(contract)) => Some(*contract),
            _ => None,
        },
        told: contract.is_some(),
    }
}

fn list<T: AsRef<str>>(names: impl Iterator<Item = T>) -> String {
    let names: Vec<String> = names.map(|name| name.as_ref().to_owned()).collect();
    names.join(", ")
}
