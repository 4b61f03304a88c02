use crate::work::payload::OrchestratorOutput;
use crate::work::replay::{Replay, bundle};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task goes from `todo` to `in_progress`, from there to `done`; on the way it may be `blocked`, and at any time
    /// until it is finished it may become `failed` or `canceled`. What is finished stays as it is: it may be said
    /// again, by the same owner, and nothing more. Deltas are applied in the order in which they are listed, after the
    /// rows of a handoff bundle if one is given; saying again what is already so is no transition.
    ///
    /// ## Why
    /// `done` means that the work was done by somebody who held its locks. A task that jumps there, or comes back from
    /// there, has a history that nobody can check.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-12", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-12", "status": "done", "owner": "someone else", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// After a bundle in which T-9 is done:
    ///
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-9", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {
    ///       "task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "still at it",
    ///       "delta_id": "d-2"
    ///     },
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-3"},
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-4"},
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static DELTA_TRANSITION_ILLEGAL: OrchestratorOutput = {
        id: "delta-transition-illegal",
        code: InvalidTransition,
        severity: Error,
        summary: "a delta changes a state in a way that the life of a task does not allow",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    if it.record.ledger_delta.is_empty() {
        return;
    }
    let bundle = bundle(it);
    let replay = Replay::new(it.record, bundle.as_deref());
    for (index, delta) in replay.applied() {
        let earlier = replay.delta_before(&delta.task_id, index);
        let row = || replay.row(&delta.task_id).map(|row| (row.status, row.owner.as_str()));
        let before = earlier.map(|(_, earlier)| (earlier.status, earlier.owner.as_str())).or_else(row);
        let Some((from, owner)) = before else { continue };
        let (key, message) = if !from.allows(delta.status) {
            ("status", format!("{} cannot go from {from} to {}", delta.task_id, delta.status))
        } else if from.is_final() && owner.trim() != delta.owner.trim() {
            ("owner", format!("{} is {from}, and its owner cannot change any more", delta.task_id))
        } else {
            continue;
        };
        let help = match from.next() {
            [] => format!("{from} is final; make a new task for new work"),
            next => {
                format!("after {from} may come {}", next.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", "))
            }
        };
        let place = earlier.map(|(earlier, _)| report.place(Pointer::at("/ledger_delta").item(earlier).key("status")));
        let found = report.add(Pointer::at("/ledger_delta").item(index).key(key), message, help);
        if let Some(place) = place {
            found.label(place, format!("{from} from here on"));
        }
    }
}
