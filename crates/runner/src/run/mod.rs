//! Carrying a plan out: agents work, and nothing is done until it is verified.
//!
//! ```text
//!            ┌ claim ─▶ agent ─▶ commit ─▶ submit ─┐
//! ready task ┤                                     ├─▶ validate ─▶ judge ─▶ land ─▶ done
//!            ├ claim, where a person has answered ─┘      └────────┴──── fails: tried again, or a person is asked
//!            └ an action: approved if that is asked for, and carried out once
//! ```
//!
//! Everything that is decided is decided by commands; here it is only looked what to do next, and done. What was begun in
//! the world stands in the ledger before anybody waits for it, so that a runner can be killed at any moment: the next one
//! ends what is left of its agents, and goes on from what the ledger says.
//!
//! **Invariant:** whoever did the work does not run its gates: agents act in their own names, gates in that of who leads.
//! **Invariant:** one task lands at a time; of those that wait to land, the one that comes first in the plan's fixed order.
//! **Invariant:** what waits for a person holds nothing up but itself and what depends on it.
//! **Absent on purpose:** terminals. Whoever looks on is told by [`Watch`].

mod agent_at_work;
mod alone;
pub(crate) mod answering;
mod around;
mod attempt;
mod board;
mod branch;
mod checking;
mod checkouts;
mod contents;
mod delegating;
mod desk;
mod effect;
mod flags;
mod folder;
mod gates;
mod ground;
mod handing;
mod judging;
mod kept;
mod landing;
mod life;
mod looking_on;
mod mending;
mod no;
mod notice;
mod peering;
mod pinned;
mod programs;
mod rechecking;
mod recover;
mod scripts;
mod settings;
mod spending;
mod unseen;
mod validating;
mod vouched;
mod watch;
mod work;
mod works;

pub use board::{Row, State};
pub use mending::Mends;
pub use spending::{Spent, UsedUp};
pub use watch::{Note, Watch};

use crate::agent::Stop;
use crate::delegate::Platform;
use crate::trouble::Trouble;
use board::Board;
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::{Plan, PlannedTask};
use countersign_engine::{Call, Engine, World};
use desk::Desk;
use ground::Ground;
use serde_json::json;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often it is looked whether somebody else has changed something, while nothing else wakes the runner.
const TICK: Duration = Duration::from_millis(500);

/// The folder for pictures, below that of the run.
const PICTURES: &str = "pictures";

/// What a run is carried out with.
pub struct Setup<'a> {
    /// The ledger.
    pub engine: &'a Engine,
    /// What can be seen of the project.
    pub world: &'a dyn World,
    /// What mends the loose answers of validators; if nothing does, they count for nothing.
    pub mends: Option<&'a dyn Mends>,
    /// Who leads.
    pub call: &'a Call,
    /// The project's folder.
    pub root: &'a Path,
    /// Where files of attempts are kept while they run, and pictures for good.
    pub spool: &'a Path,
    /// The plan.
    pub plan: &'a Plan,
    /// The run.
    pub run: &'a str,
    /// How many agents work at once.
    pub concurrency: usize,
    /// Whether to wait for people, when nothing else is left to do.
    pub waits: bool,
    /// What is run when a person is asked.
    pub notify: Option<&'a [String]>,
    /// What actions are carried out with.
    pub platform: &'a Platform,
    /// Variables for every agent.
    pub variables: &'a [(String, String)],
    /// Asks it to stop.
    pub stop: &'a Stop,
    /// Who looks on.
    pub watch: &'a dyn Watch,
}

/// How a run came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Every task is done, failed or canceled.
    Finished,
    /// What is left waits for a person.
    Waits,
    /// What is left depends on what will never be done, and nobody is asked about it.
    Stuck,
    /// It was asked to stop.
    Stopped,
    /// A budget is used up.
    Spent(UsedUp),
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it came to its end.
    pub end: End,
    /// The tasks as they stand, in the order of the plan.
    pub tasks: Vec<Row>,
    /// How long it took this time.
    pub took: Duration,
}

/// What all threads of a run share.
struct Run<'a> {
    setup: &'a Setup<'a>,
    desk: Desk<'a>,
    ground: Ground,
    board: Mutex<Board>,
    /// Rung when something has changed.
    bell: Condvar,
    /// Asks the agents of this run to stop.
    stop: Stop,
    landing: landing::Queue,
    handing: handing::Turns,
    beside: folder::Beside,
    /// The commits that somebody answers for.
    vouched: vouched::Vouched,
    /// The branch that work lands on. None where there is no repository.
    branch: Option<String>,
    /// How git reads and writes files.
    settings: settings::Settings,
    began: Instant,
}

impl Run<'_> {
    fn board(&self) -> MutexGuard<'_, Board> {
        // A thread that panicked has changed nothing halfway: rows are replaced as a whole.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, note: &Note<'_>) {
        self.setup.watch.note(note);
    }
}

/// Whether a plan can be carried out in a project at all, before anything is begun.
///
/// # Errors
/// There is a repository, and agents cannot work in it; or there is none, and the plan asks for what only a repository can
/// show; or something is pinned, or an agent started or something checked with something, that is not there; or work could not
/// land; or nobody could ask its judge. The error says what to do.
pub fn ready(root: &Path, plan: &Plan) -> Result<(), String> {
    let ground = Ground::of(root, "")?;
    if ground.trees().is_none()
        && let Some((task, criterion, what)) = plan.tasks.iter().find_map(needs_repository)
    {
        return Err(format!(
            "criterion {criterion} of {task} asks for `{what}`, which can be decided in a git repository alone; make one \
             with `git init` and a first commit, or leave that out"
        ));
    }
    pinned::must_be_there(&ground, plan)?;
    scripts::must_be_there(&ground, plan)?;
    programs::must_be_there(&ground, plan)?;
    unseen::must_land(&ground, plan)?;
    judging::ready(plan)
}

/// What a task asks for that only a repository can show, and in which criterion.
fn needs_repository(planned: &PlannedTask) -> Option<(&str, usize, &'static str)> {
    planned.acceptance.iter().enumerate().find_map(|(n, criterion)| {
        let what = if criterion.pin.iter().any(|pins| !pins.is_empty()) {
            "pin"
        } else if criterion.red_before_green == Some(true) {
            "red_before_green"
        } else if machine_checks(criterion).any(|check| check.diff.is_some()) {
            "diff"
        } else {
            return None;
        };
        Some((planned.id.as_str(), n + 1, what))
    })
}

/// Carries a run out, as far as it goes without people, or to its end.
///
/// # Errors
/// Who asks may not go on with the run, or the ledger or the repository cannot be used. What was begun is as it stands in the
/// ledger.
pub fn carry_out(setup: &Setup<'_>) -> Result<Outcome, Trouble> {
    let alone = alone::Alone::of(setup.spool, setup.run)?;
    let desk = Desk::new(setup.engine, setup.world, setup.call, setup.run);
    let ground = Ground::of(setup.root, setup.run)?;
    let (commit, told) = (desk.began_at()?, desk.began_with()?);
    let began = commit.clone().map_or_else(|| ground.head(), |commit| Ok(Some(commit)))?;
    let settings = settings::Settings::of(ground.layout(), told.clone())?;
    let noted = desk.began_on()?;
    let branch = noted.clone().or_else(|| branch::now(ground.layout()));
    // What the run starts from is noted once, before anybody works.
    let base = json!({
        "commit": began.as_ref().filter(|_| commit.is_none()),
        "branch": branch.as_ref().filter(|_| noted.is_none()),
        "settings": settings.before().filter(|_| told.is_none()),
    });
    let vouched = vouched::Vouched::since(began);
    let run = Run {
        board: Mutex::new(Board::new(setup.plan)),
        landing: landing::Queue::of(setup.plan),
        handing: handing::Turns::of(setup.plan),
        beside: folder::Beside::default(),
        bell: Condvar::new(),
        stop: Stop::default(),
        branch,
        began: Instant::now(),
        setup,
        desk,
        ground,
        vouched,
        settings,
    };
    let goes_on = run.desk.look("run.show", &run.desk.of_run())?["status"] == "open";
    let before = run.desk.own_row()?.led_by;
    if goes_on {
        run.desk.lead(setup.plan.budgets.as_ref(), &base)?;
    }
    run.note(&Note::Led);
    if goes_on {
        tell_before(&run);
    }
    recover::recover(&run, before.as_deref())?;
    run.board().catch_up(&run.desk)?;
    let waiting = run.board().rows();
    let end = std::thread::scope(|scope| {
        if goes_on {
            scope.spawn(|| notice::tell_waiting(&run, &waiting));
        }
        lead(&run, scope)
    });
    run.ground.sweep();
    run.board().catch_up(&run.desk)?;
    if end == Ok(End::Finished) {
        run.ground.forget();
        kept::end(&run);
        alone.end();
    }
    if goes_on {
        run.desk.lead_no_more()?;
    }
    let tasks = run.board().rows();
    Ok(Outcome { end: end?, tasks, took: run.began.elapsed() })
}

/// Says what whoever begins the work should know of before. Nothing that fails here keeps anybody from working.
fn tell_before(run: &Run<'_>) {
    let rows = {
        let mut board = run.board();
        board.catch_up(&run.desk).map_or_else(|_| Vec::new(), |()| board.rows())
    };
    let is_over = |task: &PlannedTask| {
        let mut over = rows.iter().filter(|row| matches!(row.state, State::Done | State::Failed | State::Canceled));
        over.any(|row| row.task == task.id.as_str())
    };
    let left: Vec<&PlannedTask> = run.setup.plan.tasks.iter().filter(|task| !is_over(task)).collect();
    for text in unseen::told(&run.ground, run.setup.plan, &left) {
        run.note(&Note::Told { text: &text });
    }
}

/// Gives tasks out until there is nothing left to give.
fn lead<'scope, 'env>(run: &'scope Run<'env>, scope: &'scope std::thread::Scope<'scope, 'env>) -> Result<End, String> {
    let budgets = run.setup.plan.budgets.as_ref();
    let attempts = budgets.and_then(|it| it.attempts.as_ref()).map(|limit| limit.get().unsigned_abs());
    let mut spent = None;
    loop {
        if run.setup.stop.is_asked() {
            run.stop.stop();
        }
        let so_far = spending::so_far(run)?;
        run.note(&Note::Tick { spent: &so_far });
        if spent.is_none() {
            spent = spending::over(run, &so_far);
            if spent.is_some() {
                run.stop.stop();
            }
        }
        run.desk.settle_due()?;
        let mut board = run.board();
        board.catch_up(&run.desk)?;
        board.call_off();
        peering::tell(run, &mut board);
        while !run.stop.is_asked()
            && let Some(task) = board.pick(run.setup.concurrency, attempts)
        {
            scope.spawn(move || {
                let after = attempt::attempt(run, task);
                let mut board = run.board();
                board.back(task, after);
                run.bell.notify_all();
            });
        }
        if board.running() == 0 {
            let end = if run.setup.stop.is_asked() {
                Some(End::Stopped)
            } else if let Some(spent) = spent.take() {
                Some(End::Spent(spent))
            } else if board.is_finished() {
                Some(End::Finished)
            } else if let Some(limit) = attempts.filter(|limit| board.would_begin() && board.attempts() >= *limit) {
                // What had been begun went on to its end.
                Some(End::Spent(spending::no_attempts(board.attempts(), limit)))
            } else if board.is_stuck() {
                Some(End::Stuck)
            } else if !board.has_hope() && !run.setup.waits {
                Some(End::Waits)
            } else {
                None
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
        if !board.has_hope() && board.running() == 0 {
            let waiting = board.waiting();
            run.note(&Note::Waiting { tasks: &waiting });
        }
        let waited = run.bell.wait_timeout(board, TICK);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
