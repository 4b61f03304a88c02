//! Which documents belong together.

use crate::gather::Input;
use crate::shelf::{Choice, Loaded, Shelf};
use countersign_contract::check::detect;
use countersign_contract::{
    AnyRecord, Checker, Contract, Form, Links, Others, Outside, Request, Set, check, parse, utf8,
};
use countersign_diagnostic::Source;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Documents that were given with `--with`: context, and no decision of their own.
#[derive(Debug, Default)]
pub struct Given {
    set: Set,
    broken: Vec<String>,
    /// Those that could not be read at all, each with the reason.
    pub unread: Vec<String>,
}

impl Given {
    /// Reads and checks the documents. One that cannot be used refuses everything that is checked with it; one that is
    /// itself among the `inputs` is the same to both.
    pub fn read(paths: &[PathBuf], inputs: &[Input], checker: &Checker<'_>, outside: &Outside) -> Self {
        let mut given = Self::default();
        for path in paths {
            let name = path.display().to_string();
            if name == "-" {
                let why = "standard input cannot be given with --with; write it to a file and name that";
                given.broken.push(why.to_owned());
                given.unread.push(why.to_owned());
                continue;
            }
            let input = inputs.iter().find(|it| it.lies_at(path)).cloned().unwrap_or_else(|| Input::file(path));
            let bytes = match input.read(checker.settings.size_max) {
                Ok(bytes) => bytes,
                Err(why) => {
                    given.broken.push(format!("{name}: {}", why.why(checker.settings.size_max)));
                    given.unread.push(format!(
                        "`{name}`, given with --with, cannot be read: {}",
                        why.why(checker.settings.size_max)
                    ));
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
            given.add(&name, text, checker, outside);
        }
        given
    }

    /// The text of an earlier copy. Without it nothing passes, as with any other document that was given and cannot be used.
    pub fn older(&mut self, path: &Path, size_max: usize) -> Option<String> {
        let read = Input::named(path, None).text(size_max);
        let why = read.as_ref().err().map(|why| format!("the earlier copy cannot be used: {why}"));
        self.broken.extend(why.clone());
        self.unread.extend(why);
        read.ok()
    }

    /// Checks a document and takes it in.
    pub fn add(&mut self, name: &str, text: &str, checker: &Checker<'_>, outside: &Outside) {
        let checked = check(checker, &Request::alone(Source { name, text }, outside));
        if checked.is_context() {
            self.set.add_checked(&checked);
        } else {
            let code = checked.decision.code_str();
            self.broken.push(format!("{name} is itself refused with {code}: {}", checked.decision.reason));
        }
    }
}

/// Documents that are checked in one go: each may be needed by another. Only names are kept; a document is taken
/// up again when another asks for it (see [`Shelf`] and [`Input::read`]), so that memory does not grow with what all documents say.
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
        input.path.as_ref()?;
        let bytes = input.read(checker.settings.size_max).ok()?;
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

    /// Which documents have a record of a contract under a name.
    fn numbers(&self, contract: &str, name: &str) -> Option<&[usize]> {
        self.by_name.get(contract)?.get(name).map(Vec::as_slice)
    }
}

/// Everything that one document is checked with.
#[derive(Debug)]
pub struct Company<'a> {
    given: &'a Given,
    together: &'a Together,
    inputs: &'a [Input],
    checker: &'a Checker<'a>,
    shelf: &'a Shelf,
    /// Which of `inputs` is being checked.
    number: usize,
    /// What was asked for already: all rules are given the same answer, whatever becomes of the file meanwhile.
    answers: Mutex<HashMap<(String, String), Answer>>,
}

/// The record that is meant by a name.
#[derive(Debug, Clone)]
enum Answer {
    One(AnyRecord),
    Contested,
    None,
}

impl<'a> Company<'a> {
    /// The company of document `number` of `inputs`.
    pub fn new(
        given: &'a Given,
        together: &'a Together,
        inputs: &'a [Input],
        checker: &'a Checker<'a>,
        shelf: &'a Shelf,
        number: usize,
    ) -> Self {
        Self { given, together, inputs, checker, shelf, number, answers: Mutex::default() }
    }

    /// The one record of a contract that was given with `--with`; none where there are several.
    pub fn given_only<T: Contract>(&self) -> Option<Arc<T>> {
        self.given.set.only(T::NAME).and_then(|record| record.downcast().ok())
    }

    fn ask(&self, contract: &str, name: &str) -> Answer {
        let key = (contract.to_owned(), name.to_owned());
        if let Some(answer) = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return answer.clone();
        }
        let answer = self.look(contract, name);
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer.clone());
        answer
    }

    fn look(&self, contract: &str, name: &str) -> Answer {
        let Some(numbers) = self.together.numbers(contract, name) else { return Answer::None };
        // No document is its own company.
        if numbers.contains(&self.number) {
            return self.look_beside(numbers, contract, name);
        }
        let folder = |number: usize| self.inputs.get(number).and_then(|it| it.path.as_ref()?.parent());
        let here = folder(self.number);
        // Of several with the same ids, those in the same folder are meant. That others differ is said beside.
        let near: Vec<usize> = numbers.iter().copied().filter(|number| folder(*number) == here).collect();
        let meant = if near.is_empty() { numbers } else { &near[..] };
        let key = (contract, name, here.filter(|_| !near.is_empty()));
        let chosen = self.shelf.choice(key, || self.choose(meant, name));
        match chosen {
            Choice::One(number) => self.record(number, name).map_or(Answer::None, Answer::One),
            Choice::Contested => Answer::Contested,
            Choice::None => Answer::None,
        }
    }

    /// Whether documents differ about another one than that which is being checked, in whatever folders they lie. One that was
    /// put nearer must not win by that alone.
    fn contested_anywhere(&self, contract: &str, name: &str) -> bool {
        let numbers = self.together.numbers(contract, name).filter(|numbers| !numbers.contains(&self.number));
        numbers.is_some_and(|numbers| {
            let choice = self.shelf.choice((contract, name, None), || self.choose(numbers, name));
            matches!(choice, Choice::Contested)
        })
    }

    /// What else goes by a name of the document that is being checked. Documents in other folders are other scenes, and
    /// may repeat its ids, unless they were named on the command line as it was.
    fn look_beside(&self, numbers: &[usize], contract: &str, name: &str) -> Answer {
        let folder = |number: usize| self.inputs.get(number).and_then(|it| it.path.as_ref()?.parent());
        let is_named = |number: usize| self.inputs.get(number).is_some_and(|it| !it.found);
        let here = folder(self.number);
        let beside = |number: &usize| folder(*number) == here || (is_named(*number) && is_named(self.number));
        let meant: Vec<usize> = numbers.iter().copied().filter(beside).collect();
        let mut others = meant.iter().copied().filter(|number| *number != self.number);
        match (others.next(), others.next()) {
            (None, _) => Answer::None,
            (Some(other), None) => self.record(other, name).map_or(Answer::None, Answer::One),
            // If all say the same, this one does too; if not, one of them says something else than this one.
            _ => {
                let key = (contract, name, here.filter(|_| meant.len() < numbers.len()));
                match self.shelf.choice(key, || self.choose(&meant, name)) {
                    Choice::One(number) => self.record(number, name).map_or(Answer::None, Answer::One),
                    Choice::Contested => Answer::Contested,
                    Choice::None => Answer::None,
                }
            }
        }
    }

    /// Which of several documents is meant by a name: the first that passes, unless another that passes says something
    /// else under the same name. Those that are refused do not count; their own decision speaks of them.
    fn choose(&self, numbers: &[usize], name: &str) -> Choice {
        let mut chosen: Option<(usize, Arc<Loaded>, AnyRecord)> = None;
        for number in numbers.iter().copied() {
            let Some(loaded) = self.load(number) else { continue };
            let Some(record) = loaded.record(name) else { continue };
            match &chosen {
                None => chosen = Some((number, loaded, record)),
                Some((_, first, one)) if (first.contract.same)(one, &record) => {}
                Some(_) => return Choice::Contested,
            }
        }
        chosen.map_or(Choice::None, |(number, ..)| Choice::One(number))
    }

    fn record(&self, number: usize, name: &str) -> Option<AnyRecord> {
        self.load(number)?.record(name)
    }

    /// A document as others may use it; none if it is refused or cannot be read.
    fn load(&self, number: usize) -> Option<Arc<Loaded>> {
        self.shelf.get(number, || {
            let input = self.inputs.get(number)?;
            input.path.as_ref()?;
            let bytes = input.read(self.checker.settings.size_max).ok()?;
            let text = utf8(&bytes).ok()?;
            let outside = Outside::default();
            let checked = check(self.checker, &Request::alone(Source { name: &input.name, text }, &outside));
            let contract = checked.contract.filter(|_| checked.is_context())?;
            Some(Loaded { contract, records: checked.records, bytes: bytes.len() })
        })
    }
}

impl Others for Company<'_> {
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord> {
        if self.given.set.given(contract) {
            return self.given.set.find(contract, name);
        }
        match self.ask(contract, name) {
            Answer::One(record) => Some(record),
            Answer::Contested | Answer::None => None,
        }
    }

    fn is_empty(&self) -> bool {
        self.given.set.is_empty() && self.given.broken.is_empty() && self.together.by_name.is_empty()
    }

    fn given(&self, contract: &str) -> bool {
        self.given.set.given(contract)
    }

    fn all_given(&self, contract: &str) -> Vec<AnyRecord> {
        self.given.set.all_given(contract)
    }

    fn contracts(&self) -> Vec<&'static str> {
        self.given.set.contracts()
    }

    fn contested(&self, contract: &str, name: &str) -> bool {
        if self.given.set.given(contract) {
            return self.given.set.contested(contract, name);
        }
        matches!(self.ask(contract, name), Answer::Contested) || self.contested_anywhere(contract, name)
    }

    fn unreadable(&self) -> &[String] {
        &self.given.broken
    }

    /// A record that is checked in the same go, and on no circle, is a circle of its own: whoever asks need not look for
    /// a way through the other documents, each of which would be read for it.
    fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>> {
        if self.given.set.given(contract) {
            return self.given.set.circle(contract, name);
        }
        let circle = self.together.links.circle(contract, name);
        circle.or_else(|| self.together.numbers(contract, name).map(|_| vec![name.to_owned()]))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use countersign_contract::Settings;
    use serde_json::json;

    /// A chain of assignments, each needing the one before, and what is asked about the last while files go away.
    #[test]
    fn questions_are_answered_once_and_circles_without_reading_anything() {
        let folder = tempfile::tempdir().unwrap();
        let contract = countersign_domain::contract("assignment").unwrap();
        let mut inputs = Vec::new();
        let mut run = String::new();
        for number in 1..=20 {
            let mut document = (contract.example)();
            run = document["run_id"].as_str().unwrap().to_owned();
            let needs: Vec<String> = (number > 1).then(|| format!("T-{}", number - 1)).into_iter().collect();
            document["task"]["task_id"] = json!(format!("T-{number}"));
            document["task"]["dependencies"] = json!(needs);
            let path = folder.path().join(format!("{number}.json"));
            std::fs::write(&path, document.to_string()).unwrap();
            inputs.push(Input::named(&path, None));
        }
        let settings = Settings::default();
        let contracts = countersign_domain::contracts();
        let checker = Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
        let entries: Vec<Option<Entry>> = inputs.iter().map(|input| Entry::of(input, &checker)).collect();
        let (given, together, shelf) = (Given::default(), Together::of(entries), Shelf::default());
        let company = Company::new(&given, &together, &inputs, &checker, &shelf, 19);
        let name = |number: usize| format!("{run}/T-{number}");
        let record = company.find("assignment", &name(19)).unwrap();
        for input in &inputs {
            std::fs::remove_file(input.path.as_ref().unwrap()).unwrap();
        }
        // Asked again, it is the very same, whatever became of the file.
        assert!(Arc::ptr_eq(&record, &company.find("assignment", &name(19)).unwrap()));
        // One that was read for its name alone is not read again.
        assert!(company.find("assignment", &name(5)).is_some());
        // No file is needed to know that nobody is on a circle.
        assert_eq!(company.circle("assignment", &name(20)), Some(vec![name(20)]));
        assert_eq!(company.circle("assignment", &name(99)), None);
        assert!(!company.contested("assignment", &name(19)));
    }
}
