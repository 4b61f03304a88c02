//! A person decides how it goes on with an instruction that its requester may not go on with.

use super::{CODES, DelegationAnswer, VIEWS, chain, delegation_answer, known};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::DELEGATION_RESOLVED;
use crate::delegation::payload::InstructionId;
use crate::delegation::row::{DelegationRow, EndRow, delegation_key, delegation_of, end_key, end_of};
use crate::delegation::view::{NextStep, next};
use crate::mark;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, Untrusted, choice, shape};
use serde_json::{Value, json};

choice! {
    /// How it goes on.
    pub enum Decision {
        /// Its requester may try again, under a new id.
        Retry = "retry",
        /// It is left.
        Abandon = "abandon",
    }
}

shape! {
    /// Decide how it goes on with an instruction of which a person must: its requester may try again, or leaves it.
    pub closed struct Resolve {
        /// The instruction.
        pub instruction_id: InstructionId,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// How it goes on.
        pub decision: Decision,
        /// Why.
        pub reason: Untrusted<Text<1, 5000>> = "the token was renewed",
    }
}

/// What an answer is about: the instruction, and how it was answered.
pub(crate) fn about(row: &DelegationRow) -> Value {
    let answered = row.answered.as_ref().map(|it| it.seq);
    json!({ "answered": answered, "digest": row.digest, "instruction_id": row.instruction_id })
}

impl Resolve {
    fn seen(&self, seen: &Seen) -> Option<(DelegationRow, EndRow)> {
        let row = delegation_of(seen.so_far(&delegation_key(self.instruction_id.as_str())))?;
        let end = end_of(seen.so_far(&end_key(&row.end))).unwrap_or_default();
        Some((row, end))
    }
}

impl Command for Resolve {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.resolve",
        summary: "Decide how it goes on with an instruction of which a person must",
        may: &[Role::Reviewer],
        invalidates: VIEWS,
        refuses: CODES,
        writes: Writes::Events,
    };
    type Answer = DelegationAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let row = self.seen(seen).map(|(row, _)| row);
        let ends = row.iter().flat_map(|row| [Some(&row.end), row.concern.as_ref()]).flatten();
        let ends: Vec<Need> = ends.map(|end| Need::Entity(end_key(end))).collect();
        ends.into_iter().chain([Need::Entity(delegation_key(self.instruction_id.as_str()))]).collect()
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let (row, end) = self.seen(desk.seen()).unzip();
        let (row, end) = (known(row, &self.instruction_id)?, end.unwrap_or_default());
        let after = next(&row, &end, chain::wrong(desk.seen(), &row), desk.moment().now_ms);
        if after.step != NextStep::Escalate || row.of_task.is_some() {
            let id = &row.instruction_id;
            let reason = if row.of_task.is_some() {
                format!("{id} belongs to a task of a plan, which is answered for itself")
            } else {
                format!("{id} does not wait for a person: {}, because {}", after.step.as_str(), after.reason)
            };
            let help = "`countersign inbox` shows what is asked";
            return Err(Refusal::new(Code::InvalidTransition, reason, help));
        }
        mark::must_be_current(&about(&row), self.shown.as_str(), desk.moment().now_ms, "countersign inbox")?;
        let mut facts = json!({ "decision": self.decision, "end": row.end, "instruction_id": row.instruction_id });
        if let Some(concern) = &row.concern {
            facts["concern"] = json!(concern);
        }
        let reason = Untrusted::new(self.reason.inspect(str::to_owned));
        desk.record(Happening::new(DELEGATION_RESOLVED, facts).with_texts(vec![reason]));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> DelegationAnswer {
        delegation_answer(stored)
    }
}
