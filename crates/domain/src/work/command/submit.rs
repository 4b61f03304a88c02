//! Bringing a result. It is checked against the assignment and the working tree; one that passes completes the task.

use super::task_spec::refused;
use super::{TASK_VIEWS, task_answer};
use crate::deciding::{
    About, Answered, Command, CommandInfo, Desk, Happening, Hold, Moment, Need, Observed, Observer, Refusal, Role,
    Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::completing::Done;
use crate::work::event::{RESULT_SUBMITTED, TASK_COMPLETED};
use crate::work::payload::{Assignment, ResultStatus, SubagentResult};
use crate::work::places::Placed;
use crate::work::row::{RunRow, SUBMIT, TaskRow, run_at, run_key, task_at, task_key};
use crate::work::view::assignment;
use crate::work::{attempt, changed, completing, picking};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{
    Alone, Checked, Contract, Form, Int, Json, List, Others, Outside, Request, Set, Untrusted, check, shape, show,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many results that came too late are kept of a task.
const LATE_MAX: usize = 16;
/// How many of the changes that were not made are named.
const NAMED_MAX: usize = 5;

shape! {
    /// Bring the result of a task. It is checked against the assignment and against what was really changed.
    pub closed struct Submit {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; the result's own, if it is not named.
        pub task_id: Option<TaskId>,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// The result: an object, or a text in JSON, YAML or Markdown.
        pub result: Json = SubagentResult::example_value(),
    }
}

impl SubagentResult {
    fn example_value() -> Value {
        <Self as countersign_contract::Shape>::example()
    }
}

shape! {
    /// What became of a result.
    pub struct SubmitAnswer {
        /// The run.
        pub run_id: Option<String>,
        /// The task.
        pub task_id: Option<String>,
        /// Its state.
        pub status: Option<String>,
        /// How sure it is that it is done: `claimed` is the worker's word.
        pub assurance: Option<String>,
        /// Why it stands so.
        pub reason: Option<String>,
        /// The event that holds the result.
        pub result: Option<Int>,
        /// How many findings there were that are no errors.
        pub warnings: Option<Int>,
        /// Tasks that waited for this one and can be begun now, or wait for others.
        pub frees: List<String>,
        /// The last event.
        pub seq: Option<Int>,
    }
}

impl Submit {
    /// The result as it was written, and how.
    fn text(&self) -> (Form, Cow<'_, str>) {
        match self.result.as_text() {
            Some(text) => (Form::of_text(&text), text.into()),
            None => (Form::Json, self.result.written().into()),
        }
    }

    fn lease(&self) -> Option<u64> {
        self.lease.map(|lease| lease.get().unsigned_abs())
    }

    /// Checks the result, with what was asked for if that is known.
    fn checked(&self, observer: &dyn Observer, others: &dyn Others, outside: &Outside) -> Checked {
        let (form, text) = self.text();
        let source = Source { name: "the result", text: &text };
        let request = Request {
            form: Some(form),
            contract: Some(SubagentResult::NAME),
            others,
            ..Request::alone(source, outside)
        };
        check(&observer.checker(), &request)
    }

    /// The run and the task that a result names. They are those that the request names, if it does.
    fn target(&self, checked: &Checked) -> Result<(RunId, TaskId), Refusal> {
        let record = checked.records.first().and_then(|record| record.downcast_ref::<SubagentResult>());
        let Some(record) = record else {
            let (code, decision) = (checked.decision.code.unwrap_or(Code::SchemaInvalid), &checked.decision);
            let findings = decision.details.diagnostics.clone();
            let mut refusal = refused(code, "the result", &decision.reason, findings);
            let named = self.names().map(|(run, _)| run).or_else(|| self.run_id.clone());
            refusal.run = named.map(|run| run.as_str().to_owned());
            return Err(refusal);
        };
        let differs = |what: &str, said: &str, named: &str| {
            let reason = format!("the result is of {what} {}, and {} was named", show(said), show(named));
            Refusal::new(Code::CorrelationMismatch, reason, "bring the result of the task that is meant")
        };
        if let Some(run) = self.run_id.as_ref().filter(|run| **run != record.run_id) {
            return Err(differs("run", record.run_id.as_str(), run.as_str()));
        }
        if let Some(task) = self.task_id.as_ref().filter(|task| **task != record.task_id) {
            return Err(differs("task", record.task_id.as_str(), task.as_str()));
        }
        Ok((record.run_id.clone(), record.task_id.clone()))
    }

    /// The task that is meant and its run, if there are such, with the texts of what it asks for.
    fn asked(&self, observer: &dyn Observer) -> Result<Option<Asked>, String> {
        let Some((run, task)) = self.names() else { return Ok(None) };
        let mut seen = Seen::default();
        let (run, task) = (run_key(run.as_str()), task_key(run.as_str(), task.as_str()));
        observer.look(&mut seen, vec![Need::Entity(run.clone()), Need::Entity(task.clone())])?;
        let (Some(run), Some(task)) = (run_at(seen.entity(&run)), task_at(seen.entity(&task))) else {
            return Ok(None);
        };
        observer.look(&mut seen, vec![Need::Texts(task.asked)])?;
        Ok(Some((run, task, seen)))
    }
}

/// A run, one of its tasks, and what was seen of them.
type Asked = (Arc<RunRow>, Arc<TaskRow>, Seen);

impl Command for Submit {
    const INFO: CommandInfo = CommandInfo {
        id: SUBMIT,
        summary: "Bring the result of a task",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = SubmitAnswer;

    fn about(&self) -> Option<About> {
        let (run, task) = self.names()?;
        Some(About { run: Some(run.as_str().to_owned()), task: task.as_str().to_owned() })
    }

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let unread = |why: String| Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`");
        let alone = |outside: &Outside| self.checked(observer, &Alone, outside);
        let Some((run, task, seen)) = self.asked(observer).map_err(unread)? else {
            // Whether there is such a task is for the decision to say.
            let alone = alone(&observer.outside());
            let (run_id, task_id) = self.target(&alone)?;
            return Ok(Observed { facts: summary(&alone, 0, &run_id, &task_id), ..Observed::default() });
        };
        let packet = assignment(&run, &task, &seen, &json!([])).to_string();
        let outside = Outside { changed: changed::since_claim(observer, &task).map_err(unread)?, ..observer.outside() };
        let source = Source { name: "the assignment", text: &packet };
        let request = Request { contract: Some(Assignment::NAME), ..Request::alone(source, &outside) };
        let mut others = Set::default();
        others.add_checked(&check(&observer.checker(), &request));
        let checked = self.checked(observer, &others, &outside);
        // What cannot be read is not compared with anything, and what is said of it does not depend on what was asked for.
        let (run_id, task_id) = match checked.records.is_empty() {
            true => self.target(&alone(&outside))?,
            false => self.target(&checked)?,
        };
        let mut facts = summary(&checked, task.asked, &run_id, &task_id);
        // What is claimed is known by the commit from here on, whatever else is called so later.
        if task.gated
            && let Some(commit) = observer.tree(None).and_then(|tree| tree.commit)
        {
            facts["commit"] = json!(commit);
        }
        let claims = task.gated && facts["status"] == ResultStatus::Done.as_str() && facts["changes"] != json!([]);
        let is_untouched = || changed::is_untouched(observer, &task);
        facts["contradicted"] =
            json!(claims && outside.changed.as_ref().is_some_and(BTreeSet::is_empty) && is_untouched());
        let findings = checked.decision.details.diagnostics;
        // Who brings it is looked at first: a result that comes too late is kept, whatever else is wrong with it.
        let refusal = checked.decision.code.map(|code| {
            let findings = findings.clone();
            Box::new(refused(code, "the result", &checked.decision.reason, findings).of_run(run_id.as_str()))
        });
        Ok(Observed { facts, findings, refusal, tree: None })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        // What the result names was read when it was observed; here it is read again, to be decided on.
        let Some((run, task)) = self.names() else { return Vec::new() };
        let mut needs = picking::task_needs(Some(&run), &task, seen);
        needs.push(completing::needs(run.as_str(), task.as_str()));
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let Some((run_id, task_id)) = self.names() else {
            let reason = "the result names no task";
            return Err(Refusal::new(Code::MissingRequiredInput, reason, "give `run_id` and `task_id` in it"));
        };
        let run = picking::run_at(Some(&run_id), desk.seen())?;
        let task = picking::task_at(&run, &task_id, desk.seen())?;
        let facts = &observed.facts;
        let hold = match picking::own_lease(&task, self.lease(), desk).and_then(|hold| {
            picking::open_run_at(Some(&run_id), desk.seen())?;
            Ok(hold)
        }) {
            Ok(hold) => hold,
            Err(refusal) => return Err(self.late(desk, &run, &task, facts, refusal)),
        };
        if let Some(refusal) = &observed.refusal {
            return Err((**refusal).clone());
        }
        // Not one file of it was forgotten: the claim itself is untrue.
        if facts["contradicted"] == true {
            let listed = facts["changes"].as_array().into_iter().flatten().filter_map(Value::as_str).take(NAMED_MAX);
            let listed = listed.map(show).collect::<Vec<_>>().join(", ");
            let task = &task.task;
            let reason = format!("the result of {task} lists changes ({listed}), and nothing at all was changed");
            let help = "make the changes, or list none; what git ignores does not count";
            return Err(Refusal::new(Code::IntegrityMismatch, reason, help).of_run(&run.run));
        }
        if facts["asked"].as_u64() != Some(task.asked) {
            let reason = format!("{} was asked for anew while its result was checked", task.task);
            return Err(Refusal::new(Code::ConcurrencyConflict, reason, "read the assignment again").of_run(&run.run));
        }
        if let Some(before) = task.result {
            let reason =
                format!("{} has brought a result already, in event {before}, and its gates look at it", task.task);
            let help = "wait for what they say; a result cannot be taken back";
            return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
        }
        desk.write_under(task.lease_name(), hold.number);
        let frees = completing::frees(desk, &task);
        let result = desk.record(self.submitted(&run, &task, hold.number, facts, false));
        conclude(desk, &task, &hold, facts, (result, frees))
    }

    fn answer(&self, stored: &Answered<'_>) -> SubmitAnswer {
        let task = task_answer(stored);
        let result = stored.events.iter().find(|event| event.kind == RESULT_SUBMITTED);
        let done = stored.events.iter().find(|event| event.kind == TASK_COMPLETED);
        let frees = done.and_then(|event| event.facts["frees"].as_array()).into_iter().flatten();
        let frees: Vec<String> = frees.filter_map(Value::as_str).map(str::to_owned).collect();
        SubmitAnswer {
            run_id: task.run_id,
            task_id: task.task_id,
            status: task.status,
            assurance: task.assurance,
            reason: task.reason,
            result: result.map(|event| event.seq.into()),
            warnings: result.and_then(|event| event.facts["warnings"].as_u64()).map(Int::from),
            frees: frees.into(),
            seq: task.seq,
        }
    }
}

/// What is known of a result that was checked against what was asked for in an event.
fn summary(checked: &Checked, asked: u64, run: &RunId, task: &TaskId) -> Value {
    let record = checked.records.first().and_then(|record| record.downcast_ref::<SubagentResult>());
    let Some(record) = record else { return json!({}) };
    let changes: Vec<&str> = record.changes.iter().map(|change| change.resource.place()).collect();
    // Work that stopped says why in its first note, with a code before it.
    let note = record.notes_for_orchestrator.first().map(|note| note.inspect(show));
    let note = note.as_deref().unwrap_or_default();
    let (first, rest) = note.split_once(':').unwrap_or((note, ""));
    let coded = Code::parse(first.trim());
    // The code is kept beside it, and not said twice.
    let note = Some(if coded.is_some() { rest.trim() } else { note }).filter(|note| !note.is_empty());
    json!({
        "asked": asked, "changes": changes, "code": coded.map(Code::as_str), "note": note, "run": run, "status": record.status,
        "task": task, "warnings": checked.decision.details.diagnostics.len(),
    })
}

impl Submit {
    /// The run and the task that the result names.
    fn names(&self) -> Option<(RunId, TaskId)> {
        if let (Some(run), Some(task)) = (&self.run_id, &self.task_id) {
            return Some((run.clone(), task.clone()));
        }
        let (form, text) = self.text();
        let document = countersign_contract::parse(&text, form, countersign_contract::SIZE_MAX).ok()?;
        let named = |key: &str| document.root().get(key).and_then(|at| at.text().map(str::to_owned));
        Some((RunId::parse(&named("run_id")?)?, TaskId::parse(&named("task_id")?)?))
    }

    fn submitted(&self, run: &RunRow, task: &TaskRow, lease: u64, facts: &Value, late: bool) -> Happening {
        let commit = facts["commit"].clone();
        let facts = json!({
            "changes": facts["changes"], "late": late, "lease": lease, "run": run.run, "status": facts["status"],
            "task": task.task, "warnings": facts["warnings"],
        });
        let mut facts = attempt::of_task(facts, task);
        if task.gated && !commit.is_null() {
            facts["commit"] = commit;
        }
        let document = Untrusted::new(self.text().1.into_owned());
        Happening::of_run(RESULT_SUBMITTED, &run.run, facts).with_texts(vec![document])
    }

    /// A result that comes after its lease was lost is kept as evidence, one for each lease, and completes nothing.
    fn late(&self, desk: &Desk, run: &RunRow, task: &TaskRow, facts: &Value, mut refusal: Refusal) -> Refusal {
        let actor = &desk.moment().actor;
        let lease = self.lease().unwrap_or(0);
        let is_new = !task.late.contains(&lease) && task.late.len() < LATE_MAX;
        if task.lost_by.contains(actor) && is_new && !facts["status"].is_null() {
            refusal.kept = Box::new([self.submitted(run, task, lease, facts, true)]);
            refusal.reason.push_str("; the result is kept as evidence");
        }
        refusal
    }
}

/// What follows for the task from a result that was recorded in an event.
fn conclude(
    desk: &mut Desk,
    task: &TaskRow,
    hold: &Hold,
    facts: &Value,
    (result, frees): (u64, Result<Vec<String>, Refusal>),
) -> Result<(), Refusal> {
    let status = facts["status"].as_str().and_then(ResultStatus::parse);
    let code = facts["code"].as_str().and_then(Code::parse);
    let note = facts["note"].as_str().unwrap_or("the worker gave no reason").to_owned();
    match status {
        // Whether it is done is for the gates to say.
        Some(ResultStatus::Done) if task.gated => Ok(()),
        Some(ResultStatus::Done) => {
            let done = Done { assurance: "claimed", reason: "its result passed every check", result, commit: None };
            completing::complete(desk, task, hold, &frees?, &done);
            Ok(())
        }
        Some(ResultStatus::Failed) => {
            attempt::fail(desk, task, hold, code.unwrap_or(Code::AcceptanceFailed), &note);
            Ok(())
        }
        _ => {
            let code = code.unwrap_or(Code::DependencyNotMet).as_str();
            super::block::block(desk, task, code, &note)
        }
    }
}
