//! Saying what became of a handoff after it was sent: that who took it is done with it, or what went wrong.

use super::{VIEWS, leading, must_be_begun, needs};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::handoff::event::HANDOFF_NOTED;
use crate::handoff::payload::TraceId;
use crate::handoff::row::{StepRow, trace_key, trace_of};
use crate::ids::RunId;
use countersign_contract::diagnostic::Code;
use countersign_contract::scan::redact;
use countersign_contract::{Int, Name, Text, Untrusted, choice, shape, show};
use serde_json::json;

/// How many different errors are kept of one handoff.
const ERRORS_MAX: usize = 20;

choice! {
    /// What became of a handoff.
    pub enum Became {
        /// Who took it is done with it.
        Processed = "processed",
        /// It could not be taken, or not be worked with.
        Error = "error",
    }
}

shape! {
    /// Say what became of a handoff that was sent to somebody.
    pub closed struct NoteHandoff {
        /// The trace.
        pub trace_id: TraceId,
        /// Who it was sent to.
        pub skill: Name = "programming-pm",
        /// The number of the handoff; the last one that was sent to them, if none is named.
        pub step: Option<Int<1>>,
        /// What became of it.
        pub event: Became = "processed",
        /// What an error is filed under.
        pub code: Option<Name>,
        /// What was wrong.
        pub says: Option<Untrusted<Text<1, 2000>>>,
        /// The run that it belongs to. In an open run only who carries it out says so.
        pub run_id: Option<RunId>,
    }
}

shape! {
    /// What was noted.
    pub struct NoteAnswer {
        /// The trace.
        pub trace_id: String,
        /// The number of the handoff; none, if it was noted before.
        pub step: Option<Int>,
        /// The event; none, if it was noted before.
        pub seq: Option<Int>,
    }
}

impl NoteHandoff {
    fn step<'r>(&self, steps: &'r [StepRow]) -> Option<&'r StepRow> {
        let number = self.step.map(|step| step.get().unsigned_abs());
        let own = |step: &&StepRow| step.target == self.skill.as_str() && number.is_none_or(|it| it == step.step);
        steps.iter().rev().find(own)
    }
}

impl Command for NoteHandoff {
    const INFO: CommandInfo = CommandInfo {
        id: "handoff.note",
        summary: "Say what became of a handoff: processed, or what went wrong",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: VIEWS,
        refuses: &[
            Code::MissingRequiredInput,
            Code::DependencyNotMet,
            Code::InvalidTransition,
            Code::AuthorizationMissing,
            Code::UntrustedContextBlock,
        ],
        writes: Writes::Events,
    };
    type Answer = NoteAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        needs(self.run_id.as_ref(), self.trace_id.as_str(), seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        must_be_begun(desk)?;
        let row = trace_of(desk.entity(&trace_key(self.trace_id.as_str())));
        let row = row.map(|row| row.of_run(self.run_id.as_ref().map(RunId::as_str)));
        let (skill, trace) = (show(self.skill.as_str()), self.trace_id.as_str());
        let Some(step) = row.as_ref().and_then(|row| self.step(&row.steps)) else {
            let reason = format!("nothing of trace {trace} was sent to `{skill}`");
            let help = "`countersign handoff chain` shows what was sent";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_absent());
        };
        if let Some(run) = &step.run {
            leading::must_receive_for(desk, run)?;
        }
        let actor = desk.moment().actor.clone();
        let mut facts = json!({ "event": self.event, "skill": self.skill, "step": step.step, "trace": trace });
        match self.event {
            Became::Processed => {
                if step.processed.is_some() {
                    return Ok(());
                }
                if step.received.as_ref().map(|it| it.by.as_str()) != Some(actor.as_str()) {
                    let reason = format!("{} was not received by {}", step.says(), show(&actor));
                    return Err(Refusal::new(
                        Code::InvalidTransition,
                        reason,
                        "who received it says that it is processed",
                    ));
                }
            }
            Became::Error => {
                let Some(code) = self.code.as_ref().map(Name::as_str) else {
                    let reason = "it is not said what the error is filed under";
                    return Err(Refusal::new(Code::MissingRequiredInput, reason, "name its code"));
                };
                let known = step.errors.iter().any(|it| it.code == code && it.by == actor);
                if known || step.errors.len() >= ERRORS_MAX {
                    return Ok(());
                }
                facts["code"] = json!(code);
            }
        }
        if let Some(run) = &step.run {
            facts["run"] = json!(run);
        }
        let says = self.says.as_ref().map(|it| it.inspect(|says| redact(says).unwrap_or_else(|| says.to_owned())));
        let happening = Happening { run: step.run.clone(), ..Happening::new(HANDOFF_NOTED, facts) };
        desk.record(happening.with_texts(says.map(Untrusted::new).into_iter().collect()));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> NoteAnswer {
        let event = stored.events.first();
        NoteAnswer {
            trace_id: self.trace_id.as_str().to_owned(),
            step: event.and_then(|event| event.facts["step"].as_u64()).map(Into::into),
            seq: event.map(|event| event.seq.into()),
        }
    }
}
