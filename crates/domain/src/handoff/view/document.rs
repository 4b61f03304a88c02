//! A handoff as it was sent.

use super::StepShown;
use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::handoff::payload::TraceId;
use crate::handoff::row::{StepRow, TraceRow, trace_key, trace_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, List, Untrusted, shape};

shape! {
    /// A handoff of a trace, as it was sent.
    pub closed struct ShowHandoff {
        /// The trace.
        pub trace_id: TraceId,
        /// The number of the handoff; the last one, if none is named.
        pub step: Option<Int<1>>,
    }
}

shape! {
    /// A handoff, as it was sent.
    pub struct DocumentShown {
        /// Who handed it to whom, and when.
        pub step: StepShown,
        /// The document; absent, if it was erased.
        pub document: Option<Untrusted<String>>,
        /// The SHA-256 of its payload; absent, if it was erased.
        pub payload_hash: Option<String>,
        /// What was taken out of it and is kept elsewhere, as JSON pointers.
        pub taken: List<String>,
    }
}

impl ShowHandoff {
    fn step<'r>(&self, row: &'r TraceRow) -> Option<&'r StepRow> {
        match self.step {
            Some(number) => row.step(number.get().unsigned_abs()),
            None => row.steps.last(),
        }
    }
}

impl View for ShowHandoff {
    const INFO: ViewInfo = ViewInfo { id: "handoff.show", summary: "A handoff, as it was sent" };
    type Shown = DocumentShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let key = trace_key(self.trace_id.as_str());
        let row = trace_of(seen.so_far(&key));
        let texts = row.as_ref().and_then(|row| self.step(row)).map(|step| Need::Texts(step.sent));
        texts.into_iter().chain([Need::Entity(key)]).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<DocumentShown, Refusal> {
        let row = super::trace(seen, self.trace_id.as_str())?;
        let Some(step) = self.step(&row) else {
            let reason = format!("trace {} has {} handoffs, and not that one", row.trace, row.steps.len());
            return Err(Refusal::new(Code::DependencyNotMet, reason, "name one of them").of_absent());
        };
        let said = |number: usize| seen.text(step.sent, number);
        let taken = said(2).map(|text| text.inspect(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()));
        Ok(DocumentShown {
            document: said(0).cloned(),
            payload_hash: said(1).map(|text| text.inspect(str::to_owned)),
            taken: taken.unwrap_or_default().into(),
            step: StepShown::of(step.clone(), moment),
        })
    }
}
