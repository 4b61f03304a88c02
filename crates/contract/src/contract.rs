//! What a contract is: a shape with a name, a version, and rules.

use crate::document::{Cursor, Document, Form};
use crate::outside::{Outside, Settings};
use crate::report::Report;
use crate::rule::{Rule, RuleInfo};
use crate::set::Others;
use crate::shape::Shape;
use countersign_diagnostic::{Code, Pointer};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// A named, versioned shape for a payload that crosses a boundary.
pub trait Contract: Shape + PartialEq + Send + Sync + 'static {
    /// The name, as `--contract` takes it.
    const NAME: &'static str;
    /// The version that this program knows.
    const VERSION: &'static str;
    /// The domain it belongs to, which is the name of its folder.
    const DOMAIN: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// The root keys that tell it from the others. A document that has all of them is of this contract, however wrong
    /// the rest may be.
    const MARKS: &'static [&'static str];
    /// The forms it may be written in.
    const FORMS: &'static [Form] = &[Form::Json, Form::Yaml];

    /// Codes under which a refused document of this contract may still be given with another. An instruction that lacks
    /// authority is what a response that declines it must be compared with.
    const CONTEXT_DESPITE: &'static [Code] = &[];
    /// Whether its rules compare a document with an earlier copy of itself.
    const HAS_PAST: bool = false;

    /// The rule that is broken where an earlier copy has lines and none is left. No record is there to ask it of.
    fn emptied() -> Option<&'static RuleInfo> {
        None
    }

    /// Its rules, in the order in which they are checked.
    fn rules() -> &'static [&'static Rule<Self>];

    /// Asks the rules of the records that this one carries inside, with [`Subject::check_part`].
    fn check_parts(_subject: &Subject<'_, Self>, _report: &mut Report) {}

    /// The version that the record names, if its contract has a field for that.
    fn version(&self) -> Option<&str> {
        None
    }

    /// The names under which other documents may mean this record.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The records that this one belongs with.
    fn kin(&self) -> Vec<Kin> {
        Vec::new()
    }

    /// The files that the record refers to. A door looks for them and hands the answer in.
    fn files(&self) -> Vec<String> {
        Vec::new()
    }

    /// The value to put where a required field is missing, if the contract defines one.
    fn default_for(_pointer: &str, _document: &Value, _outside: &Outside) -> Option<Value> {
        None
    }

    /// Brings what the document says about itself (hashes, sizes, counts) up to date after a change. Adds nothing that
    /// was not there.
    fn seal(_document: &mut Value) {}

    /// What of that only estimates, and proves nothing: `fix` renews it even where it was wrong before.
    const ESTIMATES: &'static [&'static str] = &[];

    /// What `fix` does beyond the repairs of rules: the rungs of a ladder, tried in order while the document is still
    /// refused.
    fn rungs() -> &'static [crate::fix::Rung] {
        &[]
    }
}

/// A record that another one belongs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kin {
    /// The contract of that record.
    pub contract: &'static str,
    /// The name under which it is meant.
    pub name: String,
    /// Whether it is an error when records of that contract are given, but none under this name.
    pub required: bool,
    /// Whether several different records may go by the name, so that it says what they are about and not which is meant.
    pub several: bool,
}

impl Kin {
    /// A record that must match when one of its contract is given.
    pub fn required(contract: &'static str, name: impl Into<String>) -> Self {
        Self { contract, name: name.into(), required: true, several: false }
    }

    /// Records of which one at least must match when one of their contract is given. They may differ.
    pub fn among(contract: &'static str, name: impl Into<String>) -> Self {
        Self { contract, name: name.into(), required: true, several: true }
    }

    /// A record that is used when it is there.
    pub fn optional(contract: &'static str, name: impl Into<String>) -> Self {
        Self { contract, name: name.into(), required: false, several: false }
    }
}

/// What a rule looks at: a record, and everything that was handed in with it.
#[derive(Debug)]
pub struct Subject<'a, T> {
    /// The record.
    pub record: &'a T,
    /// The record as it stands in its document.
    pub root: Cursor<'a>,
    /// Whether the record stands inside another one, which may say more of it than it does itself.
    pub part: bool,
    /// All records of the document, of which this is number `line`. One, unless the document is JSON Lines.
    pub lines: &'a [T],
    /// Which of `lines` this is, from 0.
    pub line: usize,
    /// The records of an earlier copy of the document, if one was given.
    pub older: Option<&'a [T]>,
    /// Where those records stand in the earlier copy.
    pub(crate) older_roots: &'a [Cursor<'a>],
    /// The documents that were given with it.
    pub others: &'a dyn Others,
    /// What the door saw of the world.
    pub outside: &'a Outside,
    /// What the configuration says.
    pub settings: &'a Settings,
}

impl<T: Contract> Subject<'_, T> {
    /// The record of contract `K` that this one belongs with, if it was given.
    pub fn kin<K: Contract>(&self) -> Option<Arc<K>> {
        let mut kin = self.record.kin().into_iter().filter(|kin| kin.contract == K::NAME);
        kin.find_map(|kin| self.other::<K>(&kin.name))
    }

    /// The record of contract `K` called `name`, if it was given.
    pub fn other<K: Contract>(&self, name: &str) -> Option<Arc<K>> {
        self.others.find(K::NAME, name).and_then(|found| found.downcast().ok())
    }

    /// Every record of contract `K` that was given to be compared with, in the order of their names.
    pub fn given<K: Contract>(&self) -> Vec<Arc<K>> {
        self.others.all_given(K::NAME).into_iter().filter_map(|record| record.downcast().ok()).collect()
    }

    /// Asks the rules of a record that stands inside this one. Each reports under its own id, code and severity.
    pub fn check_part<K: Contract>(&self, part: &K, root: Cursor<'_>, pointer: &Pointer, report: &mut Report) {
        let subject = Subject {
            record: part,
            root,
            part: true,
            lines: std::slice::from_ref(part),
            line: 0,
            older: None,
            older_roots: &[],
            others: self.others,
            outside: self.outside,
            settings: self.settings,
        };
        report.inside(pointer, |report| {
            for rule in K::rules() {
                report.enter(&rule.info);
                (rule.check)(&subject, report);
            }
        });
    }

    /// Record number `line` of the earlier copy as it stands in its document, members that the contract does not know
    /// included.
    pub fn older_root(&self, line: usize) -> Option<Cursor<'_>> {
        self.older_roots.get(line).copied()
    }

    /// Whether this is the last record of its document.
    pub fn is_last(&self) -> bool {
        self.line + 1 == self.lines.len()
    }
}

/// The names of records, and what they belong with.
pub type Relations = (Vec<String>, Vec<Kin>);

/// A record whose contract is only known by name.
pub type AnyRecord = Arc<dyn Any + Send + Sync>;

/// A contract as a row of a table.
#[derive(Debug, Clone, Copy)]
pub struct ContractInfo {
    /// See [`Contract::NAME`].
    pub name: &'static str,
    /// See [`Contract::VERSION`].
    pub version: &'static str,
    /// See [`Contract::DOMAIN`].
    pub domain: &'static str,
    /// See [`Contract::SUMMARY`].
    pub summary: &'static str,
    /// See [`Contract::MARKS`].
    pub marks: &'static [&'static str],
    /// See [`Contract::FORMS`].
    pub forms: &'static [Form],
    /// The JSON Schema document.
    pub schema: fn() -> Value,
    /// The smallest valid document.
    pub example: fn() -> Value,
    /// What is said about its rules.
    pub rules: fn() -> Vec<&'static RuleInfo>,
    /// See [`Contract::default_for`].
    pub default_for: fn(&str, &Value, &Outside) -> Option<Value>,
    /// See [`Contract::rungs`].
    pub rungs: fn() -> &'static [crate::fix::Rung],
    /// See [`Contract::CONTEXT_DESPITE`].
    pub context_despite: &'static [Code],
    /// See [`Contract::seal`].
    pub seal: fn(&mut Value),
    /// See [`Contract::ESTIMATES`].
    pub estimates: &'static [&'static str],
    /// See [`Contract::names`].
    pub names: fn(&AnyRecord) -> Vec<String>,
    /// Whether two records of this contract say the same.
    pub same: fn(&AnyRecord, &AnyRecord) -> bool,
    /// See [`Contract::kin`].
    pub kin: fn(&AnyRecord) -> Vec<Kin>,
    /// See [`Contract::files`].
    pub files: fn(&AnyRecord) -> Vec<String>,
    index: fn(Cursor<'_>) -> Option<Relations>,
    pub(crate) run: fn(&crate::check::Run<'_>, &mut Report) -> crate::check::Records,
    accepts: fn(Cursor<'_>) -> bool,
    print: fn(Cursor<'_>) -> Option<Value>,
}

impl ContractInfo {
    /// The row of the contract `T`.
    pub const fn of<T: Contract>() -> Self {
        Self {
            name: T::NAME,
            version: T::VERSION,
            domain: T::DOMAIN,
            summary: T::SUMMARY,
            marks: T::MARKS,
            forms: T::FORMS,
            schema: || crate::reference::schema_document::<T>(T::NAME, T::VERSION, T::SUMMARY),
            example: T::example,
            rules: || T::rules().iter().map(|rule| &rule.info).collect(),
            default_for: T::default_for,
            rungs: T::rungs,
            context_despite: T::CONTEXT_DESPITE,
            seal: T::seal,
            estimates: T::ESTIMATES,
            names: |record| record.downcast_ref::<T>().map(T::names).unwrap_or_default(),
            same: |one, other| match (one.downcast_ref::<T>(), other.downcast_ref::<T>()) {
                (Some(one), Some(other)) => one == other,
                _ => false,
            },
            kin: |record| record.downcast_ref::<T>().map(T::kin).unwrap_or_default(),
            files: |record| record.downcast_ref::<T>().map(T::files).unwrap_or_default(),
            index: |at| {
                let record = T::read(at, &mut Report::new(false))?;
                Some((record.names(), record.kin()))
            },
            run: crate::check::run::<T>,
            accepts: |at| {
                let mut report = Report::new(false);
                T::read(at, &mut report).is_some() && !report.has_errors()
            },
            print: |at| {
                let record = T::read(at, &mut Report::new(false))?;
                serde_json::to_value(&record).ok()
            },
        }
    }

    /// What the records of a document are called and belong with, if their shape can be read.
    pub fn index(&self, document: &Document<'_>) -> Option<Relations> {
        let root = document.root();
        let places: Vec<Cursor<'_>> = match document.form() {
            Form::JsonLines => root.items().collect(),
            _ => vec![root],
        };
        let mut all = Relations::default();
        for at in places {
            let (names, kin) = (self.index)(at)?;
            all.0.extend(names);
            all.1.extend(kin);
        }
        all.0.sort_unstable();
        all.0.dedup();
        Some(all)
    }

    /// Whether a value is of the contract's shape, before any rule is asked. The JSON Schema gives the same answer.
    pub fn accepts(&self, at: Cursor<'_>) -> bool {
        (self.accepts)(at)
    }

    /// Reads a document as a record and writes it back, if its shape allows. Unknown members are not part of a record.
    pub fn print(&self, at: Cursor<'_>) -> Option<Value> {
        (self.print)(at)
    }
}
