//! Bringing a handoff within its budget, and keeping what is taken out of it before it is written itself.

use super::placing::Place;
use crate::cli::fix::summarizer::summarized;
use crate::cli::output;
use crate::company::{Company, Given, Together};
use crate::project::Project;
use crate::repairing::Repairs;
use crate::shelf::Shelf;
use crate::{keeping, world};
use anyhow::Context;
use countersign_contract::fix::Fixed;
use countersign_contract::{Checker, Outside};
use countersign_diagnostic::Source;

/// What a handoff is fitted with.
pub struct Fitting<'f> {
    /// The project.
    pub project: &'f Project,
    /// What it is checked with, the budget before all.
    pub checker: &'f Checker<'f>,
    /// A program that makes texts shorter.
    pub summarizer: Option<&'f str>,
    /// Where it will lie.
    pub place: &'f Place,
}

impl Fitting<'_> {
    /// Repairs and shortens a handoff. If it may pass then, all that was taken out of it is kept, and otherwise nothing was
    /// written.
    pub fn fit(&self, text: &str) -> anyhow::Result<Fixed> {
        let outside = world::outside(None);
        let (given, together, shelf) = (Given::default(), Together::default(), Shelf::default());
        let company = Company::new(&given, &together, &[], self.checker, &shelf, 0);
        let repairs = Repairs {
            project: self.project,
            checker: self.checker,
            outside: &outside,
            company: &company,
            contract: Some("universal_handoff"),
        };
        let source = Source { name: "the handoff", text };
        let document = self.place.document();
        let outside = repairs.with_names_taken(source, &document);
        let before = repairs.kept_before(source, &document);
        let fixed = self.repaired(&repairs, source, before.as_ref().map(|(name, _)| name.as_str()), &outside);
        let (Some(at), true) = (&fixed.kept_at, fixed.checked.decision.allow) else { return Ok(fixed) };
        let kept = match &before {
            Some((_, path)) => keeping::add(path, &fixed.kept, self.checker.settings.size_max),
            None => {
                let place = world::place(at, &document, self.project);
                let place = place.with_context(|| format!("{at} lies outside the project and the temporary directory"));
                place.and_then(|path| keeping::begin(&path, &fixed.kept))
            }
        };
        let Err(error) = kept else { return Ok(fixed) };
        let name = format!("session-context-{}.json", uuid::Uuid::new_v4());
        let fallback = std::env::temp_dir().join("countersign-handoffs").join(name);
        output::say(&format!("warning: {error:#}; using the fallback location {}", fallback.display()));
        let fixed = self.repaired(&repairs, source, Some(&fallback.display().to_string()), &outside);
        if fixed.checked.decision.allow {
            keeping::begin(&fallback, &fixed.kept)
                .context("what is taken out cannot be kept anywhere; nothing was written")?;
        }
        Ok(fixed)
    }

    fn repaired(&self, repairs: &Repairs<'_>, source: Source<'_>, kept_at: Option<&str>, outside: &Outside) -> Fixed {
        let mut summarize = |text: &str, length: usize| {
            let shorter = summarized(self.summarizer?, text, length);
            shorter.map_err(|error| output::say(&format!("warning: the summarizer did not help: {error:#}"))).ok()
        };
        repairs.fix(source, kept_at, outside, &mut summarize)
    }
}
