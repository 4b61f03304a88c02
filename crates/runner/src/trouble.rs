//! Why something was not carried out.

use countersign_engine::Failure;

/// Why there is no outcome.
#[derive(Debug)]
pub enum Trouble {
    /// The engine refused.
    Refused(Box<Failure>),
    /// Something could not be done.
    Failed(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Refused(Box::new(failure))
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}
