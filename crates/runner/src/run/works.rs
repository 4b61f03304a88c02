//! How often somebody worked on a task, as the ledger tells it.
//!
//! A task is claimed more often than it is worked on: to go on through its gates after a person has answered, or only to find that
//! it may not be begun. An attempt is one when an agent was started in it, a peer took it, or an action was to be carried out.

use countersign_domain::work::effect::EffectKind;
use countersign_domain::work::event::{EFFECT_STARTED, RESULT_SUBMITTED, TASK_BLOCKED, TASK_CLAIMED, TASK_REQUEUED};
use countersign_engine::Stored;
use std::collections::BTreeMap;

/// The attempts at a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Works {
    /// By their leases.
    begun: BTreeMap<u64, Work>,
    /// Whether what was claimed stands, and whoever takes the task next only goes on with it.
    keeps: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Work {
    /// Whether a result was brought.
    brought: bool,
    /// Whether it was cut short, because its runner was stopped or gone.
    cut: bool,
}

impl Works {
    /// Takes notice of an event of the task.
    pub(super) fn note(&mut self, event: &Stored, is_peer: bool) {
        let facts = event.facts();
        let lease = facts["lease"].as_u64();
        let begun = match event.text("kind") {
            EFFECT_STARTED if facts["kind"] == EffectKind::Agent.as_str() => lease,
            // A lease has the number of the event that granted it.
            TASK_CLAIMED if (is_peer && !self.keeps) || facts["led"] == true => Some(event.seq),
            RESULT_SUBMITTED => lease,
            _ => None,
        };
        if let Some(lease) = begun {
            self.begun.entry(lease).or_default().brought |= event.text("kind") == RESULT_SUBMITTED;
        }
        match event.text("kind") {
            TASK_REQUEUED => self.keeps = facts["keeps"] == true,
            TASK_CLAIMED => self.keeps = false,
            _ => {}
        }
        let is_cut = match event.text("kind") {
            TASK_BLOCKED => facts["returned"] == true,
            TASK_REQUEUED => facts["excused"].is_string(),
            _ => false,
        };
        if let Some(work) = lease.filter(|_| is_cut).and_then(|lease| self.begun.get_mut(&lease)) {
            work.cut = !work.brought;
        }
    }

    /// How often it was begun.
    pub(super) fn all(&self) -> u64 {
        u64::try_from(self.begun.len()).unwrap_or(u64::MAX)
    }

    /// How many of them count: those that were not cut short.
    pub(super) fn counted(&self) -> u64 {
        self.begun.values().map(|work| u64::from(!work.cut)).sum()
    }
}
