//! How the ledger is asked: in the name of who leads, or of an agent.

use super::no::No;
use super::settings::Telling;
use countersign_contract::{Checked, Checker, Outside, Settings};
use countersign_domain::deciding::{Role, Tree};
use countersign_domain::plan::payload::Budgets;
use countersign_domain::validation::row::{promise_key, promise_of};
use countersign_domain::work::effect::EffectKind;
use countersign_domain::work::event::{
    EFFECT_STARTED, RUN_LED, TASK_BLOCKED, TASK_CANCELED, TASK_CLAIMED, TASK_TIMED_OUT,
};
use countersign_domain::work::row::{RunRow, TaskRow, run_key, run_of, task_key, task_of};
use countersign_engine::{Call, Engine, Failure, Stored, StoredText, World};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How many events are read at a time.
const PAGE: u64 = 1000;

/// The ledger of a run.
pub(super) struct Desk<'a> {
    engine: &'a Engine,
    world: &'a dyn World,
    call: &'a Call,
    run: &'a str,
}

impl<'a> Desk<'a> {
    pub(super) fn new(engine: &'a Engine, world: &'a dyn World, call: &'a Call, run: &'a str) -> Self {
        Self { engine, world, call, run }
    }

    /// A question about the run.
    pub(super) fn of_run(&self) -> Value {
        json!({ "run_id": self.run })
    }

    /// A question about a task, or a request for it.
    pub(super) fn of_task(&self, task: &str) -> Value {
        json!({ "run_id": self.run, "task_id": task })
    }

    /// The number of the last event.
    pub(super) fn head(&self) -> Result<u64, String> {
        Ok(self.engine.ledger().head().map_err(|error| error.to_string())?.seq)
    }

    /// Acts on what is due, if anything is: a worker of somebody else may be gone, and no command comes by.
    pub(super) fn settle_due(&self) -> Result<(), String> {
        let next = self.engine.next_due().map_err(|error| error.to_string())?;
        if next.is_some_and(|next| next <= jiff::Timestamp::now().as_millisecond()) { self.settle() } else { Ok(()) }
    }

    /// Acts on what is due.
    pub(super) fn settle(&self) -> Result<(), String> {
        self.engine.settle(64).map(|_| ()).map_err(|error| error.to_string())
    }

    /// A run of the ledger as it stands.
    pub(super) fn run_row(&self, run: &str) -> Result<Option<RunRow>, String> {
        let found = self.engine.entity(&run_key(run)).map_err(|error| error.to_string())?;
        Ok(run_of(found.as_ref()))
    }

    /// This run as it stands.
    pub(super) fn own_row(&self) -> Result<RunRow, String> {
        self.run_row(self.run)?.ok_or_else(|| format!("run {} is not in the ledger", self.run))
    }

    /// The leases of tasks of the run that have lapsed since a process did anything, with their tasks. A runner that is there
    /// has something to say about an agent that it lost; one that said nothing any more was gone.
    pub(super) fn lapsed_since(&self, process: &str) -> Result<Vec<(String, u64)>, String> {
        let (mut lapsed, mut last) = (Vec::new(), self.head()?);
        while last > 0 {
            let first = last.saturating_sub(PAGE - 1).max(1);
            let events = self.engine.stored(first, last).map_err(|error| error.to_string())?;
            for event in events.iter().rev() {
                let facts = event.facts();
                if event.text("authn") == process {
                    return Ok(lapsed);
                }
                if event.text("kind") == TASK_TIMED_OUT && facts["run"].as_str() == Some(self.run) {
                    lapsed.extend(facts["task"].as_str().map(str::to_owned).zip(facts["lease"].as_u64()));
                }
            }
            last = first - 1;
        }
        Ok(lapsed)
    }

    /// Says that this process carries the run out, so that nobody else speaks at its gates; and what it starts from, if that is
    /// not noted yet.
    pub(super) fn lead(&self, budgets: Option<&Budgets>, base: &Value) -> Result<(), Failure> {
        let budgets = budgets.and_then(|budgets| serde_json::to_value(budgets).ok());
        let base = base.as_object().map(|base| base.iter().filter(|(_, it)| !it.is_null()).collect::<BTreeMap<_, _>>());
        let base = base.filter(|base| !base.is_empty());
        let request = json!({ "run_id": self.run, "leads": true, "budgets": budgets, "base": base });
        self.ask_engine(self.call, self.world, "run.lead", &request).map(|_| ())
    }

    /// Says that this process has stopped to carry the run out.
    pub(super) fn lead_no_more(&self) -> Result<(), String> {
        let request = json!({ "run_id": self.run, "leads": false });
        self.ask("run.lead", &request).map(|_| ()).map_err(String::from)
    }

    /// Asks in the name of who leads.
    pub(super) fn ask(&self, id: &str, request: &Value) -> Result<Value, No> {
        self.put(self.call, self.world, id, request)
    }

    /// Asks in the name of an agent, who has seen a working tree of its own.
    pub(super) fn ask_as(&self, agent: &str, tree: Option<Tree>, id: &str, request: &Value) -> Result<Value, No> {
        let call =
            Call { actor: agent.to_owned(), roles: vec![Role::Agent], bound: None, key: None, ..self.call.clone() };
        match tree {
            None => self.put(&call, self.world, id, request),
            Some(tree) => self.put(&call, &InTree { world: self.world, tree }, id, request),
        }
    }

    /// Asks in the name of who leads, with other settings than the project's.
    pub(super) fn ask_within(&self, settings: &Settings, id: &str, request: &Value) -> Result<Value, No> {
        self.put(self.call, &Within { world: self.world, settings }, id, request)
    }

    fn put(&self, call: &Call, world: &dyn World, id: &str, request: &Value) -> Result<Value, No> {
        Ok(self.ask_engine(call, world, id, request)?)
    }

    fn ask_engine(&self, call: &Call, world: &dyn World, id: &str, request: &Value) -> Result<Value, Failure> {
        let mut request = request.clone();
        if let Some(fields) = request.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        Ok(self.engine.ask(world, call, id, &request.to_string())?.answer)
    }

    /// The tasks that events speak of. Whoever asks is shown each event of a task.
    pub(super) fn changed(
        &self,
        first: u64,
        last: u64,
        mut look: impl FnMut(&Stored, &str),
    ) -> Result<BTreeSet<String>, String> {
        let mut tasks = BTreeSet::new();
        let mut next = first;
        while next <= last {
            let events = self.engine.stored(next, last.min(next + PAGE - 1)).map_err(|error| error.to_string())?;
            let Some(end) = events.last().map(|event| event.seq) else { break };
            for event in events.iter().filter(|event| event.facts()["run"].as_str() == Some(self.run)) {
                let facts = event.facts();
                let freed = facts["frees"].as_array().into_iter().flatten().filter_map(Value::as_str);
                if let Some(task) = facts["task"].as_str() {
                    look(event, task);
                }
                tasks.extend(facts["task"].as_str().into_iter().chain(freed).map(str::to_owned));
            }
            next = end + 1;
        }
        Ok(tasks)
    }

    /// A task as it stands.
    pub(super) fn row(&self, task: &str) -> Result<Option<TaskRow>, String> {
        let found = self.engine.entity(&task_key(self.run, task)).map_err(|error| error.to_string())?;
        Ok(task_of(found.as_ref()))
    }

    /// The event that claims that a task is done, while that stands.
    pub(super) fn claim(&self, task: &str) -> Result<Option<u64>, String> {
        let key = promise_key(&format!("{}/{task}", self.run));
        let found = self.engine.entity(&key).map_err(|error| error.to_string())?;
        Ok(promise_of(found.as_ref()).and_then(|row| row.claim))
    }

    /// Who canceled a task, and why; none, if that is not found.
    pub(super) fn canceled(&self, row: &TaskRow) -> Result<Option<String>, String> {
        let found = self.engine.entity(&task_key(self.run, &row.task)).map_err(|error| error.to_string())?;
        let last = found.map_or(0, |found| found.seq);
        let such = |event: &Stored| {
            event.text("kind") == TASK_CANCELED && event.facts()["task"].as_str() == Some(row.task.as_str())
        };
        // It is the last event of the task, unless a result came too late.
        let event = match self.find(last, last, such)? {
            Some(event) => Some(event),
            None => self.find(row.order, last, such)?,
        };
        let reason = |event: &Stored| event.facts()["reason"].as_str().unwrap_or("no reason is given").to_owned();
        Ok(event.map(|event| format!("{} canceled it: {}", event.text("actor"), reason(&event))))
    }

    /// The first event of the run that is such, of those from one to another.
    fn find(&self, first: u64, last: u64, such: impl Fn(&Stored) -> bool) -> Result<Option<Stored>, String> {
        let mut next = first;
        while next <= last {
            let events = self.engine.stored(next, last.min(next + PAGE - 1)).map_err(|error| error.to_string())?;
            let Some(end) = events.last().map(|event| event.seq) else { break };
            let own = |event: &Stored| event.facts()["run"].as_str() == Some(self.run) && such(event);
            if let Some(event) = events.into_iter().find(own) {
                return Ok(Some(event));
            }
            next = end + 1;
        }
        Ok(None)
    }

    /// What a person was last asked to accept before a task goes on, and the hash of what is kept about it; none, if an agent has
    /// worked on it since.
    pub(super) fn last_asked(&self, task: &str) -> Result<Option<(String, Option<String>)>, String> {
        let asked = RefCell::new(None);
        self.find(self.opened()?, self.head()?, |event| {
            let facts = event.facts();
            if facts["task"].as_str() != Some(task) {
                return false;
            }
            let text = |name: &str| facts[name].as_str().map(str::to_owned);
            match event.text("kind") {
                TASK_BLOCKED if facts["content"].is_string() => {
                    *asked.borrow_mut() = text("content").map(|content| (content, text("kept")));
                }
                EFFECT_STARTED if facts["kind"] == EffectKind::Agent.as_str() => *asked.borrow_mut() = None,
                _ => {}
            }
            false
        })?;
        Ok(asked.into_inner())
    }

    /// What was brought into the tree, or was about to be, from one event to another: by which run, as which commit, and on top of
    /// which. It is recorded before it is there for others to see.
    pub(super) fn landings(&self, first: u64, last: u64) -> Result<Vec<[String; 3]>, String> {
        let (mut landings, mut next) = (Vec::new(), first);
        while next <= last {
            let events = self.engine.stored(next, last.min(next + PAGE - 1)).map_err(|error| error.to_string())?;
            let Some(end) = events.last().map(|event| event.seq) else { break };
            let begun = events.iter().filter(|event| event.text("kind") == EFFECT_STARTED).map(Stored::facts);
            for facts in begun.filter(|facts| facts["kind"] == EffectKind::Landing.as_str()) {
                let [run, commit, was] =
                    [&facts["run"], &facts["mark"]["commit"], &facts["mark"]["was"]].map(Value::as_str);
                if let (Some(run), Some(commit), Some(was)) = (run, commit, was) {
                    landings.push([run, commit, was].map(str::to_owned));
                }
            }
            next = end + 1;
        }
        Ok(landings)
    }

    /// The commit that was checked out when the run began: where it was first carried out, or, if somebody came before that,
    /// where they began their task. None, if nothing of it is noted yet, or there was no commit.
    pub(super) fn began_at(&self) -> Result<Option<String>, String> {
        let tells = |event: &Stored| {
            [RUN_LED, TASK_CLAIMED].contains(&event.text("kind")) && event.facts()["base"]["commit"].is_string()
        };
        let first = self.find(self.opened()?, self.head()?, tells)?;
        Ok(first.and_then(|event| event.facts()["base"]["commit"].as_str().map(str::to_owned)))
    }

    /// The branch that was checked out when the run was first carried out. None, if nothing of it is noted yet.
    pub(super) fn began_on(&self) -> Result<Option<String>, String> {
        let tells = |event: &Stored| event.text("kind") == RUN_LED && event.facts()["base"]["branch"].is_string();
        let first = self.find(self.opened()?, self.head()?, tells)?;
        Ok(first.and_then(|event| event.facts()["base"]["branch"].as_str().map(str::to_owned)))
    }

    /// What git's settings were when the run was first carried out. None, if nothing of it is noted yet.
    pub(super) fn began_with(&self) -> Result<Option<Telling>, String> {
        let tells = |event: &Stored| event.text("kind") == RUN_LED && event.facts()["base"]["settings"].is_object();
        let first = self.find(self.opened()?, self.head()?, tells)?;
        Ok(first.and_then(|event| serde_json::from_value(event.facts()["base"]["settings"].clone()).ok()))
    }

    /// The event that began the run.
    pub(super) fn opened(&self) -> Result<u64, String> {
        Ok(self.run_row(self.run)?.map_or(1, |run| run.opened))
    }

    /// The tasks of the run that somebody has begun since an event.
    pub(super) fn claimed_since(&self, since: u64) -> Result<BTreeSet<String>, String> {
        let claimed = RefCell::new(BTreeSet::new());
        self.find(since + 1, self.head()?, |event| {
            if event.text("kind") == TASK_CLAIMED {
                claimed.borrow_mut().extend(event.facts()["task"].as_str().map(str::to_owned));
            }
            false
        })?;
        Ok(claimed.into_inner())
    }

    /// The facts of an event.
    pub(super) fn facts(&self, seq: u64) -> Option<Value> {
        let stored = self.engine.stored(seq, seq).ok()?;
        stored.into_iter().find(|event| event.seq == seq).map(|event| event.facts().clone())
    }

    /// When an event happened, in whole seconds of all time.
    pub(super) fn second_of(&self, seq: u64) -> Result<i64, String> {
        let stored = self.engine.stored(seq, seq).map_err(|error| error.to_string())?;
        let time = stored.iter().find(|event| event.seq == seq).and_then(|event| event.text("time").parse().ok());
        Ok(time.map_or(0, jiff::Timestamp::as_second))
    }

    /// The first text of an event.
    pub(super) fn text(&self, seq: u64) -> Result<String, String> {
        let texts = self.engine.texts(seq).map_err(|error| error.to_string())?;
        match texts.into_iter().next() {
            Some(StoredText::Said(text)) => Ok(text.inspect(|text| text.to_owned())),
            _ => Err(format!("what event {seq} said was erased; the work must be done again")),
        }
    }

    /// Whether since an event there was one of a kind whose facts are such.
    pub(super) fn any_since(&self, since: u64, kind: &str, such: impl Fn(&Value) -> bool) -> Result<bool, String> {
        let such = |event: &Stored| event.text("kind") == kind && such(event.facts());
        Ok(self.find(since + 1, self.head()?, such)?.is_some())
    }

    /// Asks a question, and is told why it was not answered.
    pub(super) fn look_plainly(&self, id: &str, question: &Value) -> Result<Value, Failure> {
        self.engine.look(self.world, self.call, id, &question.to_string())
    }

    /// Asks a question.
    pub(super) fn look(&self, id: &str, question: &Value) -> Result<Value, String> {
        let shown = self.look_plainly(id, question);
        shown.map_err(|failure| String::from(No::from(failure)))
    }
}

/// The world with another working tree in it.
struct InTree<'a> {
    world: &'a dyn World,
    tree: Tree,
}

impl World for InTree<'_> {
    fn checker(&self) -> Checker<'_> {
        self.world.checker()
    }

    fn outside(&self) -> Outside {
        self.world.outside()
    }

    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
        self.world.look_for_files(checked, name)
    }

    fn tree(&self, _: Option<&str>) -> Option<Tree> {
        Some(self.tree.clone())
    }
}

/// The world with other settings in it.
struct Within<'a> {
    world: &'a dyn World,
    settings: &'a Settings,
}

impl World for Within<'_> {
    fn checker(&self) -> Checker<'_> {
        Checker { settings: self.settings, ..self.world.checker() }
    }

    fn outside(&self) -> Outside {
        self.world.outside()
    }

    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
        self.world.look_for_files(checked, name)
    }

    fn tree(&self, base: Option<&str>) -> Option<Tree> {
        self.world.tree(base)
    }
}
