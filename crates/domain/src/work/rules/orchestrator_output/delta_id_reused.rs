use crate::work::payload::{LedgerDelta, OrchestratorOutput};
use crate::work::places::Firsts;
use countersign_contract::diagnostic::{Diagnostic, Pointer};
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Two deltas with one `delta_id` are the same delta. A repeated one is legal and is not applied again; one that
    /// says something else is refused. Turns that are given with this one count as well.
    ///
    /// ## Why
    /// The id is how a replay is told from a change. If it can mean two things, one of them is silently dropped.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-13", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json with orchestrator_output
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-7"}
    ///   ]
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-13", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-7"}
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
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ]
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-13", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ]
    /// }
    /// ```
    pub static DELTA_ID_REUSED: OrchestratorOutput = {
        id: "delta-id-reused",
        code: LedgerInconsistent,
        severity: Error,
        summary: "two different deltas have one id",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let deltas = &it.record.ledger_delta;
    for (later, first) in Firsts::new(deltas.len(), |index| deltas[index].delta_id.as_str()).repeats() {
        if deltas[later] != deltas[first] {
            let place = report.place(Pointer::at("/ledger_delta").item(first));
            add(&deltas[later], later, report).label(place, "first here, with other content");
        }
    }
    if it.others.is_empty() {
        return;
    }
    for (index, delta) in deltas.iter().enumerate() {
        let id = delta.delta_id.as_str();
        let turn = it.other::<OrchestratorOutput>(&OrchestratorOutput::name_of_delta(&it.record.run_id, id));
        let known =
            turn.and_then(|turn| turn.ledger_delta.iter().find(|known| known.delta_id == delta.delta_id).cloned());
        if known.is_some_and(|known| known != *delta) {
            add(delta, index, report);
        }
    }
}

fn add<'r>(delta: &LedgerDelta, index: usize, report: &'r mut Report) -> &'r mut Diagnostic {
    let message = format!("delta `{}` was given before with other content", show(delta.delta_id.as_str()));
    let pointer = Pointer::at("/ledger_delta").item(index).key("delta_id");
    report.add(pointer, message, "give every change an id of its own")
}
