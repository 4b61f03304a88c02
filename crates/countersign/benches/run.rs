//! What the runner itself costs for a task with a trivial agent and one trivial check, beyond what the agent and the check
//! take, beside git's own steps for the same work in the same run.
//!
//! ```text
//! cargo bench -p countersign --bench run            # the overhead of a task, with the breakdown
//! cargo bench -p countersign --bench run -- many    # 1,000 tasks: whose the processors' time is
//! cargo bench -p countersign --bench run -- many 50 # the same with fewer
//! ```
//!
//! Two agents do the same: one for the shell, which starts in a millisecond or two, and one for Python, as most agents take at
//! least as long to start. What an agent takes is measured with nobody else about, and that in a crowd, where processors are shared
//! and their caches are cold, it takes more is what the one for Python notes itself; of the shell's it is not known.
//!
//! What was measured is removed when all is: some file systems look through everything that was removed in the last minutes
//! whenever a file is made, and whoever is measured next would pay for that.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures")]

use countersign_domain::plan::command::read;
use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use countersign_runner::agent::Stop;
use countersign_runner::run::{self, Note, Setup, State, Watch};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a task may cost beyond its agent and its checks.
const LIMIT_MS: f64 = 50.0;
const TASKS: usize = 100;
const MANY: usize = 1000;

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "many");
    match arguments.next() {
        Some(_) => {
            let tasks = arguments.find_map(|argument| argument.parse().ok()).unwrap_or(MANY);
            let folders = [&SHELL, &PYTHON].map(|agent| busy(tasks, agent));
            drop(folders);
        }
        None => overhead(),
    }
}

/// The tasks of a plan, each with a scope of its own.
fn plan(tasks: usize, agent: &Agent, notes: &Path) -> String {
    let tasks: Vec<Value> = (1..=tasks)
        .map(|n| {
            json!({
                "id": format!("T-{n}"), "title": format!("Write file {n}"), "agent": "writer", "lock_scope": format!("out/{n}.txt"),
                "acceptance": [{ "text": "the file is there", "check": { "file": { "path": format!("out/{n}.txt"), "contains": "done" } } }],
            })
        })
        .collect();
    json!({ "plan": "1.0", "objective": "Measure", "agents": { "writer": { "command": [agent.program, "agent", notes] } }, "tasks": tasks })
        .to_string()
}

/// An agent that does next to nothing. It is told a folder to note in how many seconds of a processor it took, if it knows that.
struct Agent {
    program: &'static str,
    text: &'static str,
}

/// It reads its assignment with the shell alone.
const SHELL: Agent = Agent {
    program: "sh",
    text: r#"read -r line
run=${COUNTERSIGN_RUN}; task=${COUNTERSIGN_TASK}; n=${task#T-}
mkdir -p out; echo done > "out/$n.txt"
printf '{"schema_version":"1.0.0","run_id":"%s","task_id":"%s","status":"done","changes":[{"resource":"out/%s.txt","action":"create","evidence":"written"}],"acceptance_check":[{"criterion":"the file is there","status":"pass","evidence":"out/%s.txt says so"}],"worklog_path":"worklogs/%s.jsonl","notes_for_orchestrator":[]}' "$run" "$task" "$n" "$n" "$task"
"#,
};

const PYTHON: Agent = Agent {
    program: "python3",
    text: r#"import json, os, sys, time
json.load(sys.stdin)
run, task = os.environ["COUNTERSIGN_RUN"], os.environ["COUNTERSIGN_TASK"]
path = "out/%s.txt" % task[2:]
os.makedirs("out", exist_ok=True)
with open(path, "w") as file:
    file.write("done\n")
print(json.dumps({
    "schema_version": "1.0.0", "run_id": run, "task_id": task, "status": "done",
    "changes": [{"resource": path, "action": "create", "evidence": "written"}],
    "acceptance_check": [{"criterion": "the file is there", "status": "pass", "evidence": path + " says so"}],
    "worklog_path": "worklogs/%s.jsonl" % task, "notes_for_orchestrator": [],
}))
with open(os.path.join(sys.argv[1], task), "w") as file:
    file.write(str(time.process_time()))
"#,
};

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn repository(folder: &Path, agent: &Agent) {
    git(folder, &["init", "-q"]);
    git(folder, &["config", "user.name", "Bench"]);
    git(folder, &["config", "user.email", "bench@localhost"]);
    std::fs::write(folder.join("agent"), agent.text).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", "first"]);
}

/// A step, when it came, and how long it took by itself.
type Step = (&'static str, Instant, Duration);

/// When each task came to each step.
#[derive(Default)]
struct Clockwork(Mutex<BTreeMap<String, Vec<Step>>>);

impl Watch for Clockwork {
    fn note(&self, note: &Note<'_>) {
        let (task, step, took) = match note {
            Note::Begun { task, .. } => (*task, "begun", Duration::ZERO),
            Note::Ended { task, took, .. } => (*task, "ended", *took),
            Note::Claimed { task, .. } => (*task, "claimed", Duration::ZERO),
            Note::Validated { task, .. } => (*task, "validated", Duration::ZERO),
            Note::Landed { task, .. } => (*task, "landed", Duration::ZERO),
            Note::Done { task, .. } => (*task, "done", Duration::ZERO),
            _ => return,
        };
        self.0.lock().unwrap().entry(task.to_owned()).or_default().push((step, Instant::now(), took));
    }
}

/// Carries a plan out in a fresh repository, in a folder. Gives the wall time.
fn carry_out(folder: &TempDir, tasks: usize, agent: &Agent, concurrency: usize, watch: &dyn Watch) -> Duration {
    let [project, spool, notes] = ["project", "spool", NOTES].map(|name| folder.path().join(name));
    [&project, &spool, &notes].into_iter().for_each(|it| std::fs::create_dir_all(it).unwrap());
    repository(&project, agent);
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let engine = Engine::create(Box::new(store), "bench").unwrap();
    let call = Call::declared("lead");
    engine.ask(&Nowhere, &call, "project.init", r#"{"name":"bench"}"#).unwrap();
    let text = plan(tasks, agent, &notes);
    let started = engine.ask(&Nowhere, &call, "run.start", &json!({ "plan": text }).to_string()).unwrap();
    let run_id = started.answer["run_id"].as_str().unwrap().to_owned();
    let plan = read(&text).unwrap();
    let platform = countersign_runner::delegate::Platform::at(project.clone(), spool.join("delegations"));
    let setup = Setup {
        platform: &platform,
        engine: &engine,
        world: &Nowhere,
        mends: None,
        call: &call,
        root: &project,
        spool: &spool,
        plan: &plan,
        run: &run_id,
        concurrency,
        waits: false,
        notify: None,
        variables: &[],
        stop: &Stop::default(),
        watch,
    };
    let began = Instant::now();
    let outcome = run::carry_out(&setup).unwrap();
    let took = began.elapsed();
    let undone: Vec<_> = outcome.tasks.iter().filter(|task| task.state != State::Done).collect();
    assert!(undone.is_empty(), "{undone:?}");
    took
}

/// One task after the other, so that nothing is hidden by going on side by side.
fn overhead() {
    let bare = bare_git();
    let clockwork = Clockwork::default();
    let wall = carry_out(&tempfile::tempdir().unwrap(), TASKS, &SHELL, 1, &clockwork);
    let notes = clockwork.0.into_inner().unwrap();
    let agents: Duration =
        notes.values().flatten().filter(|(step, ..)| *step == "ended").map(|(_, _, took)| *took).sum();
    let each = |time: Duration| time.as_secs_f64() * 1000.0 / TASKS as f64;
    let own = each(wall - agents);
    println!("{TASKS} tasks one after the other: {:.1} ms each, of which the agent {:.1} ms", each(wall), each(agents));
    for (from, to) in [
        ("begun", "ended"),
        ("ended", "claimed"),
        ("claimed", "validated"),
        ("validated", "landed"),
        ("landed", "done"),
    ] {
        let mut spans: Vec<f64> = notes
            .values()
            .filter_map(|steps| {
                let at = |name: &str| steps.iter().find(|(step, ..)| *step == name);
                let (start, end) = (at(from)?, at(to)?);
                Some((end.1 - start.1).saturating_sub(end.2).as_secs_f64() * 1000.0)
            })
            .collect();
        spans.sort_by(f64::total_cmp);
        println!("  {from:>9} to {to:<9} {:6.1} ms (median, without the agent)", spans[spans.len() / 2]);
    }
    println!("  git's own steps for the same: {bare:.1} ms");
    println!(
        "overhead of a task: {own:.1} ms, {:.0} % of the limit of {LIMIT_MS} ms, {:.1} times git's own steps",
        100.0 * own / LIMIT_MS,
        own / bare
    );
}

/// What git takes for two working trees, a commit and a landing, called by hand with as few steps as there are.
fn bare_git() -> f64 {
    const ROUNDS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    repository(&project, &SHELL);
    let began = Instant::now();
    for n in 0..ROUNDS {
        let (work, check) = (folder.path().join(format!("w{n}")), folder.path().join(format!("c{n}")));
        git(&project, &["worktree", "add", "-q", "--detach", work.to_str().unwrap(), "HEAD"]);
        std::fs::write(work.join(format!("{n}.txt")), "done").unwrap();
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "work"]);
        let tip = Command::new("git").arg("-C").arg(&work).args(["rev-parse", "HEAD"]).output().unwrap().stdout;
        let tip = String::from_utf8(tip).unwrap();
        git(&project, &["worktree", "add", "-q", "--detach", check.to_str().unwrap(), tip.trim()]);
        git(&project, &["merge", "-q", "--ff-only", tip.trim()]);
        git(&project, &["worktree", "remove", "--force", work.to_str().unwrap()]);
        git(&project, &["worktree", "remove", "--force", check.to_str().unwrap()]);
    }
    began.elapsed().as_secs_f64() * 1000.0 / ROUNDS as f64
}

/// The processors' time of this process so far, and of its children that have ended, in seconds.
fn processor_time() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap() / 100.0;
    (ticks(11) + ticks(12), ticks(13) + ticks(14))
}

/// Where agents note what they took.
const NOTES: &str = "notes";

/// What agents have noted together, in seconds; nothing, if they do not know.
fn noted(folder: &TempDir) -> f64 {
    let notes = std::fs::read_dir(folder.path().join(NOTES)).unwrap();
    notes.map(|note| std::fs::read_to_string(note.unwrap().path()).unwrap().parse::<f64>().unwrap()).sum()
}

/// How much of the processors' time an agent takes where nobody has an eye on it, and what it notes of that.
fn alone(agent: &Agent) -> (f64, f64) {
    const ROUNDS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent"), agent.text).unwrap();
    std::fs::create_dir(folder.path().join(NOTES)).unwrap();
    let before = processor_time().1;
    for n in 0..ROUNDS {
        let mut command = Command::new(agent.program);
        command.args(["agent", NOTES]).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::null());
        command.env("COUNTERSIGN_RUN", "R-1").env("COUNTERSIGN_TASK", format!("T-{n}"));
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"{}\n").unwrap();
        assert!(child.wait().unwrap().success());
    }
    let each = |seconds: f64| seconds / ROUNDS as f64;
    (each(processor_time().1 - before), each(noted(&folder)))
}

/// Many tasks side by side: whose the processors' time is. Gives where they were carried out.
fn busy(tasks: usize, agent: &Agent) -> TempDir {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let (folder, (alone, noted_alone)) = (tempfile::tempdir().unwrap(), alone(agent));
    let before = processor_time();
    let wall = carry_out(&folder, tasks, agent, cores, &Clockwork::default()).as_secs_f64();
    let after = processor_time();
    let (own, children) = (after.0 - before.0, after.1 - before.1);
    let noted = noted(&folder) / tasks as f64;
    let slower = if noted_alone > 0.0 { noted / noted_alone } else { 1.0 };
    let (all, agents) = (own + children, alone * slower * tasks as f64);
    let each = |seconds: f64| 1000.0 * seconds / tasks as f64;
    println!(
        "{tasks} tasks with {cores} agents at once ({}): {wall:.1} s, {:.0} tasks a second; processors' time of a task: ours {:.1} ms, \
         git's {:.1} ms, the agent's {:.1} ms",
        agent.program,
        tasks as f64 / wall,
        each(own),
        each(children - agents),
        each(agents),
    );
    let share = |seconds: f64| 100.0 * seconds / all;
    println!(
        "{}: the processors were {:.0} % busy, and of that {:.0} % with agents, {:.0} % with Countersign, {:.0} % with git",
        agent.program,
        100.0 * all / (wall * cores as f64),
        share(agents),
        share(own),
        share(children - agents),
    );
    folder
}
