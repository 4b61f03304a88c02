//! Saying that an executor is about to act.

use super::{CODES, DelegationAnswer, VIEWS, delegation_answer, happening, known, must_lead, received_needs};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::delegation::event::DELEGATION_STARTED;
use crate::delegation::payload::InstructionId;
use crate::delegation::row::{delegation_key, delegation_of};
use crate::work::effect::Recovery;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Name, Text, shape};
use serde_json::json;

shape! {
    /// Say that an executor is about to act on an instruction, before it is known how that ends. While it acts nobody
    /// else does.
    pub closed struct Start {
        /// The instruction.
        pub instruction_id: InstructionId,
        /// The place whose lock it holds while it acts: nobody else acts there.
        pub place: Text<1, 200> = "4f0c1a77",
        /// How long it may act, in seconds. It ends itself before that.
        pub seconds: Int<1, 86400> = 300,
        /// What is there before it acts, where that tells what became of it: the commit that a name is at.
        pub before: Option<Name>,
    }
}

shape! {
    /// How an executor is about to act, where an instruction is received and begun in one go.
    pub closed struct Begin {
        /// The place whose lock it holds while it acts: nobody else acts there.
        pub place: Text<1, 200> = "4f0c1a77",
        /// How long it may act, in seconds. It ends itself before that.
        pub seconds: Int<1, 86400> = 300,
        /// What is there before it acts, where that tells what became of it: the commit that a name is at.
        pub before: Option<Name>,
    }
}

impl Command for Start {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.start",
        summary: "Say that an executor is about to act on an instruction",
        may: &[Role::Orchestrator],
        invalidates: VIEWS,
        refuses: CODES,
        writes: Writes::Events,
    };
    type Answer = DelegationAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        received_needs(&self.instruction_id, seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let Self { instruction_id, place, seconds, before } = self.clone();
        Begin { place, seconds, before }.decide(desk, &instruction_id)
    }

    fn answer(&self, stored: &Answered<'_>) -> DelegationAnswer {
        delegation_answer(stored)
    }
}

impl Begin {
    /// Records that somebody is about to act on an instruction that came.
    pub(super) fn decide(&self, desk: &mut Desk, id: &InstructionId) -> Result<(), Refusal> {
        let row = known(delegation_of(desk.entity(&delegation_key(id.as_str()))), id)?;
        must_lead(&row, desk)?;
        if let Some(answered) = &row.answered {
            let reason = format!("{id} was answered with {}, and is acted on once", answered.status);
            return Err(Refusal::new(Code::InvalidTransition, reason, "`delegation.show` has the response"));
        }
        if !row.valid {
            let reason = format!("{id} is invalid, and nothing is done for it");
            return Err(Refusal::new(Code::InvalidTransition, reason, "answer it with what is wrong"));
        }
        let now = desk.moment().now_ms;
        if let Some(other) = &row.started {
            // Whoever held the lock of this place and left no answer is gone: it is held by the one who asks.
            let gone = other.place == self.place.as_str();
            if !gone && now < other.until {
                let left = (other.until - now + 999) / 1000;
                let reason = format!("{id} is being acted on, and may be for {left} s");
                return Err(Refusal::new(Code::ConcurrencyConflict, reason, "wait for its response, or try then"));
            }
        }
        // What a later attempt finds may be somebody else's.
        let before = match &row.started {
            Some(first) => first.before.as_deref(),
            None => self.before.as_ref().map(Name::as_str),
        };
        let first = row.started.as_ref().map_or(Some(now), |first| first.first);
        let mut facts = json!({
            "again": row.started.is_some(), "at": now, "first": first.unwrap_or(row.received_ms().unwrap_or(now)),
            "place": self.place, "instruction_id": id, "recovery": Recovery::Probe.as_str(),
            "until": now + self.seconds.get() * 1000,
        });
        if let Some(before) = before {
            facts["before"] = json!(before);
        }
        let run = row.of_task.as_ref().map(|(run, _)| run.as_str());
        desk.record(happening(DELEGATION_STARTED, run, facts));
        Ok(())
    }
}
