//! Tokens: what somebody shows to be taken for more than they say they are. Kept in the user's configuration, hashed; a token
//! names its project, and an agent's its task.

use crate::home::{Home, private_folder};
use anyhow::{Context, bail};
use countersign_domain::deciding::Role;
use countersign_engine::Bound;
use countersign_ledger::Hash;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a token begins with.
const PREFIX: &str = "cst_";

/// A token as it is kept: without what has to be shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Token {
    /// Its id, which is no secret.
    pub id: String,
    /// In whose name it speaks.
    pub actor: String,
    /// What it may ask for: owner, reviewer, orchestrator, agent, auditor.
    pub role: String,
    /// The only task that it may speak for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// When it was made.
    pub made: String,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The SHA-256 of the whole token.
    hash: String,
}

impl Token {
    /// What it may ask for.
    pub fn roles(&self) -> Vec<Role> {
        Role::parse(&self.role).into_iter().collect()
    }

    /// The task that it is bound to.
    pub fn bound(&self) -> Option<Bound> {
        Some(Bound { run: self.run.clone()?, task: self.task.clone()? })
    }

    /// Whether its time is over.
    pub fn is_over(&self) -> bool {
        let ends = self.expires.as_deref().map(str::parse::<jiff::Timestamp>);
        // One whose end cannot be read has ended.
        ends.is_some_and(|ends| ends.map_or(true, |ends| ends <= jiff::Timestamp::now()))
    }

    /// The token among these that somebody shows, if it is not over.
    pub fn shown<'t>(all: &'t [Token], shown: &str) -> Option<&'t Token> {
        let hash = Hash::of(shown.trim().as_bytes()).hex();
        // Each is compared to its end, so that the time it takes tells nothing.
        let same = |token: &&Token| {
            token.hash.len() == hash.len()
                && token.hash.bytes().zip(hash.bytes()).fold(0, |all, (one, other)| all | (one ^ other)) == 0
        };
        all.iter().filter(same).find(|token| !token.is_over())
    }
}

/// What is to be made.
pub struct Wanted<'a> {
    /// In whose name it speaks.
    pub actor: &'a str,
    /// What it may ask for.
    pub role: Role,
    /// The only task that it may speak for.
    pub bound: Option<Bound>,
    /// When it ends.
    pub expires: Option<String>,
}

/// The tokens of a project.
pub struct Tokens {
    folder: PathBuf,
    project: String,
}

impl Tokens {
    /// The tokens of a project, in the user's configuration.
    pub fn of(home: &Home, project: &str) -> Self {
        Self { folder: home.folder("tokens"), project: project.to_owned() }
    }

    /// Where they are kept.
    pub fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.project))
    }

    /// Where the owner's token lies.
    pub fn owner_path(&self) -> PathBuf {
        self.folder.join(format!("{}.owner", self.project))
    }

    /// All that there are.
    pub fn all(&self) -> anyhow::Result<Vec<Token>> {
        let path = self.path();
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not right", path.display()))
    }

    /// Holds everybody else's changes off: one that was read before another's and written after it would undo that.
    fn alone(&self) -> anyhow::Result<std::fs::File> {
        private_folder(&self.folder)?;
        let path = self.folder.join(format!("{}.lock", self.project));
        let file = std::fs::File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        file.lock().with_context(|| format!("{} cannot be locked", path.display()))?;
        Ok(file)
    }

    fn keep(&self, tokens: &[Token]) -> anyhow::Result<()> {
        private_folder(&self.folder)?;
        crate::files::write(&self.path(), &format!("{}\n", serde_json::to_string_pretty(tokens)?))
    }

    /// Makes a token and keeps it. What is given back is shown once, and not kept.
    pub fn make(&self, wanted: &Wanted<'_>) -> anyhow::Result<(Token, String)> {
        let (token, shown) = Self::draw(wanted);
        self.add(&token)?;
        Ok((token, shown))
    }

    /// A token that nobody knows yet, and what is shown of it once.
    pub fn draw(wanted: &Wanted<'_>) -> (Token, String) {
        let id = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
        let secret = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let shown = format!("{PREFIX}{id}_{secret}");
        let token = Token {
            id,
            actor: wanted.actor.to_owned(),
            role: wanted.role.as_str().to_owned(),
            run: wanted.bound.as_ref().map(|bound| bound.run.clone()),
            task: wanted.bound.as_ref().map(|bound| bound.task.clone()),
            made: jiff::Timestamp::now().to_string(),
            expires: wanted.expires.clone(),
            hash: Hash::of(shown.as_bytes()).hex(),
        };
        (token, shown)
    }

    /// Keeps a token: from now on it can be used.
    pub fn add(&self, token: &Token) -> anyhow::Result<()> {
        let _alone = self.alone()?;
        let mut tokens = self.all()?;
        tokens.retain(|token| !token.is_over());
        tokens.push(token.clone());
        self.keep(&tokens)
    }

    /// Makes the owner's token, if there is none, and keeps it where only the user can read it.
    pub fn make_owner(&self, actor: &str) -> anyhow::Result<()> {
        let path = self.owner_path();
        if path.exists() {
            return Ok(());
        }
        let (_, shown) = self.make(&Wanted { actor, role: Role::Owner, bound: None, expires: None })?;
        crate::home::private_file(&path, &format!("{shown}\n"))
    }

    /// Takes a token back. Says whether there was one.
    pub fn revoke(&self, id: &str) -> anyhow::Result<bool> {
        let _alone = self.alone()?;
        let mut tokens = self.all()?;
        let before = tokens.len();
        tokens.retain(|token| token.id != id);
        self.keep(&tokens)?;
        // The owner's own file would be of no use any more, and `init` makes a new one where there is none.
        let owner = self.owner_path();
        let is_owners = std::fs::read_to_string(&owner).is_ok_and(|it| it.starts_with(&format!("{PREFIX}{id}_")));
        if is_owners {
            std::fs::remove_file(&owner).with_context(|| format!("{} cannot be removed", owner.display()))?;
        }
        Ok(tokens.len() < before)
    }

    /// The token that somebody shows, if it is one of this project's and not over.
    pub fn find(&self, shown: &str) -> anyhow::Result<Option<Token>> {
        Ok(Token::shown(&self.all()?, shown).cloned())
    }
}

/// Reads a token from a file that only its owner may read.
pub fn read_file(path: &Path) -> anyhow::Result<String> {
    if let Some(mode) = crate::home::open_to_others(path) {
        bail!("the token {} may be read by others (mode {mode:o}); run `chmod 600` on it", path.display());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("the token {} cannot be read", path.display()))?;
    Ok(text.trim().to_owned())
}
