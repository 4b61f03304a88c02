//! What can be asked of a project.

use super::event::{PROJECT_INITIALISED, RECORD_KEPT, TEXT_ERASED};
use super::state::project_key;
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{
    Checked, Cursor, Form, Int, Report, Request, Schemas, Shape, Text, Untrusted, check, scan, shape,
};
use serde_json::{Value, json};

shape! {
    /// Begin a project's ledger.
    pub closed struct Init {
        /// What people call it.
        pub name: Text<1, 200> = "billing",
    }
}

shape! {
    /// What was recorded of a project.
    pub struct ProjectAnswer {
        /// The event; none, if everything was so already.
        pub seq: Option<Int>,
        /// The project's id.
        pub project: Option<String>,
    }
}

impl Command for Init {
    const INFO: CommandInfo = CommandInfo {
        id: "project.init",
        summary: "Begin a project's ledger",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: &[],
        refuses: &[],
        writes: Writes::Events,
    };
    type Answer = ProjectAnswer;

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        vec![Need::Entity(project_key())]
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            let facts = json!({ "name": self.name, "project": desk.moment().project });
            desk.record(Happening::new(PROJECT_INITIALISED, facts));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ProjectAnswer {
        let event = stored.events.first();
        ProjectAnswer {
            seq: event.map(|event| event.seq.into()),
            project: event.and_then(|event| Some(event.facts["project"].as_str()?.to_owned())),
        }
    }
}

/// The text of a whole payload, which nobody vouches for. It is checked as a document of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload(pub Untrusted<String>);

shape! {
    /// Keep a payload as evidence, if it may pass.
    pub closed struct Keep {
        /// The name of the file it came from.
        pub file: Text<1, 1000> = "result.json",
        /// The contract to check it against; told from its keys, if it is not named.
        pub contract: Option<String>,
        /// The payload as it was written.
        pub body: Payload = "{}",
    }
}

shape! {
    /// What was kept.
    pub struct RecordAnswer {
        /// The event.
        pub seq: Int,
        /// The record's id.
        pub record: String,
        /// The contract that it was checked against.
        pub contract: String,
    }
}

impl std::ops::Deref for Payload {
    type Target = Untrusted<String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl serde::Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl Shape for Payload {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        report.mark_embedded(at);
        String::read(at, report).map(|text| Self(Untrusted::new(text)))
    }

    fn schema(schemas: &mut Schemas) -> Value {
        Untrusted::<String>::schema(schemas)
    }

    fn example() -> Value {
        String::example()
    }
}

impl Keep {
    fn checked(&self, observer: &dyn Observer) -> Checked {
        let (outside, checker) = (observer.outside(), observer.checker());
        self.body.inspect(|text| {
            let source = Source { name: self.file.as_str(), text };
            let request = Request { contract: self.contract.as_deref(), ..Request::alone(source, &outside) };
            let first = check(&checker, &request);
            match observer.look_for_files(&first, self.file.as_str()) {
                Some(outside) => check(&checker, &Request { outside: &outside, ..request }),
                None => first,
            }
        })
    }

    fn form(&self) -> &'static str {
        let form = Form::of_name(self.file.as_str()).unwrap_or_else(|| self.body.inspect(Form::of_text));
        match form {
            Form::Json => "json",
            Form::JsonLines => "jsonl",
            Form::Yaml => "yaml",
            Form::Markdown => "markdown",
        }
    }
}

impl Command for Keep {
    const INFO: CommandInfo = CommandInfo {
        id: "record.keep",
        summary: "Keep a payload as evidence, if it may pass",
        may: &[Role::Agent, Role::Orchestrator, Role::Reviewer],
        invalidates: &[],
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = RecordAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let decision = self.checked(observer).decision;
        let (reason, details) = (decision.reason, decision.details);
        if let Some(code) = decision.code {
            let reason = format!("`{}`: {reason}", countersign_contract::show(self.file.as_str()));
            let refusal = Refusal::new(code, reason, "`countersign check` shows everything that is wrong");
            return Err(Refusal { findings: details.diagnostics, ..refusal });
        }
        let facts = json!({ "contract": details.contract, "version": details.version });
        Ok(Observed { facts, findings: details.diagnostics, ..Observed::default() })
    }

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        vec![Need::Entity(project_key())]
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        let file = scan::redact(self.file.as_str()).unwrap_or_else(|| self.file.as_str().to_owned());
        let mut facts = json!({
            "contract": observed.facts["contract"],
            "file": file,
            "form": self.form(),
            "record": desk.moment().new_id,
            "size": self.body.inspect(str::len),
            "warnings": observed.findings.len(),
        });
        if observed.facts["version"].is_string() {
            facts["version"] = observed.facts["version"].clone();
        }
        let texts = vec![self.body.0.clone(), Untrusted::new(self.body.hash())];
        desk.record(Happening::new(RECORD_KEPT, facts).with_texts(texts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RecordAnswer {
        let event = stored.events.first();
        let text = |name: &str| event.and_then(|it| it.facts[name].as_str()).unwrap_or_default().to_owned();
        let seq = event.map_or(0, |event| event.seq).into();
        RecordAnswer { seq, record: text("record"), contract: text("contract") }
    }
}

shape! {
    /// Empty the texts of an event.
    pub closed struct Erase {
        /// The event.
        pub event: Int<1>,
        /// Why.
        pub reason: Untrusted<Text<1, 5000>> = "asked for by the person it is about",
    }
}

shape! {
    /// What was erased.
    pub struct ErasureAnswer {
        /// The event that says so.
        pub seq: Int,
        /// The event whose texts are gone.
        pub event: Int,
    }
}

impl Erase {
    fn number(&self) -> u64 {
        u64::try_from(self.event.get()).unwrap_or(0)
    }

    fn nothing(&self) -> Refusal {
        let reason = format!("event {} has no text that could be erased", self.number());
        Refusal::new(Code::InvalidTransition, reason, "`countersign show` tells which events have texts")
    }
}

impl Command for Erase {
    const INFO: CommandInfo = CommandInfo {
        id: "text.erase",
        summary: "Empty the texts of an event, for good",
        may: &[Role::Owner],
        invalidates: &[
            "task.show",
            "task.assignment",
            "worklog.show",
            "bundle.make",
            "run.plan",
            "gate.status",
            "promise.show",
            "promise.list",
            "delegation.show",
            "handoff.show",
        ],
        refuses: &[Code::InvalidTransition, Code::DependencyNotMet],
        writes: Writes::Events,
    };
    type Answer = ErasureAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let unread = |why: String| Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`");
        let Some((kind, facts)) = observer.event(self.number()).map_err(unread)? else { return Err(self.nothing()) };
        let mut seen = Seen::default();
        observer.look(&mut seen, vec![Need::Texts(self.number())]).map_err(unread)?;
        let texts: Vec<usize> =
            (0..seen.texts(self.number()).len()).filter(|n| seen.text(self.number(), *n).is_some()).collect();
        let facts = json!({ "kind": kind, "record": facts["record"], "texts": texts });
        Ok(Observed { facts, ..Observed::default() })
    }

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        vec![Need::Entity(project_key())]
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        let texts: Vec<u32> = serde_json::from_value(observed.facts["texts"].clone()).unwrap_or_default();
        if texts.is_empty() {
            return Err(self.nothing());
        }
        let mut facts = json!({ "event": self.number(), "of": observed.facts["kind"] });
        if let Some(record) = observed.facts["record"].as_str() {
            facts["record"] = json!(record);
        }
        let reason = Untrusted::new(self.reason.inspect(str::to_owned));
        let mut erased = Happening::new(TEXT_ERASED, facts).with_texts(vec![reason]);
        erased.taint = "none";
        erased.erase = texts.iter().map(|n| (self.number(), *n)).collect();
        desk.record(erased);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ErasureAnswer {
        let event = stored.events.first();
        ErasureAnswer { seq: event.map_or(0, |event| event.seq).into(), event: self.number().into() }
    }
}

pub(super) fn not_begun() -> Refusal {
    Refusal::new(Code::DependencyNotMet, "the project has not been initialised", "run `countersign init`")
}
