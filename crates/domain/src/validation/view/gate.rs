//! How the gates of a task or a promise stand.

use crate::deciding::{Moment, Need, Observer, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::{RunId, TaskId};
use crate::validation::gates::Standing;
use crate::validation::payload::PromiseId;
use crate::validation::row::{PromiseRow, promise_key, promise_of};
use crate::validation::subject::Subject;
use crate::validation::{asking, ground, shown, told};
use crate::work::picking;
use crate::work::row::{task_key, task_of};
use countersign_contract::{Int, List, Map, Untrusted, shape};

shape! {
    /// How the gates of a task or a promise stand.
    pub closed struct GateStatus {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
    }
}

shape! {
    /// A criterion, and what was found about it.
    pub struct GateCriterion {
        /// `AC-n`.
        pub id: String,
        /// What must hold.
        pub description: Untrusted<String>,
        /// What a person is asked about it.
        pub question: Option<Untrusted<String>>,
        /// The kind of evidence that it asks for.
        pub asks: String,
        /// What all validators together found; absent before anybody looked.
        pub status: Option<String>,
    }
}

shape! {
    /// What a validator found.
    pub struct VerdictShown {
        /// Who.
        pub validator: String,
        /// What the results come to.
        pub verdict: String,
        /// The event.
        pub seq: Int,
        /// Why something counts for less than what was said, by criterion.
        pub why: Option<Map<String>>,
        /// The response as it was given.
        pub response: Option<Untrusted<String>>,
    }
}

shape! {
    /// The gates of a task or a promise.
    pub struct GateShown {
        /// The promise.
        pub promise_id: String,
        /// The run that it belongs to.
        pub run_id: Option<String>,
        /// The task that it belongs to.
        pub task_id: Option<String>,
        /// One line.
        pub title: String,
        /// `pending`, `in_progress`, `verified` or `cancelled`.
        pub status: String,
        /// Whether the work may stop.
        pub passed: bool,
        /// The gate that holds it back.
        pub gate: Option<Int>,
        /// Why.
        pub reason: String,
        /// Why what was validated is not what is there any more.
        pub stale: Option<String>,
        /// Whether a person must answer.
        pub waits_for_a_person: bool,
        /// The event that claims that all is done.
        pub claim: Option<Int>,
        /// The commit that was checked out when the claim was made.
        pub commit: Option<String>,
        /// What was validated: a commit, or the hash of contents.
        pub bound: Option<String>,
        /// The criteria.
        pub criteria: List<GateCriterion>,
        /// What validators found.
        pub verdicts: List<VerdictShown>,
        /// Who must still validate.
        pub unvalidated: List<String>,
        /// Who judges.
        pub judge: String,
        /// What the judge said.
        pub judgement: Option<String>,
        /// Why the judge said so.
        pub reasoning: Option<Untrusted<String>>,
        /// The failures that a person accepted.
        pub accepted: List<String>,
        /// Who accepted them.
        pub accepted_by: Option<String>,
        /// What became of the attempt before.
        pub last: Option<String>,
        /// What validators found about the attempt before.
        pub last_responses: List<Untrusted<String>>,
        /// Why the judge rejected the attempt before.
        pub last_reasoning: Option<Untrusted<String>>,
        /// Files that test, as the worker changed them.
        pub test_edits: List<Untrusted<String>>,
        /// What does not fit together in the claim.
        pub flags: List<Untrusted<String>>,
        /// The mark of what is shown here, to be given with an answer.
        pub shown: String,
    }
}

impl GateStatus {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }

    fn row(&self, seen: &Seen) -> Option<PromiseRow> {
        let name = match (&self.promise_id, &self.task_id) {
            (Some(promise), _) => promise.as_str().to_owned(),
            (None, Some(task)) => format!("{}/{task}", picking::run_so_far(self.run_id.as_ref(), seen)?),
            (None, None) => return None,
        };
        promise_of(seen.so_far(&promise_key(&name)))
    }
}

/// The events whose texts say what the criteria of a promise are.
pub(super) fn criteria_needs(row: &PromiseRow, seen: &Seen) -> [Need; 2] {
    [Need::Texts(asking::event_of(row, seen)), Need::Texts(row.made)]
}

/// The criteria of a promise, with what was found about each.
pub(super) fn criteria(row: &PromiseRow, seen: &Seen) -> Vec<GateCriterion> {
    let (found, descriptions) = (row.results(), asking::descriptions(row, seen));
    let seen_any = !row.verdicts.is_empty();
    let shown = row.criteria.iter().enumerate().map(|(n, criterion)| GateCriterion {
        id: criterion.id.clone(),
        description: Untrusted::new(descriptions.get(n).cloned().unwrap_or_default()),
        question: criterion.question.and_then(|n| seen.text(row.made, n).cloned()),
        asks: criterion.asks.as_str().to_owned(),
        status: found.get(n).filter(|_| seen_any).map(|(_, status)| status.as_str().to_owned()),
    });
    shown.collect()
}

impl View for GateStatus {
    const INFO: ViewInfo = ViewInfo { id: "gate.status", summary: "How the gates of a task or a promise stand" };
    type Shown = GateShown;

    fn tree(&self, observer: &dyn Observer, _: &Moment) -> Option<Tree> {
        ground::tree(observer, &self.subject())
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = self.subject().needs(seen);
        if let Some(row) = self.row(seen) {
            let last = row.last.iter().flat_map(|it| it.verdicts.iter().copied().chain(it.judgement));
            let verdicts = row.verdicts.values().map(|it| it.seq).chain(row.judgement.as_ref().map(|it| it.seq));
            needs.extend(
                verdicts.chain(last).map(Need::Texts).chain(criteria_needs(&row, seen)).chain(told::needs(&row)),
            );
        }
        needs
    }

    fn render(&self, seen: &Seen, moment: &Moment, tree: Option<&Tree>) -> Result<GateShown, Refusal> {
        let row = self.subject().promise(seen)?;
        let standing = row.standing();
        let stale = ground::stale(&row, tree).filter(|_| row.status != "cancelled");
        let done = row.status == "verified" && stale.is_none();
        let verdicts = row.verdicts.iter().map(|(validator, verdict)| VerdictShown {
            validator: validator.clone(),
            verdict: crate::validation::verdict::Verdict::of(verdict.results.values().copied()).as_str().to_owned(),
            seq: verdict.seq.into(),
            why: (!verdict.why.is_empty()).then(|| verdict.why.clone().into_iter().collect()),
            response: seen.text(verdict.seq, 0).cloned(),
        });
        let last = row.last.iter().flat_map(|it| it.verdicts.iter()).filter_map(|seq| seen.text(*seq, 0).cloned());
        let task = row.of_task.as_ref().and_then(|(run, task)| task_of(seen.so_far(&task_key(run, task))));
        let (run_id, task_id) = row.of_task.clone().unzip();
        Ok(GateShown {
            promise_id: row.id.clone(),
            run_id,
            task_id,
            title: row.title.clone(),
            status: row.status.clone(),
            passed: done || (standing == Standing::Passed && !row.is_final() && stale.is_none()),
            gate: stale
                .as_ref()
                .map_or_else(|| standing.gate(), |_| Some(2))
                .filter(|_| !done)
                .map(|gate| u64::from(gate).into()),
            reason: stale.clone().unwrap_or_else(|| standing.says()),
            stale: stale.clone(),
            waits_for_a_person: !row.is_final() && row.waits_for_a_person() && stale.is_none(),
            claim: row.claim.map(Int::from),
            commit: row.commit.clone(),
            bound: row.bound.clone(),
            criteria: criteria(&row, seen).into(),
            verdicts: verdicts.collect::<Vec<_>>().into(),
            unvalidated: row.unvalidated().into(),
            judge: row.judge.clone(),
            judgement: row.judgement.as_ref().map(|it| it.verdict.clone()),
            reasoning: row.judgement.as_ref().and_then(|it| seen.text(it.seq, 0).cloned()),
            accepted: row.acceptance.as_ref().map(|it| it.failures.clone()).unwrap_or_default().into(),
            accepted_by: row.acceptance.as_ref().map(|it| it.by.clone()),
            last: row.last.as_ref().map(|it| format!("attempt {}: {}", it.round, it.reason)),
            last_responses: last.collect::<Vec<_>>().into(),
            last_reasoning: row.last.as_ref().and_then(|it| seen.text(it.judgement?, 0).cloned()),
            test_edits: told::told(&row, seen, told::TEST_EDITS).into(),
            flags: told::told(&row, seen, told::FLAGS).into(),
            shown: shown::mark(&row, task.as_ref(), moment.now_ms),
        })
    }
}
