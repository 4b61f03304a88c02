//! Starting a run with a plan.

use super::event::PLAN_ADOPTED;
use super::parts;
use super::payload::{Plan, PlannedTask};
use super::state::plan_key;
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::project::project_key;
use crate::validation::command::{Gated, make};
use crate::work::command::exists;
use crate::work::event::RUN_OPENED;
use crate::work::row::{GATES, run_key};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{
    Checked, Contract, Form, Int, Json, List, Request, Untrusted, canonical, check, sha256_hex, shape,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

shape! {
    /// Start a run with a plan: its tasks, and the gates through which each of them is done.
    pub closed struct StartRun {
        /// Its id, a UUID of version 4; drawn, if it is not given.
        pub run_id: Option<RunId>,
        /// The plan: an object, or a text in JSON or YAML.
        pub plan: Json = <Plan as countersign_contract::Shape>::example(),
    }
}

shape! {
    /// The run that was started.
    pub struct StartAnswer {
        /// The run.
        pub run_id: String,
        /// Its tasks.
        pub task_ids: List<String>,
        /// The last event.
        pub seq: Option<Int>,
    }
}

impl StartRun {
    fn text(&self) -> (Form, String) {
        match self.plan.to_value() {
            Value::String(text) => (Form::of_text(&text), text),
            value => (Form::Json, value.to_string()),
        }
    }

    fn checked(&self, observer: &dyn Observer) -> Checked {
        let (form, text) = self.text();
        let outside = observer.outside();
        let source = Source { name: "the plan", text: &text };
        let request = Request { form: Some(form), contract: Some(Plan::NAME), ..Request::alone(source, &outside) };
        check(&observer.checker(), &request)
    }

    /// The plan as it was read. It passed when it was observed.
    fn plan(&self, facts: &Value) -> Option<Plan> {
        read(facts["plan"].as_str()?)
    }

    fn run<'a>(&'a self, moment: &'a Moment) -> &'a str {
        self.run_id.as_ref().map_or(moment.new_id.as_str(), |run| run.as_str())
    }
}

/// A plan from its text, if it is one.
pub fn read(text: &str) -> Option<Plan> {
    parts::read("the plan", text).ok()
}

impl Command for StartRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.start",
        summary: "Start a run with a plan: its tasks, and the gates through which each is done",
        may: &[Role::Orchestrator],
        invalidates: &[
            "run.list",
            "run.show",
            "run.plan",
            "task.list",
            "task.show",
            "task.assignment",
            "task.graph",
            "task.next",
            "gate.status",
            "delegation.task",
            "bundle.make",
            "reconcile",
            "lock.may",
            "lock.strays",
            "worklog.show",
            "effect.list",
            "inbox.list",
        ],
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = StartAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let checked = self.checked(observer);
        let decision = checked.decision;
        if let Some(code) = decision.code {
            let help = "mend what the findings name; `countersign check` shows them in the file";
            let refusal = Refusal::new(code, format!("the plan: {}", decision.reason), help);
            return Err(Refusal { findings: decision.details.diagnostics, ..refusal });
        }
        let Some(plan) = checked.records.first().and_then(|record| record.downcast_ref::<Plan>()) else {
            let reason = "the plan cannot be read back";
            return Err(Refusal::new(Code::SchemaInvalid, reason, "run `countersign check` on it"));
        };
        super::delegating::must_be_written(plan)?;
        plan.tasks.iter().try_for_each(|task| parts::spec(task)?.check(observer).map(drop))?;
        let text = canonical(&serde_json::to_value(plan).unwrap_or_default());
        Ok(Observed { facts: json!({ "plan": text }), findings: decision.details.diagnostics, ..Observed::default() })
    }

    fn needs(&self, _: &Seen, moment: &Moment) -> Vec<Need> {
        let mut needs = vec![Need::Entity(project_key())];
        if !self.run(moment).is_empty() {
            let run = self.run(moment);
            needs.extend([Need::Entity(run_key(run)), Need::Entity(plan_key(run))]);
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            let reason = "the project has not been initialised";
            return Err(Refusal::new(Code::DependencyNotMet, reason, "run `countersign init`"));
        }
        let run = self.run(desk.moment()).to_owned();
        if self.run_id.as_ref().is_some_and(|run| !run.is_v4()) {
            let reason = format!("`{run}` is no UUID of version 4");
            return Err(Refusal::new(Code::SchemaInvalid, reason, "leave it out, and one is drawn"));
        }
        if desk.entity(&run_key(&run)).is_some() {
            let reason = format!("there is a run {run} already");
            return Err(Refusal::new(Code::InvalidTransition, reason, "go on with it: `countersign run --resume`"));
        }
        let Some(plan) = self.plan(&observed.facts) else {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                "the plan cannot be read back",
                "run `countersign check` on it",
            ));
        };
        adopt(desk, &run, &plan, observed.facts["plan"].as_str().unwrap_or_default())
    }

    fn answer(&self, stored: &Answered<'_>) -> StartAnswer {
        let text = |name: &str| stored.events.first().and_then(|it| Some(it.facts[name].as_str()?.to_owned()));
        let added = stored.events.iter().filter(|event| event.kind == crate::work::event::TASK_ADDED);
        let tasks: Vec<String> = added.filter_map(|event| Some(event.facts["task"].as_str()?.to_owned())).collect();
        StartAnswer {
            run_id: text("run").unwrap_or_default(),
            task_ids: tasks.into(),
            seq: stored.events.last().map(|event| event.seq.into()),
        }
    }
}

fn adopt(desk: &mut Desk, run: &str, plan: &Plan, text: &str) -> Result<(), Refusal> {
    let constraints = plan.constraints.as_ref().map(|it| it.to_vec()).unwrap_or_default();
    let mut facts = json!({ "constraints": constraints, "objective": plan.objective, "policy": GATES, "run": run });
    if let Some(matter) = &plan.matter {
        facts["matter"] = json!(matter);
    }
    if desk.moment().person {
        facts["person"] = json!(true);
    }
    desk.record(Happening::of_run(RUN_OPENED, run, facts));
    let facts = json!({ "run": run, "sha256": sha256_hex(text.as_bytes()), "tasks": plan.tasks.len() });
    desk.record(Happening::of_run(PLAN_ADOPTED, run, facts).with_texts(vec![Untrusted::new(text.to_owned())]));
    // What others wait for comes first, so that each finds what it depends on.
    let mut left: Vec<&PlannedTask> = plan.tasks.iter().collect();
    while !left.is_empty() {
        let ids: BTreeSet<&str> = left.iter().map(|task| task.id.as_str()).collect();
        let waits = |task: &PlannedTask| plan.needs(task).iter().any(|dependency| ids.contains(dependency.as_str()));
        let (later, now): (Vec<&PlannedTask>, Vec<&PlannedTask>) = left.iter().partition(|task| waits(task));
        if now.is_empty() {
            let reason = "some tasks of the plan wait for each other";
            return Err(Refusal::new(Code::DependencyNotMet, reason, "leave one of the dependencies out"));
        }
        for task in now {
            add(desk, run, plan, task)?;
        }
        left = later;
    }
    Ok(())
}

fn add(desk: &mut Desk, run: &str, plan: &Plan, task: &PlannedTask) -> Result<(), Refusal> {
    if let Some(written) = task.instructed() {
        return super::delegating::add(desk, run, plan, task, written);
    }
    let mut definition = parts::spec(task)?.definition();
    definition.spec.dependencies = plan.needs(task).iter().map(|id| id.as_str().to_owned()).collect();
    definition.spec.retries = task.retries.map(|retries| u32::try_from(retries.get()).unwrap_or(u32::MAX));
    let agent = task.agent.as_str();
    definition.spec.peer = plan.agents.iter().any(|(name, it)| name == agent && it.peer == Some(true));
    definition.spec.agent = Some(agent.to_owned());
    exists(desk, run, task.id.as_str(), definition, true)?;
    let (questions, texts) = parts::questions(task);
    let part = parts::gated(plan, task);
    let promise = format!("{run}/{}", task.id);
    let digest = sha256_hex(promise.as_bytes());
    let gated = Gated {
        id: format!("promise-{}", digest.get(..8).unwrap_or_default()),
        promise,
        of_task: Some((run.to_owned(), task.id.as_str().to_owned())),
        title: task.title.as_str().to_owned(),
        asks: part.asks,
        checks: Vec::new(),
        questions,
        validators: part.validators,
        peers: part.peers,
        judge: part.judge,
        judge_optional: part.judge_optional,
    };
    make(desk, &gated, texts);
    Ok(())
}
