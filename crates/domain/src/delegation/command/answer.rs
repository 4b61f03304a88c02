//! Answering an instruction: its audit entry and its response, recorded in one go.

use super::compose::{self, Case, What, lost};
use super::{
    DelegationAnswer, ExecutorKind, Outcome, VIEWS, delegation_answer, happening, known, must_lead, received_needs,
};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::{DELEGATION_ANSWERED, DELEGATION_AUDITED};
use crate::delegation::payload::{
    FailureDetails, InstructionId, PlatformEvidence, PlatformRequest, PlatformResponse, Status, YesNo,
};
use crate::delegation::row::{DelegationRow, delegation_key, delegation_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Name, Text, Untrusted, choice, shape};
use serde_json::{Value, json};

choice! {
    /// Why something that did not succeed may have been done all the same.
    pub enum Doubt {
        /// Nobody knows whether it was done.
        Unknown = "unknown",
        /// A part of it was done.
        Part = "part",
    }
}

shape! {
    /// What an executor did, and what came of it.
    pub closed struct Acted {
        /// What became of it. An invalid request is not acted on.
        pub status: Status = "SUCCESS",
        /// What was sent.
        pub platform_request: PlatformRequest,
        /// What came back. Not there if nothing did.
        pub platform_response: Option<PlatformResponse>,
        /// What is there now, if it succeeded.
        pub platform_evidence: Option<PlatformEvidence>,
        /// What went wrong, if it did not.
        pub failure_details: Option<FailureDetails>,
        /// Whether it may have been done all the same, if it did not succeed.
        pub doubt: Option<Doubt>,
        /// The state that resulted, in words.
        pub resulting_state: Text = "branch fix/rounding is there",
        /// Anything else worth knowing.
        pub completion_notes: Option<Untrusted<Text>>,
    }
}

shape! {
    /// Answer an instruction. Its audit entry and its response are recorded together; a second answer changes nothing.
    pub closed struct Answer {
        /// The instruction.
        pub instruction_id: InstructionId,
        /// The number of the attempt, as it was begun. Not there for an instruction that is not acted on.
        pub attempt: Option<Int>,
        /// The kind of agent that acted; the first that the settings name, or the one that is built in.
        pub agent_type: Option<Name>,
        /// Which one of them.
        pub agent_instance_id: Name = "executor-1",
        /// What it did. Not there for an instruction that is not acted on.
        pub acted: Option<Acted>,
        /// What it saw of its success when it had acted, if it looked: then nobody needs to look again.
        pub seen: Option<Outcome>,
    }
}

impl Answer {
    fn must_fit(&self, row: &DelegationRow) -> Result<(), Refusal> {
        let id = &row.instruction_id;
        match (&self.acted, row.valid) {
            (Some(_), false) => {
                let reason = format!("{id} is invalid, and nothing is done for it");
                Err(Refusal::new(Code::InvalidTransition, reason, "answer it without what was done"))
            }
            (None, true) => {
                let reason = format!("{id} is to be carried out, and it is not said what was done");
                Err(Refusal::new(Code::InvalidTransition, reason, "carry it out first"))
            }
            (None, false) => Ok(()),
            (Some(acted), true) => {
                let attempt = self.attempt.map(|attempt| attempt.get().unsigned_abs());
                if row.started.as_ref().map(|it| it.seq) != attempt || attempt.is_none() {
                    let reason = format!("{id} was taken over by another executor, which answers it");
                    return Err(Refusal::new(Code::ConcurrencyConflict, reason, "wait for its response"));
                }
                if acted.status == Status::InvalidRequest {
                    let reason = format!("{id} was acted on, and so is no invalid request");
                    return Err(Refusal::new(Code::InvalidTransition, reason, "say what came of it"));
                }
                Ok(())
            }
        }
    }

    fn composed(&self, row: &DelegationRow, seen: &Seen, observer: &dyn Observer) -> Result<Value, Refusal> {
        let id = row.instruction_id.as_str();
        let text = |n: usize| seen.text(row.received, n).map(|text| text.inspect(str::to_owned));
        let value = |n: usize| text(n).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let (instruction, header) = (text(0), value(1));
        let header = header.ok_or_else(|| lost("the text", id))?;
        let errors = value(2).unwrap_or_default();
        let errors = errors.as_array().map_or(&[][..], Vec::as_slice);
        let what = match &self.acted {
            Some(acted) => What::Acted(acted),
            None if errors.is_empty() => return Err(lost("what was found wrong", id)),
            None => What::Invalid(errors),
        };
        let case = Case {
            instruction_id: id,
            response_id: &row.response_id,
            audit_entry_id: &row.audit_entry_id,
            action: &row.action,
            header: &header,
            received: row.received_at.parse().ok(),
            begun_ms: row.started.as_ref().and_then(|it| it.at),
            executor: (self.agent_type.as_ref().map(Name::as_str), self.agent_instance_id.as_str()),
        };
        // One that is refused for more than lack of authority cannot stand beside others.
        let context = instruction.filter(|_| row.valid || row.lacks);
        let made = compose::checked(&observer.checker(), &observer.outside(), &case, &what, context.as_deref())?;
        Ok(json!({ "entry": made.entry, "response": made.response, "lag_ms": made.lag_ms }))
    }
}

impl Command for Answer {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.answer",
        summary: "Record what came of an instruction: its audit entry and its response",
        may: &[Role::Orchestrator],
        invalidates: VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = DelegationAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let unread = |why: String| Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`");
        let key = delegation_key(self.instruction_id.as_str());
        let mut seen = Seen::default();
        observer.look(&mut seen, vec![Need::Entity(key.clone())]).map_err(unread)?;
        let row = known(delegation_of(seen.entity(&key)), &self.instruction_id)?;
        if row.answered.is_some() {
            return Ok(Observed::default());
        }
        self.must_fit(&row)?;
        observer.look(&mut seen, vec![Need::Texts(row.received)]).map_err(unread)?;
        let facts = self.composed(&row, &seen, observer)?;
        Ok(Observed { facts, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        received_needs(&self.instruction_id, seen)
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let key = delegation_key(self.instruction_id.as_str());
        let row = known(delegation_of(desk.entity(&key)), &self.instruction_id)?;
        if row.answered.is_some() {
            return Ok(());
        }
        must_lead(&row, desk)?;
        self.must_fit(&row)?;
        let run = row.of_task.as_ref().map(|(run, _)| run.as_str());
        let (entry, response) = (&observed.facts["entry"], &observed.facts["response"]);
        let audited = json!({
            "audit_entry_id": row.audit_entry_id, "checksum": entry["INTEGRITY"]["CHECKSUM"],
            "instruction_id": row.instruction_id, "path": response["AUDIT_ENTRY_PATH"],
            "success": entry["OUTCOME"]["SUCCESS"] == YesNo::Yes.as_str(),
        });
        let text = |document: &Value| vec![Untrusted::new(document.to_string())];
        desk.record(happening(DELEGATION_AUDITED, run, audited).with_texts(text(entry)));
        let mut answered = json!({
            "audit_lag_ms": observed.facts["lag_ms"], "duration_ms": response["EXECUTOR"]["EXECUTION_DURATION_MS"],
            "end": row.end, "instruction_id": row.instruction_id, "response_id": row.response_id,
            "status": response["STATUS"],
        });
        if let Some(concern) = &row.concern {
            answered["concern"] = json!(concern);
        }
        if row.executor == ExecutorKind::DryRun.as_str() {
            answered["dry"] = json!(true);
        } else if row.lacks && row.of_task.is_none() {
            answered["lacks"] = json!(true);
        }
        if let Some(failure) = response["FAILURE_DETAILS"].as_object() {
            answered["error_type"] = failure["ERROR_TYPE"].clone();
            answered["retry_allowed"] = json!(failure["RETRY_ALLOWED"] == YesNo::Yes.as_str());
            let after = failure.get("RETRY_AFTER").and_then(|after| after.as_str()?.parse::<u64>().ok());
            if let Some(after) = after {
                answered["retry_after"] = json!(after);
            }
            if let Some(doubt) = self.acted.as_ref().and_then(|acted| acted.doubt) {
                answered["doubt"] = json!(doubt);
            }
        }
        desk.record(happening(DELEGATION_ANSWERED, run, answered).with_texts(text(response)));
        match &self.seen {
            Some(seen) => seen.decide(desk, &self.instruction_id),
            None => Ok(()),
        }
    }

    fn answer(&self, stored: &Answered<'_>) -> DelegationAnswer {
        delegation_answer(stored)
    }
}
