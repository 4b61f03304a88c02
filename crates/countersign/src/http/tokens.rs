//! The tokens that are known, read again when their file has changed.

use crate::token::{Token, Tokens};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What tells one state of a file from another.
type Stamp = Option<(SystemTime, u64, u64)>;

/// The tokens of a project.
pub struct Known {
    tokens: Tokens,
    read: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

impl Known {
    /// Those that are kept there.
    pub fn new(tokens: Tokens) -> Self {
        Self { tokens, read: Mutex::new(None) }
    }

    /// The token that somebody shows. One that was taken back a moment ago is none.
    pub fn find(&self, shown: &str) -> anyhow::Result<Option<Token>> {
        Ok(Token::shown(&self.all()?, shown).cloned())
    }

    /// Whether a token that somebody has shown before is still good.
    pub fn is_good(&self, id: &str) -> anyhow::Result<bool> {
        Ok(self.all()?.iter().any(|token| token.id == id && !token.is_over()))
    }

    fn all(&self) -> anyhow::Result<Arc<Vec<Token>>> {
        let stamp = self.stamp();
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(match known {
            Some((read, all)) if read == stamp => all,
            _ => {
                let all = Arc::new(self.tokens.all()?);
                *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((stamp, Arc::clone(&all)));
                all
            }
        })
    }

    /// Taken before the file is read, so that a change in between is seen the next time.
    fn stamp(&self) -> Stamp {
        let about = std::fs::metadata(self.tokens.path()).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&about);
        #[cfg(not(unix))]
        let file = 0;
        Some((about.modified().ok()?, about.len(), file))
    }
}
