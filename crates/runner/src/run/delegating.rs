//! A task that is an action on a platform: approved if that is asked for, carried out once, and concluded from its answer.
//!
//! ```text
//! look ─┬─ ask ──▶ a person is asked, and nothing is held
//!       ├─ rest ─▶ later
//!       └─ act ──▶ claim ─▶ receive ─▶ start ─▶ act ─▶ answer ─▶ conclude ─▶ done, again, or a person is asked
//! ```
//!
//! What is to be done is asked of the ledger each time, so that it does not matter who did the part before.

use super::attempt::{give_up_lease, stopped};
use super::no::No;
use super::{Note, Run, handing};
use crate::agent::Stop;
use crate::delegate::{self, Executor, Looked};
use crate::trouble::Trouble;
use countersign_domain::deciding::Tree;
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::plan::payload::PlannedTask;
use serde_json::{Value, json};

/// How much of what a platform said is recorded.
const SAYS_MAX: usize = 1500;

/// Attempts an action. Says whether it could be begun.
pub(super) fn attempt(run: &Run<'_>, planned: &PlannedTask, number: usize) -> bool {
    let task = planned.id.as_str();
    let later = |text: String| {
        // It is said once, and not every time it is looked at.
        if run.board().is_news(number, &text) {
            run.note(&Note::Flag { task, text: &text });
        }
        false
    };
    let look = || run.desk.look("delegation.task", &run.desk.of_task(task));
    let shown = match look() {
        Ok(shown) => shown,
        Err(_) => {
            // If the ledger takes it to be begun, it is not the ledger that fails.
            let Ok(lease) = claim(run, planned) else { return later("it cannot be looked at now".to_owned()) };
            let no = No::from(look().err().unwrap_or_else(|| "it could not be looked at".to_owned()));
            give_up_lease(run, task, lease, &no);
            return true;
        }
    };
    let reason = shown["reason"].as_str().unwrap_or_default();
    match shown["step"].as_str() {
        Some("rest") => {
            let until = shown["not_before"].as_i64().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
            let until = until.map(|until| format!(" until {until:.0}")).unwrap_or_default();
            later(format!("waits for the platform{until}: {reason}"))
        }
        Some("watch") => match watch(run, task, &shown) {
            // What is seen is in the ledger: it is gone, or waited for on.
            Ok(()) => true,
            Err(no) => later(format!("what stands against it cannot be looked at now: {}", no.reason)),
        },
        Some("ask") => match run.desk.ask("delegation.ask", &run.desk.of_task(task)) {
            Ok(_) => {
                stopped(run, task, reason);
                true
            }
            Err(no) if is_for_good(&no) => match claim(run, planned) {
                // Asking again would be refused again: it is for a person to see why.
                Ok(lease) => {
                    let reason = format!("nobody can be asked whether it may be done: {}", no.reason);
                    give_up_lease(run, task, lease, &No { reason, ..no });
                    true
                }
                Err(_) => later(format!("nobody can be asked: {}", no.reason)),
            },
            Err(no) => later(format!("nobody can be asked now: {}", no.reason)),
        },
        _ => match claim(run, planned) {
            Ok(lease) => {
                // What was begun is brought to its end when the run is stopped; only who has lost the task waits no more.
                let stop = Stop::default();
                run.board().hold(number, lease, stop.clone());
                if let Err(no) = carry_on(run, planned, lease, &stop) {
                    give_up_lease(run, task, lease, &no);
                }
                true
            }
            Err(no) => later(format!("cannot be begun now: {}", no.reason)),
        },
    }
}

/// Whether asking again would be refused again: how it stands, and who else writes, changes; the rest does not.
fn is_for_good(no: &No) -> bool {
    no.code.as_deref().is_some_and(|code| !matches!(code, "INVALID_TRANSITION" | "CONCURRENCY_CONFLICT"))
}

fn claim(run: &Run<'_>, planned: &PlannedTask) -> Result<u64, No> {
    let request = run.desk.of_task(planned.id.as_str());
    // It changes no files, and so it does not matter how they are.
    let answer = run.desk.ask_as(&run.setup.call.actor, Some(Tree::default()), "task.claim", &request)?;
    Ok(answer["lease"].as_u64().unwrap_or(0))
}

fn carry_on(run: &Run<'_>, planned: &PlannedTask, lease: u64, stop: &Stop) -> Result<(), No> {
    let task = planned.id.as_str();
    // Until it was claimed, somebody else may have acted.
    let look = || run.desk.look("delegation.task", &run.desk.of_task(task)).map_err(No::from);
    let mut shown = look()?;
    let mut is_answered = shown["answered"] == true;
    if shown["step"] == "act" {
        let row = run.desk.look("task.show", &run.desk.of_task(task)).map_err(No::from)?;
        let attempt = row["task"]["attempt"].as_u64().unwrap_or(1);
        run.note(&Note::Begun { task, agent: planned.who(), attempt, lease });
        is_answered = match act(run, task, &shown, stop) {
            Ok(()) => true,
            Err(no) => {
                // Another run may have used the instruction up meanwhile: then that is what is concluded.
                let now = look()?;
                if now["step"] != "conclude" {
                    return Err(no);
                }
                shown = now;
                shown["answered"] == true
            }
        };
    }
    let id = shown["instruction_id"].as_str().unwrap_or_default();
    let response = if is_answered { answered(run, id)? } else { Value::Null };
    if response.is_object() {
        let text = |pointer: &str| response.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        let (status, entry) = (text("/STATUS"), text("/AUDIT_ENTRY_PATH"));
        run.note(&Note::Answered { task, instruction: id, status, entry });
    }
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(lease);
    request["says"] = json!(says(&response));
    let answer = run.desk.ask("delegation.conclude", &request)?;
    let reason = answer["reason"].as_str().unwrap_or_default();
    match answer["status"].as_str() {
        Some("done") => {
            run.note(&Note::Done { task, assurance: "verified" });
            handing::give(run, planned);
        }
        Some("todo") => run.note(&Note::Again { task, reason }),
        _ => stopped(run, task, reason),
    }
    Ok(())
}

/// Has the instruction carried out, once, whoever began it before.
fn act(run: &Run<'_>, task: &str, shown: &Value, stop: &Stop) -> Result<(), No> {
    let platform = run.setup.platform;
    let kind = shown["executor"].as_str().and_then(ExecutorKind::parse);
    let kind = kind.ok_or_else(|| "its executor is not known here".to_owned())?;
    let executor = platform.executor_until(kind, stop)?;
    let setup = setup(run, task, shown, executor.as_ref());
    match delegate::carry_out(&setup) {
        // What cannot be looked at is not taken for done.
        Ok(delegate::Answered { looked: Looked::Unseen(why), .. }) => {
            Err(No::from(format!("it was answered with success, and could not be looked at: {why}")))
        }
        Ok(_) => Ok(()),
        Err(trouble) => Err(said_no(trouble)),
    }
}

/// Looks at what stands against an action, and changes nothing.
fn watch(run: &Run<'_>, task: &str, shown: &Value) -> Result<(), No> {
    let kind = shown["executor"].as_str().and_then(ExecutorKind::parse);
    let kind = kind.ok_or_else(|| "its executor is not known here".to_owned())?;
    let executor = run.setup.platform.executor_until(kind, &run.stop)?;
    let setup = setup(run, task, shown, executor.as_ref());
    setup.watch_again(shown["instruction_id"].as_str().unwrap_or_default()).map_err(said_no)
}

fn said_no(trouble: Trouble) -> No {
    match trouble {
        Trouble::Refused(failure) => No::from(*failure),
        Trouble::Failed(why) => No::from(why),
    }
}

fn setup<'a>(run: &'a Run<'_>, task: &'a str, shown: &'a Value, executor: &'a dyn Executor) -> delegate::Setup<'a> {
    let platform = run.setup.platform;
    delegate::Setup {
        engine: run.setup.engine,
        world: run.setup.world,
        call: run.setup.call,
        root: &platform.root,
        locks: &platform.locks,
        executor,
        file: task,
        text: shown["instruction"].as_str().unwrap_or_default(),
        of_task: Some((run.setup.run, task)),
    }
}

/// The response to an instruction, with its audit entry written whoever should have done so; nothing, if there is none.
fn answered(run: &Run<'_>, id: &str) -> Result<Value, No> {
    let shown = run.desk.look("delegation.show", &json!({ "instruction_id": id })).map_err(No::from)?;
    let document = |name: &str| serde_json::from_str::<Value>(shown[name].as_str().unwrap_or_default()).ok();
    if let Some(entry) = document("audit_entry") {
        delegate::entry::write(&run.setup.platform.root, &entry)?;
    }
    Ok(document("response").unwrap_or_default())
}

/// What a response says that is no success.
fn says(response: &Value) -> Option<String> {
    let failure = response["FAILURE_DETAILS"]["ERROR_MESSAGE"].as_str().map(str::to_owned);
    let errors = response["VALIDATION_ERRORS"].as_array().map(|errors| {
        let one = |error: &Value| {
            let text = |name: &str| error[name].as_str().unwrap_or_default();
            format!("{}: {}; {}", text("FIELD"), text("ERROR"), text("EXPECTED"))
        };
        errors.iter().map(one).collect::<Vec<_>>().join(", ")
    });
    let said = failure.or(errors)?;
    let redacted = countersign_contract::scan::redact(&said);
    let said: String = redacted.as_deref().unwrap_or(&said).chars().take(SAYS_MAX).collect();
    Some(said).filter(|said| !said.is_empty())
}
