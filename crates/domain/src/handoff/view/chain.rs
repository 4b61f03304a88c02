//! Who handed what to whom.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::handoff::payload::TraceId;
use crate::handoff::route::{Barred, Onward, bar, route};
use crate::handoff::row::{KeptRow, StepRow, trace_key, trace_of};
use crate::ids::RunId;
use countersign_contract::{Int, List, Name, Timestamp, shape};

shape! {
    /// Every handoff of a trace; and the chain that one from `source` goes on from.
    pub closed struct ShowChain {
        /// The trace.
        pub trace_id: TraceId,
        /// Who would hand over next.
        pub source: Option<Name>,
        /// To whom.
        pub target: Option<Name>,
        /// Whether a reason is given for it.
        pub reasoned: Option<bool>,
        /// Whether a person agreed to it.
        pub approved: Option<bool>,
        /// The chain that its document names; the recorded one, if nothing is said.
        pub chain: Option<List<Name, 0, 1000>>,
        /// Only what this run has sent.
        pub run_id: Option<RunId>,
    }
}

shape! {
    /// What a file with what was taken out held.
    pub struct KeptShown {
        /// Its name in the handoff.
        pub path: String,
        /// Its SHA-256.
        pub sha256: String,
        /// How many bytes it has.
        pub bytes: Int,
    }
}

impl From<KeptRow> for KeptShown {
    fn from(row: KeptRow) -> Self {
        Self { path: row.path, sha256: row.sha256, bytes: row.bytes.into() }
    }
}

shape! {
    /// One handoff of a trace.
    pub struct StepShown {
        /// Its number.
        pub step: Int,
        /// Who handed over.
        pub source: String,
        /// Who takes over.
        pub target: String,
        /// From the workflow that began to the source.
        pub chain: List<String>,
        /// The step that it goes on from.
        pub after: Option<Int>,
        /// How many tokens it has.
        pub tokens: Int,
        /// The files with what was taken out of it.
        pub kept: List<String>,
        /// What those files held when it was sent, as far as its sender could read them.
        pub sums: List<KeptShown>,
        /// The run that it belongs to.
        pub run_id: Option<String>,
        /// `sent`, `received`, `processed` or `expired`.
        pub status: String,
        /// When the document was made.
        pub made: String,
        /// From when on nobody may act on it.
        pub expires_at: Option<String>,
        /// The event that it was sent by.
        pub sent: Int,
        /// When it was sent.
        pub sent_at: String,
        /// By whom.
        pub sent_by: String,
        /// When it arrived.
        pub received_at: Option<String>,
        /// Who took it.
        pub received_by: Option<String>,
        /// When who took it was done with it.
        pub processed_at: Option<String>,
        /// What went wrong with it after it was sent, by its code.
        pub errors: List<String>,
    }
}

shape! {
    /// The handoffs of a trace.
    pub struct ChainShown {
        /// The trace.
        pub trace_id: String,
        /// The handoffs, in the order in which they were sent.
        pub steps: List<StepShown>,
        /// The chain of a handoff from the source that was named.
        pub next: Option<List<String>>,
        /// Why that source may not hand it on, or not to that target.
        pub barred: Option<String>,
        /// What that is filed under.
        pub code: Option<String>,
    }
}

impl StepShown {
    pub(super) fn of(row: StepRow, moment: &Moment) -> Self {
        let expires = row.expires_at.as_deref().and_then(Timestamp::parse);
        let expired = expires.is_some_and(|it| it.instant().as_millisecond() <= moment.now_ms);
        let status = match (&row.received, expired) {
            (Some(_), _) if row.processed.is_some() => "processed",
            (Some(_), _) => "received",
            (None, true) => "expired",
            (None, false) => "sent",
        };
        let (received_at, received_by) = row.received.map(|it| (it.at, it.by)).unzip();
        Self {
            step: row.step.into(),
            source: row.source,
            target: row.target,
            chain: row.chain.into(),
            after: row.after.map(Into::into),
            tokens: row.tokens.into(),
            kept: row.kept.into(),
            sums: row.sums.into_iter().map(KeptShown::from).collect::<Vec<_>>().into(),
            run_id: row.run,
            status: status.to_owned(),
            made: row.made,
            expires_at: row.expires_at,
            sent: row.sent.into(),
            sent_at: row.sent_at,
            sent_by: row.sent_by,
            received_at,
            received_by,
            processed_at: row.processed.map(|it| it.at),
            errors: row.errors.into_iter().map(|it| it.code).collect::<Vec<_>>().into(),
        }
    }
}

impl View for ShowChain {
    const INFO: ViewInfo = ViewInfo { id: "handoff.chain", summary: "Who handed what to whom in a trace" };
    type Shown = ChainShown;

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        vec![Need::Entity(trace_key(self.trace_id.as_str()))]
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<ChainShown, Refusal> {
        let row = trace_of(seen.entity(&trace_key(self.trace_id.as_str())));
        // A trace in which nothing was sent yet can be begun by anybody.
        let row = match (row, &self.source) {
            (None, Some(_)) => None,
            _ => Some(super::trace(seen, self.trace_id.as_str())?),
        };
        let row = row.map(|row| row.of_run(self.run_id.as_ref().map(RunId::as_str)));
        let way = self.source.as_ref().map(|source| route(row.as_ref(), source.as_str(), &[]));
        let (next, mut barred) = match way {
            None => (None, None),
            Some(Ok(way)) => (Some(way), None),
            Some(Err(barred)) => (None, Some(barred)),
        };
        if let (Some(way), Some(source), Some(target)) = (&next, &self.source, &self.target) {
            let written: Option<Vec<String>> =
                self.chain.as_deref().map(|chain| chain.iter().map(|name| name.as_str().to_owned()).collect());
            let onward = Onward {
                source: source.as_str(),
                target: target.as_str(),
                written: written.as_ref().unwrap_or(&way.chain),
                reasoned: self.reasoned == Some(true),
                approved: self.approved == Some(true),
            };
            barred = bar(row.as_ref(), way, &onward);
        }
        let (barred, code) = barred.map(|Barred { code, why, .. }| (why, code.as_str().to_owned())).unzip();
        let steps = row.map(|row| row.steps).unwrap_or_default();
        let steps: Vec<StepShown> = steps.into_iter().map(|step| StepShown::of(step, moment)).collect();
        let next = next.map(|way| way.chain.into());
        Ok(ChainShown { trace_id: self.trace_id.as_str().to_owned(), steps: steps.into(), next, barred, code })
    }
}
