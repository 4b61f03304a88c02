//! Making a handoff: a draft is brought within its budget, what does not fit is kept, and only then is anything written.
//!
//! ```text
//! words, chain of the ledger ─draft─▶ document ─fit─▶ within budget ─▶ what was taken out is kept ─▶ written
//!                                                  └▶ an agent mends it, if one is named, or a person must decide: the report,
//!                                                     and nothing is written
//! ```
//!
//! Whoever makes one says what they know as [`Words`], and what they make it with as [`Making`]. Handoffs of a run, of the
//! command line and of agents that call for one are made here alike.
//!
//! **Invariant:** a handoff is written after everything that it refers to.
//! **Absent on purpose:** sending. What was made goes nowhere by itself.

mod draft;
mod fitting;
pub mod keeping;
pub mod kept;
mod placing;
pub mod reach;
mod repairing;
mod summarizer;
pub mod tiers;
mod unchanged;

pub use draft::{Undrafted, Words};
pub use placing::Place;
pub use repairing::prompt;
pub use summarizer::{Summarizer, summarized};

use countersign_contract::fix::{self, Fixed};
use countersign_contract::{Checker, Form, Outside};
use countersign_domain::handoff::{budget, measure, tally::Tally};
use countersign_engine::Failure;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A question to the ledger about a trace, as `handoff.chain` takes it.
pub type Chain<'c> = &'c dyn Fn(&Value) -> Result<Value, Failure>;

/// What a handoff is made with.
pub struct Making<'m> {
    /// The project's folder, if there is one.
    pub root: Option<&'m Path>,
    /// What it is checked with, the budget before all.
    pub checker: &'m Checker<'m>,
    /// The time, and a fresh id.
    pub outside: &'m Outside,
    /// Who makes texts shorter.
    pub summarizer: Option<&'m Summarizer>,
    /// Who mends what rules cannot: an agent that reads what is wrong and answers with the document.
    pub repairer: Option<&'m Summarizer>,
    /// The ledger, if there is one.
    pub chain: Option<Chain<'m>>,
    /// Whom to tell what went otherwise than it should.
    pub warn: &'m dyn Fn(&str),
}

/// What came of a draft.
#[derive(Debug)]
pub enum Written {
    /// It may pass, and lies where it says.
    Made(Box<Made>),
    /// A person must decide; nothing was written.
    Undecided(Box<Fixed>),
}

/// A handoff that was made.
#[derive(Debug)]
pub struct Made {
    /// The document, what was done to it, and what was taken out of it.
    pub fixed: Fixed,
    /// Where it lies; nowhere, if it was asked for on standard output.
    pub path: Option<PathBuf>,
    /// Whether it could not be written where it should be.
    pub fallback: bool,
}

impl Making<'_> {
    /// Brings a draft within its budget and writes it.
    ///
    /// # Errors
    /// It, or what was taken out of it, could be written nowhere.
    pub fn write(&self, draft: &Value, place: &Place) -> anyhow::Result<Written> {
        let mut fixed = self.mended(self.fit(&format!("{draft:#}\n"), place)?, place)?;
        if !fixed.checked.decision.allow {
            return Ok(Written::Undecided(Box::new(fixed)));
        }
        if let Ok(mut document) = serde_json::from_str(&fixed.text) {
            // While it is fitted an estimate is enough; who reads it is told what was counted.
            budget::state_count(&mut document, self.checker.settings);
            fixed.text = fix::write(&document, &fixed.text, Form::Json);
        }
        let (path, fallback) = place.write(&fixed.text, self.warn)?;
        Ok(Written::Made(Box::new(Made { fixed, path, fallback })))
    }

    /// How many tokens a handoff has, counted as its budget is.
    pub fn tokens(&self, document: &Value) -> usize {
        tokens(document, self.checker)
    }
}

/// How many tokens a handoff has, counted as its budget is.
pub fn tokens(document: &Value, checker: &Checker<'_>) -> usize {
    let text = document.to_string();
    let form = countersign_contract::Form::Json;
    let Ok(document) = countersign_contract::parse(&text, form, usize::MAX) else { return 0 };
    let encoding = budget::encoding(checker.settings);
    Tally::new(document.root(), measure::size(document.root()), encoding).exact()
}
