//! The time that a request allows.

use crate::evidence::PATIENCE;
use countersign_domain::plan::payload::{Check, Span};
use std::time::{Duration, Instant};

/// The longest that is waited, whatever a request says.
const ALLOWED_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time that a request allows, and what is left of it.
pub(super) struct Clock {
    start: Instant,
    allowed: Duration,
}

impl Clock {
    pub(super) fn start(seconds: i64) -> Self {
        let allowed = Duration::from_secs(u64::try_from(seconds).unwrap_or(1)).min(ALLOWED_MAX);
        Self { start: Instant::now(), allowed }
    }

    pub(super) fn allowed(&self) -> Duration {
        self.allowed
    }

    pub(super) fn taken(&self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn until(&self) -> Instant {
        self.start + self.allowed
    }

    pub(super) fn left(&self) -> Duration {
        self.allowed.saturating_sub(self.taken())
    }

    pub(super) fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// How long a check may take that does not say so itself.
    pub(super) fn patience(&self) -> Duration {
        self.left().min(PATIENCE)
    }

    /// A check that says no longer time for itself than is left.
    pub(super) fn bounded(&self, check: &Check) -> Check {
        let mut check = check.clone();
        let left = self.left().as_secs().max(1);
        let own = check.timeout.as_ref().and_then(|span| u64::try_from(span.seconds()).ok());
        if own.is_some_and(|own| own > left) {
            check.timeout = Span::parse(&format!("{left}s"));
        }
        check
    }
}
