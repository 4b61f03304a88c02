//! Sending a handoff: what goes to whom is recorded, with the document, before anybody can act on it.

use super::kept::{self, KeptFile};
use super::leading;
use super::reading::Reading;
use super::{VIEWS, looked_up, must_be_begun, needs, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::handoff::event::HANDOFF_SENT;
use crate::handoff::location;
use crate::handoff::noting::{has_note, note, payload_hash};
use crate::handoff::payload::{EventType, TraceId, UniversalHandoff};
use crate::handoff::route::{Barred, Onward, bar, route};
use crate::handoff::row::{STEPS_MAX, StepRow, trace_key, trace_of};
use crate::handoff::tally::Tally;
use crate::handoff::{budget, measure};
use crate::ids::RunId;
use crate::project::Payload;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Form, Int, List, SIZE_MAX, Text, Untrusted, fix, parse, shape};
use serde_json::{Value, json};

shape! {
    /// Send a handoff on its way, if it may pass and does not go in a circle.
    pub closed struct SendHandoff {
        /// The trace that the document names.
        pub trace_id: TraceId,
        /// The name of the file that the document came from.
        pub file: Option<Text<1, 1000>>,
        /// The universal handoff as it was written.
        pub handoff: Payload = UniversalHandoff::example().to_string(),
        /// What was taken out of it and is kept elsewhere, as JSON pointers.
        pub taken: Option<List<Text<1, 1000>, 0, 1000>>,
        /// The files that hold it, as its sender sees them. Who receives it compares them.
        pub kept: Option<List<KeptFile, 0, 100>>,
        /// The run that hands its work on by it. Only who carries it out may say so, or a person.
        pub run_id: Option<RunId>,
    }
}

shape! {
    /// What was sent.
    pub struct SendAnswer {
        /// The event; none, if just this was sent before.
        pub seq: Option<Int>,
        /// The trace.
        pub trace_id: String,
        /// The number of the handoff in its trace.
        pub step: Option<Int>,
        /// From the workflow that began to the source, as the ledger knows it.
        pub chain: Option<List<String>>,
        /// Who takes over.
        pub target: Option<String>,
        /// How many tokens it has.
        pub tokens: Option<Int>,
        /// Whether the document says that it was sent; there may be no room for that.
        pub noted: Option<bool>,
    }
}

/// The document as it goes: with the notes that it was found valid and sent, if there is room for them.
fn outgoing(reading: &Reading, observer: &dyn Observer, written: &str, source: &str) -> (String, bool) {
    let mut value = reading.value.clone();
    let (now, checker) = (observer.outside().now, observer.checker());
    let put =
        |value: &mut Value, what: EventType| now.is_some_and(|now| note(value, what, source, now, checker.settings));
    // That it was checked before it goes is noted too, if there is room for both.
    let mut both = value.clone();
    let whole = !has_note(&value, EventType::Validated)
        && put(&mut both, EventType::Validated)
        && put(&mut both, EventType::Transmitted);
    let noted = if whole {
        value = both;
        true
    } else {
        put(&mut value, EventType::Transmitted)
    };
    let text = if noted { fix::write(&value, written, reading.form) } else { written.to_owned() };
    (text, noted)
}

fn tokens_of(text: &str, form: Form, observer: &dyn Observer) -> usize {
    let Ok(document) = parse(text, form, SIZE_MAX) else { return 0 };
    let encoding = budget::encoding(observer.checker().settings);
    Tally::new(document.root(), measure::size(document.root()), encoding).exact()
}

impl SendHandoff {
    fn taken(&self) -> String {
        let taken = self.taken.as_deref().unwrap_or_default();
        taken.iter().map(Text::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl Command for SendHandoff {
    const INFO: CommandInfo = CommandInfo {
        id: "handoff.send",
        summary: "Send a handoff on its way",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = SendAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let text = self.handoff.inspect(str::to_owned);
        let reading = Reading::of(observer, self.file.as_ref().map(Text::as_str), &text)?;
        let Some(body) = reading.body() else { return Ok(Observed::default()) };
        let trace = self.trace_id.as_str();
        if body.trace_id != self.trace_id {
            let reason = format!("the document is of trace {}, and {trace} was named", body.trace_id.as_str());
            return Err(Refusal::new(Code::CorrelationMismatch, reason, "name the trace of the document"));
        }
        let (source, target, made) = (body.source.skill.as_str(), body.target.skill.as_str(), body.timestamp.as_str());
        let hash = payload_hash(&reading.value);
        let (mut seen, row) = looked_up(observer, trace)?;
        let steps = row.as_ref().map(|row| row.steps.as_slice()).unwrap_or_default();
        let run = self.run_id.as_ref().map(RunId::as_str);
        let is_alike =
            |it: &&StepRow| it.source == source && it.target == target && it.made == made && it.run.as_deref() == run;
        let alike = steps.iter().rev().find(is_alike);
        let before = match alike {
            Some(step) => match text_of(observer, &mut seen, step.sent, 1)? {
                Some(sent) => (sent == hash).then_some(step.step),
                // Whether it is the same cannot be told, and what was erased is not brought back by the way.
                None => {
                    let reason = format!("the text of {} was erased after it was sent", step.says());
                    return Err(Refusal::new(Code::DependencyNotMet, reason, "have its source make it anew"));
                }
            },
            None => None,
        };
        let (document, noted) = outgoing(&reading, observer, &text, source);
        let kept = body.payload.files().iter().map(|file| file.path.as_str()).filter(|path| location::is_kept(path));
        let kept: Vec<String> = kept.map(kept::name).collect();
        let sums = kept::rows(self.kept.as_deref().unwrap_or_default(), &kept);
        let chain: Vec<&str> = body.chain().iter().map(|name| name.as_str()).collect();
        let facts = json!({
            "approved": body.meta.user_approved == Some(true),
            "before": before,
            "document": document,
            "expires_at": body.expires_at.as_ref().map(|it| it.as_str()),
            "hash": hash,
            "kept": kept,
            "made": made,
            "noted": noted,
            "person": observer.is_person(),
            "reasoned": body.meta.handoff_reason.is_some(),
            "source": source,
            "steps": steps.len(),
            "sums": sums,
            "target": target,
            "tokens": tokens_of(&document, reading.form, observer),
            "written": chain,
        });
        Ok(Observed { facts, findings: reading.findings(), ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        needs(self.run_id.as_ref(), self.trace_id.as_str(), seen)
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        must_be_begun(desk)?;
        let (facts, trace) = (&observed.facts, self.trace_id.as_str());
        let row = trace_of(desk.entity(&trace_key(trace)));
        let steps = row.as_ref().map_or(0, |row| row.steps.len());
        let run = self.run_id.as_ref().map(RunId::as_str);
        match run {
            Some(run) => leading::must_speak_for(desk, run, facts["person"] == true)?,
            None => leading::must_be_free(desk, row.as_ref())?,
        }
        if facts["steps"].as_u64() != Some(steps as u64) {
            let reason = format!("another handoff of trace {trace} was sent at the same time");
            let help = "look at it with `countersign handoff chain`, and send this one again if it is still wanted";
            return Err(Refusal::new(Code::ConcurrencyConflict, reason, help));
        }
        if facts["before"].is_u64() {
            return Ok(());
        }
        // In a run its plan is the word of a person.
        if facts["approved"] == true && facts["person"] != true && run.is_none() {
            let reason = "the document says that a person agreed (`user_approved`), and who sends it is none";
            let help = "have it sent by a person: at a terminal, or with a token of an owner or a reviewer";
            return Err(Refusal::new(Code::AuthorizationMissing, reason, help));
        }
        let row = row.map(|row| row.of_run(run));
        let own = row.as_ref().map_or(0, |row| row.steps.len());
        if own >= STEPS_MAX {
            let reason = format!("trace {trace} has {own} handoffs already, which is the most there may be");
            return Err(Refusal::new(Code::CircularHandoff, reason, "ask whether the work gets anywhere"));
        }
        let word = |name: &str| facts[name].as_str().unwrap_or_default();
        let written: Vec<String> = serde_json::from_value(facts["written"].clone()).unwrap_or_default();
        let onward = Onward {
            source: word("source"),
            target: word("target"),
            written: &written,
            reasoned: facts["reasoned"] == true,
            approved: facts["approved"] == true,
        };
        let way = route(row.as_ref(), onward.source, &written).map_err(barred)?;
        if let Some(why) = bar(row.as_ref(), &way, &onward) {
            return Err(barred(why));
        }
        let mut sent = json!({
            "chain": way.chain, "kept": facts["kept"], "made": facts["made"], "noted": facts["noted"],
            "source": onward.source, "step": steps + 1, "target": onward.target, "tokens": facts["tokens"],
            "trace": trace,
        });
        let more = [
            ("after", json!(way.after)),
            ("expires_at", facts["expires_at"].clone()),
            ("run", json!(run)),
            ("sums", facts["sums"].clone()),
        ];
        for (name, value) in more {
            if !value.is_null() && value != json!([]) {
                sent[name] = value;
            }
        }
        let texts = [word("document").to_owned(), word("hash").to_owned(), self.taken()];
        let happening = Happening { run: run.map(str::to_owned), ..Happening::new(HANDOFF_SENT, sent) };
        desk.record(happening.with_texts(texts.map(Untrusted::new).into()));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> SendAnswer {
        let event = stored.events.first();
        let fact = |name: &str| event.map(|event| &event.facts[name]).unwrap_or(&Value::Null);
        let chain: Option<Vec<String>> = serde_json::from_value(fact("chain").clone()).ok();
        SendAnswer {
            seq: event.map(|event| event.seq.into()),
            trace_id: self.trace_id.as_str().to_owned(),
            step: fact("step").as_u64().map(Into::into),
            chain: chain.map(Into::into),
            target: fact("target").as_str().map(str::to_owned),
            tokens: fact("tokens").as_u64().map(Into::into),
            noted: fact("noted").as_bool(),
        }
    }
}

fn barred(barred: Barred) -> Refusal {
    Refusal::new(barred.code, barred.why, barred.help)
}
