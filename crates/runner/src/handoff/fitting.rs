//! Bringing a handoff within its budget, and keeping what is taken out of it before it is written itself.

use super::{Making, Place, keeping, kept, reach, summarized};
use anyhow::Context;
use countersign_contract::diagnostic::Source;
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::{Outside, Request, parse};
use serde_json::Value;

impl Making<'_> {
    /// Repairs and shortens a handoff. If it may pass then, all that was taken out of it is kept, and otherwise nothing was
    /// written.
    pub(super) fn fit(&self, text: &str, place: &Place) -> anyhow::Result<Fixed> {
        let source = Source { name: "the handoff", text };
        let (document, size_max) = (place.document(), self.checker.settings.size_max);
        let request = Request { contract: Some("universal_handoff"), ..Request::alone(source, self.outside) };
        let value = parse(text, request.form(), size_max).map_or(Value::Null, |it| it.root().to_value());
        let outside = kept::with_names_taken(self.outside, &value, &document, self.root);
        let before = kept::before(&value, &document, self.root, size_max);
        let fixed = self.repaired(&request, before.as_ref().map(|(name, _)| name.as_str()), &outside);
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
        let fixed = self.repaired(&request, Some(&fallback.display().to_string()), &outside);
        if fixed.checked.decision.allow {
            keeping::begin(&fallback, &fixed.kept)
                .context("what is taken out cannot be kept anywhere; nothing was written")?;
        }
        Ok(fixed)
    }

    fn repaired(&self, request: &Request<'_>, kept_at: Option<&str>, outside: &Outside) -> Fixed {
        let mut summarize = |text: &str, length: usize| {
            let shorter = summarized(self.summarizer?, text, length);
            shorter.map_err(|error| (self.warn)(&format!("the summarizer did not help: {error:#}"))).ok()
        };
        fix(self.checker, &Request { outside, ..*request }, kept_at, &mut summarize)
    }
}
