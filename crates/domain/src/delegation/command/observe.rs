//! Saying what somebody saw who looked at the platform and changed nothing.

use super::{CODES, DelegationAnswer, VIEWS, delegation_answer, happening, known, must_lead, received_needs};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::delegation::event::DELEGATION_OBSERVED;
use crate::delegation::payload::{InstructionId, Status};
use crate::delegation::row::{delegation_key, delegation_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::scan::redact;
use countersign_contract::{Text, Untrusted, choice, shape};
use serde_json::json;

choice! {
    /// What was looked at.
    pub enum About {
        /// Whether what was answered with success is there, as it was asked for.
        Outcome = "outcome",
        /// Whether what stood against it still does.
        Constraint = "constraint",
    }
}

shape! {
    /// Say what was seen of an instruction's outcome, or of what stands against it. A requester goes on only when it was looked
    /// whether a success is one, and tries again only when what stood against it is gone.
    pub closed struct Observe {
        /// The instruction.
        pub instruction_id: InstructionId,
        /// What was looked at.
        pub about: About = "outcome",
        /// Whether it is so: the outcome is there, or the constraint is.
        pub holds: bool,
        /// What was seen.
        pub says: Untrusted<Text<1, 2000>> = "branch fix/rounding is at the commit",
    }
}

shape! {
    /// What whoever acted saw of the outcome when it was done.
    pub closed struct Outcome {
        /// Whether it is there, as it was asked for.
        pub holds: bool,
        /// What was seen.
        pub says: Untrusted<Text<1, 2000>> = "branch fix/rounding is at the commit",
    }
}

impl Outcome {
    /// Records what was seen of an instruction that was answered.
    pub(super) fn decide(&self, desk: &mut Desk, id: &InstructionId) -> Result<(), Refusal> {
        let Self { holds, says } = self.clone();
        Observe { instruction_id: id.clone(), about: About::Outcome, holds, says }.decide(desk, &Observed::default())
    }
}

impl Command for Observe {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.observe",
        summary: "Say what was seen of an instruction's outcome, or of what stands against it",
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
        let key = delegation_key(self.instruction_id.as_str());
        let row = known(delegation_of(desk.entity(&key)), &self.instruction_id)?;
        must_lead(&row, desk)?;
        let status = row.answered.as_ref().map(|it| it.status.as_str());
        let wanted = match self.about {
            About::Outcome => Status::Success,
            About::Constraint => Status::Blocked,
        };
        if status != Some(wanted.as_str()) {
            let (id, about) = (&row.instruction_id, self.about);
            let reason = format!("the {about} of {id} is looked at when it was answered with {wanted}, and it was not");
            return Err(Refusal::new(Code::InvalidTransition, reason, "`delegation.show` has how it stands"));
        }
        // What was found stays so for the requester; what is there later is not what came of it.
        if self.about == About::Outcome && row.found.as_ref().is_some_and(|found| found.holds) {
            return Ok(());
        }
        let facts = json!({
            "about": self.about, "end": row.end, "holds": self.holds, "instruction_id": row.instruction_id,
        });
        let says = self.says.inspect(|says| redact(says).unwrap_or_else(|| says.to_owned()));
        let run = row.of_task.as_ref().map(|(run, _)| run.as_str());
        desk.record(happening(DELEGATION_OBSERVED, run, facts).with_texts(vec![Untrusted::new(says)]));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> DelegationAnswer {
        delegation_answer(stored)
    }
}
