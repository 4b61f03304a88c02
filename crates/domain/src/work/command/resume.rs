//! Going on with a run from a bundle.

use super::task_spec::refused;
use super::{RunAnswer, TASK_VIEWS, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, View,
    Writes,
};
use crate::ids::RunId;
use crate::work::event::RUN_RESUMED;
use crate::work::payload::HandoffBundle;
use crate::work::picking;
use crate::work::view::{MakeBundle, untrue};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Contract, Form, Json, Request, check, shape};
use serde_json::{Value, json};

shape! {
    /// Go on with a run as its orchestrator, from the bundle that was handed over.
    pub closed struct Resume {
        /// The bundle: an object, or a text in JSON or YAML.
        pub bundle: Json = HandoffBundle::example(),
    }
}

impl Resume {
    fn text(&self) -> (Form, String) {
        match self.bundle.to_value() {
            Value::String(text) => (Form::of_text(&text), text),
            value => (Form::Json, value.to_string()),
        }
    }

    fn value(&self) -> Value {
        let (form, text) = self.text();
        let document = countersign_contract::parse(&text, form, countersign_contract::SIZE_MAX);
        document.map_or(Value::Null, |document| document.root().to_value())
    }

    fn run(&self) -> Option<RunId> {
        RunId::parse(self.value()["run_id"].as_str()?)
    }
}

impl Command for Resume {
    const INFO: CommandInfo = CommandInfo {
        id: "bundle.resume",
        summary: "Go on with a run as its orchestrator, from a bundle",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let (form, text) = self.text();
        let outside = observer.outside();
        let source = Source { name: "the bundle", text: &text };
        let request =
            Request { form: Some(form), contract: Some(HandoffBundle::NAME), ..Request::alone(source, &outside) };
        let checked = check(&observer.checker(), &request);
        if let Some(code) = checked.decision.code {
            let details = checked.decision.details;
            return Err(refused(code, "the bundle", &checked.decision.reason, details.diagnostics));
        }
        let bundle = checked.records.first().and_then(|record| record.downcast_ref::<HandoffBundle>());
        let base = bundle.and_then(|bundle| bundle.base_version.map(|version| version.get()));
        let facts = json!({ "base": base });
        Ok(Observed { facts, findings: checked.decision.details.diagnostics, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let Some(run) = self.run() else { return Vec::new() };
        let mut needs = MakeBundle { run_id: Some(run), max_tokens: None }.needs(seen, moment);
        // What is decided is decided by facts.
        needs.retain(|need| !matches!(need, Need::Texts(_)));
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let Some(run_id) = self.run() else {
            let reason = "the bundle names no run";
            return Err(Refusal::new(Code::MissingRequiredInput, reason, "give `run_id` in it"));
        };
        let run = picking::open_run(Some(&run_id), desk.seen())?;
        let base = observed.facts["base"].as_u64();
        let version = desk.entity(&crate::work::row::run_key(&run.run)).map_or(0, |found| found.seq);
        let anew = "make it anew with `countersign bundle make`";
        let conflict = |reason: String| Err(Refusal::new(Code::ConcurrencyConflict, reason, anew).of_run(&run.run));
        if let Some(base) = base.filter(|base| *base > desk.moment().head) {
            return conflict(format!("the bundle is of version {base}, which this ledger has not come to"));
        }
        if let Some(base) = base.filter(|base| *base < version) {
            return conflict(format!(
                "the bundle was made from version {base} of the ledger, and run {} has changed since, with event {version}",
                run.run
            ));
        }
        if let Some(field) = untrue(&self.value(), &run, desk.seen()) {
            return conflict(format!("the bundle's `{field}` is not what run {} has", run.run));
        }
        let facts = json!({ "base": base, "run": run.run });
        desk.record(Happening::of_run(RUN_RESUMED, &run.run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.first();
        RunAnswer {
            run_id: text_of(event, "run"),
            status: event.map(|_| "open".to_owned()),
            seq: event.map(|event| event.seq.into()),
        }
    }
}
