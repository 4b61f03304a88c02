//! Where platform actions are carried out: as the command line says, or the project's settings.

use crate::cli::asking::Here;
use crate::home::Home;
use crate::project::FOLDER;
use countersign_runner::delegate::{Github, Platform};
use std::path::PathBuf;

/// Where the platform is, and what it is shown.
#[derive(Debug, clap::Args)]
pub struct Forge {
    /// Where GitHub is asked: https, or this machine; for GitHub Enterprise `https://HOST/api/v3` [default: the project's settings,
    /// or `https://api.github.com`]
    #[arg(long, value_name = "URL")]
    github_url: Option<String>,

    /// The environment variable that has its token [default: the project's settings, or GITHUB_TOKEN]
    #[arg(long, value_name = "NAME")]
    github_token: Option<String>,
}

impl Forge {
    /// What executors are made with, in a repository.
    pub fn platform(&self, here: &Here<'_>, root: PathBuf) -> anyhow::Result<Platform> {
        let locks = here.project.root.as_deref().unwrap_or(&root).join(FOLDER).join("delegations");
        Ok(Platform { root, locks, github: self.github(here)? })
    }

    /// GitHub, as it was named. The settings may not choose where a token is sent, nor which: the user must have named both
    /// before.
    fn github(&self, here: &Here<'_>) -> anyhow::Result<Result<Github, String>> {
        let (usual, settings) = (Github::default(), &here.project.delegation);
        let pick = |named: &Option<String>, set: &Option<String>, usual: &str| {
            named.clone().or_else(|| set.clone()).unwrap_or_else(|| usual.to_owned())
        };
        let url = pick(&self.github_url, &settings.github_url, &usual.url);
        let token = pick(&self.github_token, &settings.github_token, &usual.token);
        let known = format!("github {token} {url}");
        let named =
            (self.github_url.is_some() || url == usual.url) && (self.github_token.is_some() || token == usual.token);
        let github = Github { url, token };
        if github == usual {
            return Ok(Ok(github));
        }
        if named {
            Home::find()?.trust(&known)?;
            return Ok(Ok(github));
        }
        if Home::find()?.trusts(&known) {
            return Ok(Ok(github));
        }
        let Github { url, token } = github;
        Ok(Err(format!(
            "the project's settings send the token in {token} to {url}, which this user has not named before; if that is right, name \
             both once with --github-url and --github-token"
        )))
    }
}
