//! Promises, as their contract has them.

use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::validation::asking;
use crate::validation::payload::PromiseId;
use crate::validation::row::{PromiseRow, promise_key, promise_of};
use crate::validation::state::PROMISE_ALL;
use crate::validation::subject::Subject;
use crate::work::view::cursor::{self, PAGE, PAGE_MAX};
use countersign_contract::{Int, Json, List, shape};
use serde_json::{Value, json};

shape! {
    /// A promise, as its contract has it.
    pub closed struct ShowPromise {
        /// The promise.
        pub promise_id: PromiseId,
    }
}

shape! {
    /// A promise.
    pub struct PromiseShown {
        /// The promise, as its contract has it.
        pub promise: Json,
        /// What its gates say.
        pub reason: String,
    }
}

impl View for ShowPromise {
    const INFO: ViewInfo = ViewInfo { id: "promise.show", summary: "A promise, as its contract has it" };
    type Shown = PromiseShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let key = promise_key(self.promise_id.as_str());
        let row = promise_of(seen.so_far(&key));
        let texts = row.iter().flat_map(|row| {
            let met = row.criteria.iter().filter_map(|it| it.met.as_ref()).map(|met| met.seq);
            met.chain([row.made]).map(Need::Texts).collect::<Vec<_>>()
        });
        texts.chain([Need::Entity(key)]).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<PromiseShown, Refusal> {
        let subject = Subject { run: None, task: None, promise: Some(&self.promise_id) };
        let row = subject.promise(seen)?;
        let reason = row.standing().says();
        Ok(PromiseShown { promise: Json::from(document(&row, seen)), reason })
    }
}

fn document(row: &PromiseRow, seen: &Seen) -> Value {
    let said = |seq: u64, n: usize| seen.text(seq, n).map(|text| text.inspect(|text| text.to_owned()));
    let descriptions = asking::descriptions(row, seen);
    let summary = said(row.made, row.criteria.len()).unwrap_or_else(|| row.title.clone());
    let criteria = row.criteria.iter().zip(descriptions).map(|(criterion, description)| {
        let mut shown = json!({ "id": criterion.id, "description": description, "status": "pending" });
        if let Some(met) = &criterion.met {
            shown["status"] = json!("met");
            shown["evidence"] = json!(said(met.seq, 0).unwrap_or_else(|| "(erased)".to_owned()));
            shown["met_at"] = json!(met.at);
            shown["met_by"] = json!(met.by);
            if let Some(kind) = &met.kind {
                shown["evidence_type"] = json!(kind);
            }
        }
        shown
    });
    let mut ownership = json!({ "created_by": row.created_by, "created_at": row.created_at });
    if let (Some(owner), Some(since)) = (&row.owned_by, &row.owned_since) {
        ownership["owned_by"] = json!(owner);
        ownership["owned_since"] = json!(since);
    }
    json!({
        "id": row.id, "status": row.status, "title": row.title, "summary": summary,
        "acceptance_criteria": criteria.collect::<Vec<_>>(), "ownership": ownership,
    })
}

shape! {
    /// A promise in a list.
    pub struct PromiseBrief {
        /// Its id.
        pub promise_id: String,
        /// One line.
        pub title: String,
        /// `pending`, `in_progress`, `verified` or `cancelled`.
        pub status: String,
        /// Whose it is.
        pub owned_by: Option<String>,
        /// How many criteria are said to be met, and of how many.
        pub met: String,
        /// What its gates say.
        pub reason: String,
    }
}

shape! {
    /// Promises.
    pub struct PromisesShown {
        /// The promises.
        pub promises: List<PromiseBrief>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// The promises that belong to no task, newest first.
    pub closed struct ListPromises {
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many are shown; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl ListPromises {
    fn range(&self) -> Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        match cursor::place(self.cursor.as_deref()) {
            Some(after) => Range::prefix_after(PROMISE_ALL, &[], &after, limit),
            None => Range::prefix(PROMISE_ALL, &[], limit),
        }
    }
}

impl View for ListPromises {
    const INFO: ViewInfo = ViewInfo { id: "promise.list", summary: "The promises that belong to no task" };
    type Shown = PromisesShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let range = self.range();
        let found = seen.range_so_far(&range).into_iter().flatten().map(|(_, key)| Need::Entity(key.clone()));
        found.collect::<Vec<_>>().into_iter().chain([Need::Range(range)]).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<PromisesShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let range = self.range();
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let promises = hits.into_iter().filter_map(|(_, key)| promise_of(seen.entity(key))).map(|row| PromiseBrief {
            met: format!("{} of {}", row.criteria.len() - row.unmet().len(), row.criteria.len()),
            reason: row.standing().says(),
            promise_id: row.id,
            title: row.title,
            status: row.status,
            owned_by: row.owned_by,
        });
        Ok(PromisesShown { promises: promises.collect::<Vec<_>>().into(), next })
    }
}
