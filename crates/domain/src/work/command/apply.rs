//! Applying an orchestrator's envelope: its changes in order, then its assignments; all of it or nothing.

use super::replan::keep_gates;
use super::task_spec::{of_assignment, refused};
use super::{TASK_VIEWS, add_tasks, block, cancel, fail, reassign, replan, text_of, unblock};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, NO_COMMIT, Need, Observed, Observer, Refusal, Role, Seen,
    Tree, View, Writes,
};
use crate::ids::TaskId;
use crate::work::event::{DELTA_APPLIED, ENVELOPE_APPLIED, TASK_ASSERTED};
use crate::work::payload::{Assignment, LedgerDelta, OrchestratorOutput};
use crate::work::places::Placed;
use crate::work::row::{RunRow, TaskRow, delta_key, lease_name, task_key, task_of, task_seen};
use crate::work::task_state::TaskStatus;
use crate::work::view::{Discrepancy, Reconcile};
use crate::work::{attempt, holding, picking, steering};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Checked, Contract, Form, Int, Json, Request, check, shape, show};
use serde_json::{Value, json};
use std::collections::BTreeMap;

shape! {
    /// Apply an orchestrator's envelope: all of it or nothing.
    pub closed struct Apply {
        /// The envelope: an object, or a text in JSON or YAML.
        pub envelope: Json = OrchestratorOutput::example(),
    }
}

shape! {
    /// What was applied.
    pub struct ApplyAnswer {
        /// The run.
        pub run_id: String,
        /// How many changes were applied.
        pub deltas: Int,
        /// How many had been applied before.
        pub known: Int,
        /// How many tasks were asked for.
        pub assignments: Int,
        /// The last event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

impl Apply {
    fn text(&self) -> (Form, String) {
        match self.envelope.to_value() {
            Value::String(text) => (Form::of_text(&text), text),
            value => (Form::Json, value.to_string()),
        }
    }

    /// The envelope, read without judging it: that was done when it was observed.
    fn output(&self) -> Option<OrchestratorOutput> {
        let settings = countersign_contract::Settings::default();
        let (contracts, outside) = (crate::contracts(), countersign_contract::Outside::default());
        let checker = countersign_contract::Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
        let (form, text) = self.text();
        let source = Source { name: "the envelope", text: &text };
        let contract = Some(OrchestratorOutput::NAME);
        output_of(&check(&checker, &Request { form: Some(form), contract, ..Request::alone(source, &outside) }))
    }
}

impl OrchestratorOutput {
    /// Every task that it names.
    fn named(&self) -> impl Iterator<Item = &TaskId> {
        let deltas = self.ledger_delta.iter().map(|delta| &delta.task_id);
        let assigned = self.assignments.iter().map(|it| &it.task);
        let assigned = assigned.flat_map(|task| std::iter::once(&task.task_id).chain(task.dependencies.iter()));
        let locked = self.active_locks.iter().map(|lock| &lock.task_id);
        deltas.chain(assigned).chain(locked)
    }

    /// Whether somebody is to do something by it.
    fn gives_out(&self) -> bool {
        !self.assignments.is_empty() || self.ledger_delta.iter().any(|delta| delta.status == TaskStatus::InProgress)
    }

    /// The tasks whose criteria or context it words otherwise than they were asked for, each with the event that asked. What
    /// was erased since is taken to be the same.
    fn otherwise(&self, observer: &dyn Observer) -> Result<BTreeMap<String, u64>, Refusal> {
        let unread = |why: String| Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`");
        let key = |assignment: &Assignment| task_key(self.run_id.as_str(), assignment.task.task_id.as_str());
        let mut seen = Seen::default();
        let rows = self.assignments.iter().map(|it| Need::Entity(key(it))).collect();
        observer.look(&mut seen, rows).map_err(unread)?;
        let mut otherwise = BTreeMap::new();
        for assignment in self.assignments.iter() {
            let Some(row) = task_of(seen.entity(&key(assignment))) else { continue };
            observer.look(&mut seen, vec![Need::Texts(row.asked)]).map_err(unread)?;
            let (asked, texts) =
                (seen.texts(row.asked), of_assignment(&assignment.task, &assignment.context_package).texts);
            let is_same = |(asked, text): (&Option<_>, &_)| asked.as_ref().is_none_or(|asked| asked == text);
            if asked.len() != texts.len() || !asked.iter().zip(&texts).all(is_same) {
                otherwise.insert(row.task, row.asked);
            }
        }
        Ok(otherwise)
    }

    /// The question whether everything agrees in its run.
    fn reconciliation(&self) -> Reconcile {
        Reconcile { run_id: Some(self.run_id.clone()) }
    }
}

fn output_of(checked: &Checked) -> Option<OrchestratorOutput> {
    checked.records.first()?.downcast_ref::<OrchestratorOutput>().cloned()
}

impl Command for Apply {
    const INFO: CommandInfo = CommandInfo {
        id: "envelope.apply",
        summary: "Apply an orchestrator's envelope, all of it or nothing",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = ApplyAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let (form, text) = self.text();
        let outside = observer.outside();
        let source = Source { name: "the envelope", text: &text };
        let contract = Some(OrchestratorOutput::NAME);
        let checked =
            check(&observer.checker(), &Request { form: Some(form), contract, ..Request::alone(source, &outside) });
        let run = output_of(&checked).map(|output| output.run_id.as_str().to_owned());
        if let Some(code) = checked.decision.code {
            let details = checked.decision.details;
            let refusal = refused(code, "the envelope", &checked.decision.reason, details.diagnostics);
            return Err(Refusal { run, ..refusal });
        }
        let otherwise = output_of(&checked).map(|output| output.otherwise(observer)).transpose()?;
        // What a task of another open run answers for is no obstacle. What each claim begins with is all of the tree.
        let tree = observer.tree(None);
        let output = output_of(&checked).filter(OrchestratorOutput::gives_out).zip(tree.clone());
        let unanswered = output.and_then(|(output, tree)| output.reconciliation().unanswered(tree, observer));
        // Nor is the envelope itself, where it lies in the tree to be brought.
        let commit = tree.as_ref().and_then(|tree| tree.commit.as_deref()).unwrap_or(NO_COMMIT);
        let is_work = |path: &String| !observer.is_brought(path, commit);
        let unanswered = unanswered.map(|tree| tree.changed.into_keys().filter(is_work).collect::<Vec<_>>());
        Ok(Observed {
            tree,
            facts: json!({ "otherwise": otherwise, "unanswered": unanswered }),
            findings: checked.decision.details.diagnostics,
            ..Observed::default()
        })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let Some(output) = self.output() else { return Vec::new() };
        let mut needs = picking::run_needs(Some(&output.run_id), seen);
        let run = output.run_id.as_str();
        needs.extend(output.ledger_delta.iter().map(|delta| Need::Entity(delta_key(run, delta.delta_id.as_str()))));
        for task in output.named() {
            needs.push(Need::Entity(task_key(run, task.as_str())));
            needs.push(Need::Lease(lease_name(run, task.as_str())));
            if let Some(row) = task_seen(seen, run, task.as_str()) {
                needs.extend(holding::needs(row.spec.lock_scope.iter().map(String::as_str), seen));
            }
        }
        for assignment in output.assignments.iter() {
            needs.extend(holding::needs(assignment.task.lock_scope.iter().map(Placed::place), seen));
            let dependencies = assignment.task.dependencies.iter().map(|task| task.as_str().to_owned());
            needs.extend(replan::way_needs(run, dependencies.collect(), seen));
        }
        if output.gives_out() {
            needs.extend(output.reconciliation().needs(seen, moment));
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let Some(output) = self.output() else {
            let reason = "the envelope cannot be read";
            return Err(Refusal::new(Code::SchemaInvalid, reason, "check it with `countersign check`"));
        };
        let run = picking::open_run(Some(&output.run_id), desk.seen())?;
        steering::must_steer(&run, desk)?;
        Turn { run: &run, output: &output, observed }.apply(desk).map_err(|refusal| refusal.of_run(&run.run))
    }

    fn answer(&self, stored: &Answered<'_>) -> ApplyAnswer {
        let event = stored.events.iter().find(|event| event.kind == ENVELOPE_APPLIED);
        let number = |name: &str| event.and_then(|event| event.facts[name].as_u64()).unwrap_or(0).into();
        // Where nothing was recorded, every change was known.
        let output = self.output().map(|output| (output.run_id.as_str().to_owned(), output.ledger_delta.len()));
        let (run, all) = output.unwrap_or_default();
        ApplyAnswer {
            run_id: if event.is_some() { text_of(event, "run") } else { run },
            deltas: number("deltas"),
            known: if event.is_some() { number("known") } else { (all as u64).into() },
            assignments: number("assignments"),
            seq: stored.events.last().map(|event| event.seq.into()),
        }
    }
}

/// One turn of an orchestrator, as it is applied.
struct Turn<'a> {
    run: &'a RunRow,
    output: &'a OrchestratorOutput,
    observed: &'a Observed,
}

impl Turn<'_> {
    fn apply(&self, desk: &mut Desk) -> Result<(), Refusal> {
        for task in self.output.named() {
            if let Some(task) = self.row(desk, task) {
                attempt::settle(desk, &task);
            }
        }
        let fresh = self.fresh(desk)?;
        self.base(desk, &fresh)?;
        let ids = self.output.assignments.iter().map(|it| &it.task.task_id);
        let new: Vec<&TaskId> = ids.filter(|id| self.row(desk, id).is_none()).collect();
        for delta in &fresh {
            let facts = json!({ "delta": delta.delta_id, "run": self.run.run, "says": delta });
            desk.record(Happening::of_run(DELTA_APPLIED, &self.run.run, facts));
            self.delta(desk, delta)?;
        }
        let asked = self.assign(desk, &new)?;
        let begun = self.begin(desk, &fresh)?;
        let is_known = fresh.is_empty() && asked == 0;
        // What a turn says of locks was true when it was applied for the first time.
        if !is_known || self.output.ledger_delta.is_empty() {
            self.locks(desk)?;
        }
        if asked + begun > 0 {
            self.reconcile(desk)?;
        }
        if is_known {
            return Ok(());
        }
        let known = self.output.ledger_delta.len() - fresh.len();
        let facts = json!({ "assignments": asked, "deltas": fresh.len(), "known": known, "run": self.run.run });
        desk.record(Happening::of_run(ENVELOPE_APPLIED, &self.run.run, facts));
        Ok(())
    }

    /// The changes that were not applied before, each once. The same id with other content is an error.
    fn fresh(&self, desk: &Desk) -> Result<Vec<&LedgerDelta>, Refusal> {
        let mut fresh: Vec<&LedgerDelta> = Vec::new();
        for delta in self.output.ledger_delta.iter() {
            let other = || {
                let reason = format!("change `{}` was made before with other content", show(delta.delta_id.as_str()));
                Err(Refusal::new(Code::LedgerInconsistent, reason, "give a new change an id of its own"))
            };
            let applied = desk.entity(&delta_key(&self.run.run, delta.delta_id.as_str()));
            match (applied, fresh.iter().find(|it| it.delta_id == delta.delta_id)) {
                (Some(found), _) if found.facts["says"] != json!(delta) => return other(),
                (None, Some(same)) if *same != delta => return other(),
                (Some(_), _) | (None, Some(_)) => {}
                (None, None) => fresh.push(delta),
            }
        }
        Ok(fresh)
    }

    /// Refuses an envelope that was made from rows which have changed since.
    fn base(&self, desk: &Desk, fresh: &[&LedgerDelta]) -> Result<(), Refusal> {
        let Some(base) = self.output.base_version.map(|version| version.get().unsigned_abs()) else { return Ok(()) };
        let assigned = self.output.assignments.iter().map(|it| &it.task.task_id);
        for task in fresh.iter().map(|delta| &delta.task_id).chain(assigned) {
            let changed = desk.seen().so_far(&task_key(&self.run.run, task.as_str())).filter(|found| found.seq > base);
            if let Some(found) = changed {
                let reason = format!(
                    "the envelope was made from version {base}, and {task} has changed since, with event {}",
                    found.seq
                );
                let help = "read the ledger again (`countersign bundle make`) and make the envelope anew";
                return Err(Refusal::new(Code::ConcurrencyConflict, reason, help));
            }
        }
        Ok(())
    }

    fn assignment(&self, task: &TaskId) -> Option<&Assignment> {
        self.output.assignments.iter().find(|it| it.task.task_id == *task)
    }

    fn row(&self, desk: &Desk, task: &TaskId) -> Option<TaskRow> {
        task_seen(desk.seen(), &self.run.run, task.as_str())
    }

    fn delta(&self, desk: &mut Desk, delta: &LedgerDelta) -> Result<(), Refusal> {
        let Some(task) = self.row(desk, &delta.task_id) else { return self.create(desk, delta) };
        let reason = delta.reason.as_str();
        match (task.status, delta.status) {
            (TaskStatus::InProgress, TaskStatus::InProgress) if task.owner.as_deref() != Some(delta.owner.as_str()) => {
                // Who works on it is for the last change of the task to say.
                Ok(())
            }
            (from, to) if from == to => {
                must_have_its_owner(&task, delta)?;
                let facts = json!({ "reason": reason, "run": task.run, "state": from.as_str(), "task": task.task });
                desk.record(Happening::of_run(TASK_ASSERTED, &task.run, facts));
                Ok(())
            }
            (_, TaskStatus::Done) => {
                picking::may_become(&task, TaskStatus::Done)?;
                let reason = format!("{} has no result that passed its gate", task.task);
                let help = "its worker brings one with `countersign task submit`; nobody else can say that it is done";
                Err(Refusal::new(Code::AcceptanceFailed, reason, help))
            }
            (_, TaskStatus::Blocked) => {
                let code = self.output.blockers.iter().find(|it| it.task_id == delta.task_id).map(|it| it.code.get());
                block::block(desk, &task, code.unwrap_or(Code::DependencyNotMet).as_str(), reason)
            }
            (_, TaskStatus::Failed) => {
                let code = self.output.blockers.iter().find(|it| it.task_id == delta.task_id).map(|it| it.code.get());
                fail::fail(desk, &task, code.unwrap_or(Code::AcceptanceFailed).as_str(), reason)
            }
            (_, TaskStatus::Canceled) => cancel::cancel(desk, &task, reason),
            (_, TaskStatus::Todo) => unblock::unblock(desk, &task, reason),
            // Work begins when everything that the envelope asks for is there.
            (_, TaskStatus::InProgress) => picking::may_become(&task, TaskStatus::InProgress),
        }
    }

    /// A row that is not there is made by a change that means to: `todo` with a title, or with its assignment beside it.
    fn create(&self, desk: &mut Desk, delta: &LedgerDelta) -> Result<(), Refusal> {
        let task = delta.task_id.as_str();
        match (self.assignment(&delta.task_id), delta.status) {
            (Some(assignment), TaskStatus::Todo | TaskStatus::InProgress) => {
                let definition = of_assignment(&assignment.task, &assignment.context_package);
                add_tasks::add(desk, self.run, task, definition)
            }
            (None, TaskStatus::Todo) if delta.title.is_some() => {
                let reason = format!("{task} is made without an assignment, so nobody knows what it may change");
                let help = "send its assignment in the same envelope, or add it with `countersign task add`";
                Err(Refusal::new(Code::MissingRequiredInput, reason, help))
            }
            _ => {
                let reason =
                    format!("there is no task {task} in run {}, and the change does not make one", self.run.run);
                let help = "make it with status todo and a title, and with its assignment";
                Err(Refusal::new(Code::LedgerInconsistent, reason, help))
            }
        }
    }

    /// Whether other criteria or context are asked for than the task was asked for with. What is stored of it apart from its
    /// texts tells only how many there are.
    fn is_worded_otherwise(&self, task: &TaskRow) -> bool {
        self.observed.facts["otherwise"][&task.task].as_u64() == Some(task.asked)
    }

    /// Asks for what the assignments say. How many were asked for anew or for the first time, also where a change has made
    /// the row already.
    fn assign(&self, desk: &mut Desk, new: &[&TaskId]) -> Result<usize, Refusal> {
        let mut asked = 0;
        for assignment in self.output.assignments.iter() {
            let id = &assignment.task.task_id;
            let mut definition = of_assignment(&assignment.task, &assignment.context_package);
            let row = self.row(desk, id);
            if let Some(task) = &row {
                keep_gates(task, &mut definition)?;
            }
            match row {
                None => {
                    add_tasks::add(desk, self.run, id.as_str(), definition)?;
                    asked += 1;
                }
                Some(task) if task.spec == definition.spec && !self.is_worded_otherwise(&task) => {
                    asked += usize::from(new.contains(&id))
                }
                Some(task) => {
                    replan::replan(desk, &task, definition, "assigned anew")?;
                    asked += 1;
                }
            }
        }
        Ok(asked)
    }

    /// Gives out what is in progress by the last change of each task, which also says to whom. How many were begun.
    fn begin(&self, desk: &mut Desk, fresh: &[&LedgerDelta]) -> Result<usize, Refusal> {
        let mut begun = 0;
        let is_last = |n: usize| fresh[n + 1..].iter().all(|later| later.task_id != fresh[n].task_id);
        let last = fresh.iter().enumerate().filter(|(n, _)| is_last(*n)).map(|(_, delta)| delta);
        for delta in last.filter(|delta| delta.status == TaskStatus::InProgress) {
            let Some(task) = self.row(desk, &delta.task_id) else { continue };
            let by = (delta.owner.as_str(), delta.reason.as_str());
            let is_so = task.status == TaskStatus::InProgress && task.owner.as_deref() == Some(by.0);
            if !is_so {
                reassign::must_not_follow_a_plan(self.run, &delta.task_id)?;
                reassign::reassign(desk, self.run, &task, by, self.observed.tree.as_ref())?;
                begun += 1;
            }
        }
        Ok(begun)
    }

    /// The locks that the envelope says are held must be those that are.
    fn locks(&self, desk: &Desk) -> Result<(), Refusal> {
        for lock in self.output.active_locks.iter().filter(|lock| lock.active) {
            let row = self.row(desk, &lock.task_id);
            let really = match &row {
                None => format!("run {} has no such task", self.run.run),
                Some(task) if task.status != TaskStatus::InProgress => format!("it is {}", task.status),
                Some(task) if task.spec.lock_scope.iter().any(|path| path == lock.resource.place()) => continue,
                Some(task) => {
                    let held = task.spec.lock_scope.iter().map(|path| format!("`{}`", show(path)));
                    format!("it holds {}", held.collect::<Vec<_>>().join(", "))
                }
            };
            let resource = show(lock.resource.as_str());
            let reason =
                format!("the envelope says that {} holds `{resource}`, and it does not: {really}", lock.task_id);
            let help = "read the ledger again (`countersign bundle make`) and make the envelope anew";
            return Err(Refusal::new(Code::LedgerInconsistent, reason, help));
        }
        Ok(())
    }

    /// Nothing more is given out as long as rows, leases, worklogs and the working tree do not agree. That is judged as it
    /// would be after the turn, which may be what mends it. A worker that is silent within its lease contradicts nothing,
    /// and what waits in vain concerns nobody else.
    fn reconcile(&self, desk: &Desk) -> Result<(), Refusal> {
        let unanswered = self.observed.facts["unanswered"].as_array();
        let unanswered = unanswered.map(|paths| paths.iter().filter_map(Value::as_str));
        let changed = unanswered.map(|paths| paths.map(|path| (path.to_owned(), None)).collect());
        let tree = changed.map(|changed| Tree { commit: None, changed });
        let shown = self.output.reconciliation().render(desk.seen(), desk.moment(), tree.as_ref())?;
        let alone = [Code::TaskTimeout, Code::DependencyNotMet].map(Code::as_str);
        let open = shown.findings.iter().filter(|it| !alone.contains(&it.code.as_str()));
        let open: Vec<&Discrepancy> = open.collect();
        let Some(first) = open.first() else { return Ok(()) };
        let more = match open.len() - 1 {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let reason = format!("nothing is given out before everything agrees: {}{more}", first.reason);
        let help = format!("{}; `countersign reconcile` shows all that does not agree", first.help);
        Err(Refusal::new(Code::LedgerInconsistent, reason, help))
    }
}

/// What is finished keeps its owner.
fn must_have_its_owner(task: &TaskRow, delta: &LedgerDelta) -> Result<(), Refusal> {
    let (named, owner) = (delta.owner.trim(), task.owner.as_deref().unwrap_or_default());
    if !task.status.is_final() || named.is_empty() || owner.is_empty() || named == owner {
        return Ok(());
    }
    let reason = format!("{} is {}, and {} had it, not {}", task.task, task.status, show(owner), show(named));
    Err(Refusal::new(Code::InvalidTransition, reason, picking::FINISHED))
}
