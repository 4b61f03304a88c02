//! A run as it stands, for an orchestrator with a fresh context.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::payload::HandoffBundle;
use crate::work::picking::said;
use crate::work::row::{RunRow, TaskRow, run_key, task_of};
use crate::work::task_state::TaskStatus;
use crate::work::{indexes, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Contract, Int, Json, shape};
use countersign_tokens::Encoding;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How many tasks a bundle can show.
const TASKS_MAX: usize = 5000;

shape! {
    /// A bundle that was made.
    pub struct BundleMade {
        /// The bundle, as its contract has it.
        pub bundle: Json,
        /// How many tokens it has, counted exactly.
        pub tokens: Int,
        /// How many finished tasks were left out to keep it short.
        pub left_out: Int,
    }
}

shape! {
    /// Make a bundle: a run as it stands, for an orchestrator with a fresh context.
    pub closed struct MakeBundle {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// How many tokens it may have. Finished tasks that nothing waits for are left out first.
        pub max_tokens: Option<Int<1>>,
    }
}

impl View for MakeBundle {
    const INFO: ViewInfo =
        ViewInfo { id: "bundle.make", summary: "A run as it stands, for an orchestrator with a fresh context" };
    type Shown = BundleMade;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = indexes::tasks(&run, None, TASKS_MAX + 1);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Lease(key.id.to_string()));
            let unfinished = task_of(seen.so_far(key)).filter(|task| !task.status.is_final());
            needs.extend(unfinished.map(|task| Need::Texts(task.asked)));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<BundleMade, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = indexes::tasks(&run.run, None, TASKS_MAX + 1);
        let tasks: Vec<TaskRow> = seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key))).collect();
        if tasks.len() > TASKS_MAX {
            let reason = format!("run {} has more than {TASKS_MAX} tasks, too many for one bundle", run.run);
            return Err(Refusal::new(Code::TokenLimitExceeded, reason, "read it with `countersign task list`"));
        }
        let version = seen.entity(&run_key(&run.run)).map_or(0, |found| found.seq);
        let whole = write(&run, &tasks, seen, moment, version, 0);
        let limit = self.max_tokens.map_or(usize::MAX, |max| usize::try_from(max.get()).unwrap_or(usize::MAX));
        let (bundle, left_out) = match fit(&whole, limit) {
            true => (whole, 0),
            false => shorter(&run, &tasks, seen, moment, version, limit)?,
        };
        let tokens = Encoding::O200kBase.count(&bundle.to_string()) as u64;
        Ok(BundleMade { bundle: bundle.into(), tokens: tokens.into(), left_out: (left_out as u64).into() })
    }
}

/// What a bundle says otherwise than it is: the first field of which that is so. Finished tasks may be left out, released locks
/// may be named, and how long ago somebody gave a sign of life is nobody's mistake. The criteria are texts, which nothing is
/// decided by.
pub(in crate::work) fn untrue(given: &Value, run: &RunRow, seen: &Seen) -> Option<&'static str> {
    const FIELDS: [&str; 6] = ["objective", "constraints", "ledger", "active_locks", "dependencies", "open_blockers"];
    let listed = |field: &str| given[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: BTreeSet<&str> = listed("ledger").iter().filter_map(|row| row["task_id"].as_str()).collect();
    let range = indexes::tasks(&run.run, None, TASKS_MAX + 1);
    let is_meant = |task: &TaskRow| !task.status.is_final() || names.contains(task.task.as_str());
    let tasks = seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key))).filter(is_meant);
    let is = stands(run, &tasks.collect::<Vec<_>>(), seen);
    FIELDS.into_iter().find(|field| said_of(field, given) != said_of(field, &is))
}

/// What a bundle says in one of its fields, where the order of rows says nothing.
fn said_of(field: &str, bundle: &Value) -> BTreeSet<String> {
    let rows = match &bundle[field] {
        Value::Array(rows) => rows.as_slice(),
        one => std::slice::from_ref(one),
    };
    let counts = |row: &&Value| field != "active_locks" || row["active"] != false;
    let plain = |row: &Value| match row {
        Value::Object(row) if field == "ledger" => {
            let is_of_task = |name: &str| name != "last_heartbeat_at" && !name.starts_with("x_");
            Value::Object(
                row.iter().filter(|(name, _)| is_of_task(name)).map(|(k, v)| (k.clone(), v.clone())).collect(),
            )
        }
        other => other.clone(),
    };
    rows.iter().filter(counts).map(|row| countersign_contract::canonical(&plain(row))).collect()
}

fn fit(bundle: &Value, limit: usize) -> bool {
    limit == usize::MAX || Encoding::O200kBase.count(&bundle.to_string()) <= limit
}

/// The bundle without finished tasks that nothing waits for, the oldest first, as few of them as needed.
fn shorter(
    run: &RunRow,
    tasks: &[TaskRow],
    seen: &Seen,
    moment: &Moment,
    version: u64,
    limit: usize,
) -> Result<(Value, usize), Refusal> {
    let open = tasks.iter().filter(|task| !task.status.is_final());
    let wanted: BTreeSet<&String> = open.flat_map(|task| &task.spec.dependencies).collect();
    let spare: Vec<&str> = tasks
        .iter()
        .filter(|task| task.status.is_final() && !wanted.contains(&task.task))
        .map(|task| task.task.as_str())
        .collect();
    let without = |count: usize| {
        let left: Vec<TaskRow> =
            tasks.iter().filter(|task| !spare[..count].contains(&task.task.as_str())).cloned().collect();
        write(run, &left, seen, moment, version, count)
    };
    // What is left out only ever makes it shorter, so the least is found by halves.
    let (mut few, mut many) = (0, spare.len());
    if !fit(&without(many), limit) {
        let tokens = Encoding::O200kBase.count(&without(many).to_string());
        let reason =
            format!("the bundle of run {} has {tokens} tokens without anything finished; {limit} are allowed", run.run);
        return Err(Refusal::new(Code::TokenLimitExceeded, reason, "allow more, or split the run").of_run(&run.run));
    }
    while few < many {
        let middle = few.midpoint(many);
        if fit(&without(middle), limit) { many = middle } else { few = middle + 1 }
    }
    Ok((without(many), many))
}

fn write(run: &RunRow, tasks: &[TaskRow], seen: &Seen, moment: &Moment, version: u64, left_out: usize) -> Value {
    let mut bundle = json!({
        "schema_version": HandoffBundle::VERSION,
        "run_id": run.run,
        "generated_at": moment.now,
        "x_base_version": version,
    });
    if let (Value::Object(bundle), Value::Object(stands)) = (&mut bundle, stands(run, tasks, seen)) {
        bundle.extend(stands);
    }
    bundle["acceptance_targets"] = targets(run, tasks, seen);
    if left_out > 0 {
        bundle["x_finished_left_out"] = json!(left_out);
    }
    bundle
}

/// When the run counts as done: the criteria of its tasks, or else what it is for.
fn targets(run: &RunRow, tasks: &[TaskRow], seen: &Seen) -> Value {
    let mut targets: Vec<Value> = Vec::new();
    for task in tasks.iter().filter(|task| !task.status.is_final()) {
        for n in 0..task.spec.criteria {
            if let Some(text) = seen.text(task.asked, n) {
                targets.push(json!({ "task_id": task.task, "criterion": text }));
            }
        }
    }
    if targets.is_empty() {
        targets.push(json!(run.objective));
    }
    Value::Array(targets)
}

/// How a run stands, as far as facts tell.
fn stands(run: &RunRow, tasks: &[TaskRow], seen: &Seen) -> Value {
    let ledger: Vec<Value> = tasks.iter().map(|task| row(task, seen)).collect();
    let working = tasks.iter().filter(|task| task.status == TaskStatus::InProgress);
    let lock = |task: &TaskRow, path: &String| json!({ "task_id": task.task, "resource": path, "active": true });
    let locks: Vec<Value> =
        working.flat_map(|task| task.spec.lock_scope.iter().map(|path| lock(task, path)).collect::<Vec<_>>()).collect();
    let shown: BTreeSet<&str> = tasks.iter().map(|task| task.task.as_str()).collect();
    let dependencies: Vec<Value> = tasks
        .iter()
        .filter_map(|task| {
            let on: Vec<&String> = task.spec.dependencies.iter().filter(|it| shown.contains(it.as_str())).collect();
            (!on.is_empty()).then(|| json!({ "task_id": task.task, "depends_on": on }))
        })
        .collect();
    let blocked = tasks.iter().filter(|task| task.status == TaskStatus::Blocked);
    let blockers: Vec<Value> = blocked
        .filter_map(|task| {
            let blocker = task.blocker.as_ref()?;
            Some(json!({ "task_id": task.task, "code": blocker.code, "reason": blocker.reason }))
        })
        .collect();
    json!({
        "objective": run.objective,
        "constraints": run.constraints,
        "ledger": ledger,
        "active_locks": locks,
        "dependencies": dependencies,
        "open_blockers": blockers,
    })
}

fn row(task: &TaskRow, seen: &Seen) -> Value {
    let mut row = json!({
        "task_id": task.task,
        "title": task.spec.title,
        "status": task.status.as_str(),
        "owner": task.owner.as_deref().unwrap_or_default(),
        "lock_scope": task.spec.lock_scope,
        "timeout_seconds": task.timeout_seconds,
        "heartbeat_interval_seconds": task.spec.heartbeat_interval_seconds,
        "priority": task.spec.priority,
    });
    let hold = seen.lease(&task.lease_name()).filter(|_| task.status == TaskStatus::InProgress);
    if let Some(hold) = hold {
        row["last_heartbeat_at"] = json!(said(hold.beat));
    }
    if let Some(assurance) = &task.assurance {
        row["x_assurance"] = json!(assurance);
    }
    row
}
