//! Bringing a handoff within its budget, and keeping what is taken out of it before it is written itself.

use super::{Making, Place, Summarizer, keeping, kept, reach, summarized};
use anyhow::{Context, ensure};
use countersign_contract::diagnostic::Source;
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::{Outside, Request, parse};
use serde_json::{Map, Value};
use std::path::Path;

/// What was taken out of a handoff that could not pass yet, and is written nowhere: where the handoff says that it is to be
/// found, and lot by lot what it is.
#[derive(Debug, Default)]
pub(super) struct Unkept {
    at: Option<String>,
    lots: Vec<Map<String, Value>>,
}

impl Unkept {
    /// Remembers what one more attempt took out.
    pub(super) fn add(&mut self, fixed: &Fixed) {
        if let Some(at) = &fixed.kept_at {
            self.at.get_or_insert_with(|| at.clone());
            self.lots.push(fixed.kept.clone());
        }
    }

    /// Says of a handoff that may pass all that was taken out on the way. Of two lots from one place the first is the whole.
    pub(super) fn told(self, mut fixed: Fixed) -> Fixed {
        self.lots.into_iter().rev().for_each(|lot| fixed.kept.extend(lot));
        fixed.kept_at = fixed.kept_at.or(self.at);
        fixed
    }
}

impl Making<'_> {
    /// Repairs and shortens a handoff. If it may pass then, all that was taken out of it is kept, now and before, and otherwise
    /// nothing was written.
    pub(super) fn fit_again(&self, text: &str, place: &Place, unkept: &Unkept) -> anyhow::Result<Fixed> {
        let Some(at) = &unkept.at else { return self.fit(text, place) };
        let (document, size_max) = (place.document(), self.checker.settings.size_max);
        let source = Source { name: "the handoff", text };
        let request = Request { contract: Some("universal_handoff"), ..Request::alone(source, self.outside) };
        let fixed = self.repaired(&request, Some(at), self.outside)?;
        if fixed.checked.decision.allow {
            let lots = unkept.lots.iter().chain(Some(&fixed.kept).filter(|it| !it.is_empty()));
            let path = reach::place(at, &document, self.root);
            let path = path.with_context(|| format!("{at} lies outside the project and the temporary directory"))?;
            keep_all(&path, lots, size_max).context("what is taken out cannot be kept; no handoff was written")?;
        }
        Ok(fixed)
    }

    /// The same for a handoff out of which nothing was taken before.
    pub(super) fn fit(&self, text: &str, place: &Place) -> anyhow::Result<Fixed> {
        let source = Source { name: "the handoff", text };
        let (document, size_max) = (place.document(), self.checker.settings.size_max);
        let request = Request { contract: Some("universal_handoff"), ..Request::alone(source, self.outside) };
        let value = parse(text, request.form(), size_max).map_or(Value::Null, |it| it.root().to_value());
        let outside = kept::with_names_taken(self.outside, &value, &document, self.root);
        let before = kept::before(&value, &document, self.root, size_max);
        let fixed = self.repaired(&request, before.as_ref().map(|(name, _)| name.as_str()), &outside)?;
        let (Some(at), true) = (&fixed.kept_at, fixed.checked.decision.allow) else { return Ok(fixed) };
        let kept = match &before {
            Some((_, path)) => keeping::add(path, &fixed.kept, size_max),
            None => {
                let place = reach::place(at, &document, self.root);
                let place = place.with_context(|| format!("{at} lies outside the project and the temporary directory"));
                place.and_then(|path| keeping::begin(&path, &fixed.kept))
            }
        };
        let Err(error) = kept else { return Ok(fixed) };
        let name = format!("session-context-{}.json", uuid::Uuid::new_v4());
        let fallback = super::placing::temporary().join(name);
        (self.warn)(&format!("{error:#}; using the fallback location {}", fallback.display()));
        let fixed = self.repaired(&request, Some(&fallback.display().to_string()), &outside)?;
        if fixed.checked.decision.allow {
            keeping::begin(&fallback, &fixed.kept)
                .context("what is taken out cannot be kept anywhere; nothing was written")?;
        }
        Ok(fixed)
    }

    fn repaired(&self, request: &Request<'_>, kept_at: Option<&str>, outside: &Outside) -> anyhow::Result<Fixed> {
        let mut summarize = |text: &str, length: usize| {
            let shorter = summarized(self.summarizer.filter(|it| !it.is_too_slow())?, text, length);
            shorter.map_err(|error| (self.warn)(&format!("the summarizer did not help: {error:#}"))).ok()
        };
        let fixed = fix(self.checker, &Request { outside, ..*request }, kept_at, &mut summarize);
        ensure!(!self.summarizer.is_some_and(Summarizer::is_stopped), "stopped; no handoff was written");
        Ok(fixed)
    }
}

/// Keeps lots in one file, behind each other.
fn keep_all<'l>(
    path: &Path,
    lots: impl Iterator<Item = &'l Map<String, Value>>,
    size_max: usize,
) -> anyhow::Result<()> {
    for lot in lots {
        match keeping::may_grow(path, size_max) {
            true => keeping::add(path, lot, size_max)?,
            false => keeping::begin(path, lot)?,
        }
    }
    Ok(())
}
