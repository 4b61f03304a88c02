//! Where actions are carried out, and what executors are made with.

use super::{DryRun, Executor, GITHUB, GitExecutor, GithubExecutor};
use crate::agent::Stop;
use countersign_domain::delegation::command::ExecutorKind;
use std::path::PathBuf;

/// The variable that has the platform's token, if nothing else is said.
pub const TOKEN: &str = "GITHUB_TOKEN";

/// What executors are made with.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The repository, in which audit entries are kept.
    pub root: PathBuf,
    /// The folder of this place's locks.
    pub locks: PathBuf,
    /// GitHub, or why it is not asked.
    pub github: Result<Github, String>,
}

/// Where GitHub is, and what it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Github {
    /// Where it is asked.
    pub url: String,
    /// The variable that has the token. The token itself is read when it is used, and kept nowhere.
    pub token: String,
}

impl Default for Github {
    fn default() -> Self {
        Self { url: GITHUB.to_owned(), token: TOKEN.to_owned() }
    }
}

impl Platform {
    /// A repository, and GitHub as it is for everybody.
    pub fn at(root: PathBuf, locks: PathBuf) -> Self {
        Self { root, locks, github: Ok(Github::default()) }
    }

    /// Somebody who can carry actions out.
    ///
    /// # Errors
    /// There is no token, or the address cannot be used. The error says what to do.
    pub fn executor(&self, kind: ExecutorKind) -> Result<Box<dyn Executor>, String> {
        self.executor_until(kind, &Stop::default())
    }

    /// The same, who waits for nothing any more once they are asked to stop.
    ///
    /// # Errors
    /// There is no token, or the address cannot be used. The error says what to do.
    pub fn executor_until(&self, kind: ExecutorKind, stop: &Stop) -> Result<Box<dyn Executor>, String> {
        Ok(match kind {
            ExecutorKind::DryRun => Box::new(DryRun),
            ExecutorKind::Git => Box::new(GitExecutor::new(self.root.clone(), Default::default())),
            ExecutorKind::Github => {
                let Github { url, token: name } = self.github.as_ref().map_err(String::clone)?;
                let token = std::env::var(name)
                    .map_err(|_| format!("the variable {name} has no token for the platform; set it and try again"))?;
                Box::new(GithubExecutor::new(url, &token)?.until(stop))
            }
        })
    }
}
