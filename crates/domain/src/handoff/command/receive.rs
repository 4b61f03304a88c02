//! Receiving a handoff: what arrives is what was sent, in time, and at whom it was sent to.

use super::kept::{self, KeptFile};
use super::leading;
use super::reading::Reading;
use super::{VIEWS, looked_up, must_be_begun, needs, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::handoff::event::HANDOFF_RECEIVED;
use crate::handoff::noting::{difference, payload_hash};
use crate::handoff::payload::{HandoffBody, TraceId};
use crate::handoff::row::{StepRow, TraceRow, trace_key, trace_of};
use crate::ids::RunId;
use crate::project::Payload;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, List, Name, Text, Timestamp, choice, shape, show};
use serde_json::json;

choice! {
    /// What becomes of a handoff when it arrives.
    pub enum Arrival {
        Loaded = "loaded",
        IgnoredStale = "ignored_stale",
        HashMismatch = "hash_mismatch",
        Incomplete = "incomplete",
    }
}

shape! {
    /// Receive a handoff that was sent.
    pub closed struct ReceiveHandoff {
        /// The trace.
        pub trace_id: TraceId,
        /// Who receives.
        pub skill: Name = "programming-pm",
        /// The name of the file that arrived.
        pub file: Option<Text<1, 1000>>,
        /// The document that arrived; the one that was sent, if nothing is said.
        pub handoff: Option<Payload>,
        /// The files with what was taken out of it, as far as who receives can read them. Who does not say has not looked.
        pub kept: Option<List<KeptFile, 0, 100>>,
        /// The run that it belongs to. In an open run only who carries it out receives.
        pub run_id: Option<RunId>,
    }
}

shape! {
    /// What arrived.
    pub struct ReceiveAnswer {
        /// `loaded`; anything else is a refusal that begins with its name.
        pub state: Arrival,
        /// The trace.
        pub trace_id: String,
        /// Who received.
        pub skill: String,
        /// The number of the handoff in its trace; none, if it was received before.
        pub step: Option<Int>,
        /// The event; none, if it was received before.
        pub seq: Option<Int>,
    }
}

impl Arrival {
    /// A refusal that begins with the name of what became of it.
    fn refuse(self, code: Code, why: impl std::fmt::Display, help: &str) -> Refusal {
        Refusal::new(code, format!("{}: {why}", self.as_str()), help)
    }
}

fn tampered(why: impl std::fmt::Display) -> Refusal {
    let help = "do not act on it; ask for it again with `countersign handoff show`, which has it as it was sent";
    Arrival::HashMismatch.refuse(Code::IntegrityMismatch, why, help)
}

fn incomplete(gone: &str) -> Refusal {
    let why = format!("{} is gone, and with it what was taken out of the handoff", show(gone));
    let help = "bring it back from where the handoff was sent, or have its source make the handoff anew";
    Arrival::Incomplete.refuse(Code::DependencyNotMet, why, help)
}

fn stale(expired: &str) -> Refusal {
    let why = format!("it expired at {}", show(expired));
    Arrival::IgnoredStale.refuse(Code::SchemaInvalid, why, "have its source make it again from the present state")
}

impl ReceiveHandoff {
    /// Reads a document. One that may not pass because of its age or its hash is answered with what became of it.
    fn read(&self, observer: &dyn Observer, file: Option<&str>, text: &str) -> Result<Reading, Refusal> {
        Reading::of(observer, file, text).map_err(|refusal| {
            let found = |rule: &str| refusal.findings.iter().find(|it| it.rule == rule);
            let state = match (found("payload-hash-mismatch"), found("handoff-expired")) {
                (Some(finding), _) => Some((Arrival::HashMismatch, Code::IntegrityMismatch, finding)),
                (None, Some(finding)) => Some((Arrival::IgnoredStale, refusal.code, finding)),
                (None, None) => None,
            };
            match state {
                Some((state, code, finding)) => {
                    let said = state.refuse(code, &finding.message, &finding.help);
                    Refusal { findings: refusal.findings, ..said }
                }
                None => refusal,
            }
        })
    }

    /// What was taken out of it is there, and what it was when it was sent.
    fn must_be_whole(&self, step: &StepRow) -> Result<(), Refusal> {
        let Some(files) = self.kept.as_deref() else { return Ok(()) };
        match (kept::difference(step, files), kept::gone(step, files)) {
            (Some(changed), _) => Err(tampered(changed)),
            (None, Some(gone)) => Err(incomplete(gone)),
            (None, None) => Ok(()),
        }
    }

    /// The step that is meant: of a document, the one that it is a copy of; else the last one that was sent to who receives,
    /// before all one that waits.
    fn step<'r>(&self, row: &'r TraceRow, body: Option<&HandoffBody>) -> Result<&'r StepRow, Refusal> {
        let skill = self.skill.as_str();
        let Some(body) = body else {
            let mut to_skill = row.steps.iter().rev().filter(|step| step.target == skill);
            let waiting = to_skill.clone().find(|step| step.received.is_none());
            return waiting.or_else(|| to_skill.next()).ok_or_else(|| {
                let sent: Vec<String> = row.steps.iter().map(|step| format!("`{}`", show(&step.target))).collect();
                for_another(skill, &format!("trace {} was handed to {}", row.trace, sent.join(", ")))
            });
        };
        let (source, target) = (body.source.skill.as_str(), body.target.skill.as_str());
        let made = body.timestamp.as_str();
        let alike = |step: &&StepRow| step.source == source && step.target == target && step.made == made;
        let Some(step) = row.steps.iter().rev().find(alike) else {
            let reason = format!(
                "no handoff from `{}` to `{}` made at {made} was sent in trace {}",
                show(source),
                show(target),
                row.trace
            );
            let help = "`countersign handoff chain` shows what was sent";
            return Err(Refusal::new(Code::CorrelationMismatch, reason, help));
        };
        if step.target != skill {
            return Err(for_another(skill, &format!("{} is for somebody else", step.says())));
        }
        Ok(step)
    }
}

fn for_another(skill: &str, why: &str) -> Refusal {
    let reason = format!("{why}, not for `{}`", show(skill));
    Refusal::new(Code::AuthorizationMissing, reason, "only who a handoff was sent to receives it")
}

impl Command for ReceiveHandoff {
    const INFO: CommandInfo = CommandInfo {
        id: "handoff.receive",
        summary: "Receive a handoff that was sent, if it is what was sent",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = ReceiveAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let given = match &self.handoff {
            Some(text) => Some(text.inspect(|text| self.read(observer, self.file.as_ref().map(Text::as_str), text))?),
            None => None,
        };
        let trace = self.trace_id.as_str();
        let body = given.as_ref().and_then(Reading::body);
        if let Some(body) = body.filter(|body| body.trace_id != self.trace_id) {
            let reason = format!("the document is of trace {}, and {trace} was named", body.trace_id.as_str());
            return Err(Refusal::new(Code::CorrelationMismatch, reason, "name the trace of the document"));
        }
        let (mut seen, row) = looked_up(observer, trace)?;
        let Some(row) = row else {
            let help = "its source sends it first: `countersign handoff send`";
            let reason = format!("nothing of trace {trace} was sent by this ledger");
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_absent());
        };
        let row = row.of_run(self.run_id.as_ref().map(RunId::as_str));
        let step = self.step(&row, body)?;
        let document = text_of(observer, &mut seen, step.sent, 0)?;
        let (Some(document), Some(hash)) = (document, text_of(observer, &mut seen, step.sent, 1)?) else {
            let reason = format!("the text of {} was erased after it was sent", step.says());
            return Err(Refusal::new(Code::DependencyNotMet, reason, "have its source make it anew"));
        };
        // What arrived is mostly what was sent to the byte, and then it was read already.
        let is_same = self.handoff.as_ref().is_some_and(|text| text.inspect(|text| text == document));
        let read;
        let sent = match &given {
            Some(given) if is_same => given,
            _ => {
                read = self.read(observer, None, &document)?;
                &read
            }
        };
        if payload_hash(&sent.value) != hash {
            return Err(tampered(format!("the payload in the ledger is not the one of {}", step.says())));
        }
        if let Some(given) = given.as_ref().filter(|_| !is_same) {
            let found = payload_hash(&given.value);
            if found != hash {
                return Err(tampered(format!("the payload that was sent is `{hash}`, and what arrived `{found}`")));
            }
            if let Some(place) = difference(&sent.value, &given.value) {
                return Err(tampered(format!("{} was changed after it was sent", show(&place))));
            }
        }
        let findings = given.as_ref().unwrap_or(sent).findings();
        Ok(Observed { facts: json!({ "sent": step.sent, "step": step.step }), findings, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        needs(self.run_id.as_ref(), self.trace_id.as_str(), seen)
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        must_be_begun(desk)?;
        let row = trace_of(desk.entity(&trace_key(self.trace_id.as_str())));
        let number = observed.facts["step"].as_u64().unwrap_or(0);
        let step = row.as_ref().and_then(|row| row.step(number));
        let Some(step) = step.filter(|step| observed.facts["sent"] == step.sent) else {
            return Err(super::unread(format!("handoff {number} of trace {} is gone", self.trace_id.as_str())));
        };
        let run = step.run.as_deref();
        if let Some(run) = run {
            leading::must_receive_for(desk, run)?;
        }
        if let Some(receipt) = &step.received {
            if receipt.by == desk.moment().actor {
                // Whoever looks at it again acts on the files as they are now.
                return self.must_be_whole(step);
            }
            let reason = format!("{} was received by {} at {}", step.says(), show(&receipt.by), receipt.at);
            return Err(Refusal::new(Code::InvalidTransition, reason, "it is theirs; a handoff is received once"));
        }
        let expires = step.expires_at.as_deref().and_then(Timestamp::parse);
        if let Some(expires) = expires.filter(|it| it.instant().as_millisecond() <= desk.moment().now_ms) {
            return Err(stale(expires.as_str()));
        }
        self.must_be_whole(step)?;
        let mut facts = json!({ "skill": self.skill, "step": number, "trace": self.trace_id });
        if let Some(run) = run {
            facts["run"] = json!(run);
        }
        let run = run.map(str::to_owned);
        desk.record(Happening { run, ..Happening::new(HANDOFF_RECEIVED, facts) });
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ReceiveAnswer {
        let event = stored.events.first();
        ReceiveAnswer {
            state: Arrival::Loaded,
            trace_id: self.trace_id.as_str().to_owned(),
            skill: self.skill.as_str().to_owned(),
            step: event.and_then(|event| event.facts["step"].as_u64()).map(Into::into),
            seq: event.map(|event| event.seq.into()),
        }
    }
}
