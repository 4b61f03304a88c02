//! What comes in from beyond: the world as a door saw it, and the settings.

use std::collections::{BTreeSet, HashMap};

/// What a door saw of the world. Rules ask it instead of looking.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// The time now, if it may play a part.
    pub now: Option<jiff::Timestamp>,
    /// A fresh UUID v4, for repairs that need an id.
    pub fresh_uuid: Option<String>,
    /// For each file that the document refers to, whether it is there. A file that was not looked for is not listed.
    pub files: HashMap<String, bool>,
    /// The files that were really changed by the work that the document speaks of. None, if nobody looked.
    pub changed: Option<BTreeSet<String>>,
}

/// What the configuration says that rules need to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Unknown fields are errors.
    pub strict: bool,
    /// How many bytes a document may have.
    pub size_max: usize,
    /// The token encoding by name: `o200k_base`, `cl100k_base` or `chars4`.
    pub encoding: &'static str,
    /// How many tokens a handoff may have.
    pub tokens_max: usize,
    /// Names of executing agents that are accepted beside the built-in ones.
    pub executors: Vec<String>,
    /// Names of requesting agents that are accepted beside the built-in ones.
    pub requesters: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strict: false,
            size_max: crate::SIZE_MAX,
            encoding: "o200k_base",
            tokens_max: 2000,
            executors: Vec::new(),
            requesters: Vec::new(),
        }
    }
}
