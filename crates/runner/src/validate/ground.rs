//! Where the work lies.

use super::Job;
use crate::evidence::{Evidence, Status};
use crate::git;
use crate::worktree::call::{Git, is_commit};
use crate::worktree::change::{between, called};
use crate::worktree::{Trees, Worktree};
use countersign_contract::show;
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::validation::payload::ValidationRequest;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the work lies, and what is wrong with what the request says of that.
pub(super) struct Ground {
    /// Where to look; none, where nothing can be looked at.
    pub(super) folder: Option<PathBuf>,
    /// Whether something has run there.
    used: bool,
    /// The commit that is looked at; none, if a folder is looked at as it lies.
    pub(super) commit: Option<String>,
    /// What that commit changes; none, if that is not known.
    pub(super) changed: Option<Vec<String>>,
    /// What is not as the request says.
    pub(super) faults: Vec<Evidence>,
    /// What was looked at, in a sentence.
    pub(super) says: String,
    made: Option<(Trees, Worktree)>,
}

impl Ground {
    /// Finds the work. If the request names a commit or a branch, that is checked out by itself.
    ///
    /// # Errors
    /// The request points to a folder that is not the project's, or what it names cannot be checked out.
    pub(super) fn find(job: &Job<'_>) -> Result<Self, String> {
        let folder = match place(job)? {
            Ok(folder) => folder,
            Err(why) => return Ok(Self::nowhere((Status::Blocked, why))),
        };
        match claimed(&folder, job.request) {
            Ok(Some(commit)) => Self::of_commit(&folder, commit),
            Ok(None) => Ok(Self {
                says: "The request names no commit; the folder was looked at as it lies.".to_owned(),
                folder: Some(folder),
                ..Self::nothing()
            }),
            Err(fault) => Ok(Self::nowhere(fault)),
        }
    }

    fn of_commit(folder: &Path, commit: String) -> Result<Self, String> {
        let trees = Trees::new(folder, None, None).map_err(|why| unmade(&commit, &why))?;
        let tree = trees.make(&name(), &commit).map_err(|why| unmade(&commit, &why))?;
        Ok(Self {
            folder: Some(tree.folder.clone()),
            changed: changes(folder, &commit),
            says: format!("Looked at commit {commit} in a clean checkout."),
            commit: Some(commit),
            made: Some((trees, tree)),
            ..Self::nothing()
        })
    }

    /// Where to look next: a checkout in which nothing has run yet, so that nobody meets what another has left there. A folder
    /// that is looked at as it lies stays what it is.
    pub(super) fn fresh(&mut self) -> Result<Option<PathBuf>, String> {
        if let (true, Some((trees, tree))) = (self.used, &mut self.made) {
            let next = trees.make(&name(), &tree.base).map_err(|why| unmade(&tree.base, &why))?;
            self.folder = Some(next.folder.clone());
            remove(trees, &std::mem::replace(tree, next));
            self.used = false;
        }
        Ok(self.folder.clone())
    }

    /// Something runs there: it is not fresh any more.
    pub(super) fn use_up(&mut self) {
        self.used = true;
    }

    /// Whether a folder is looked at as it lies.
    pub(super) fn is_lying(&self) -> bool {
        self.made.is_none()
    }

    fn nothing() -> Self {
        Self {
            folder: None,
            used: false,
            commit: None,
            changed: None,
            faults: Vec::new(),
            says: String::new(),
            made: None,
        }
    }

    fn nowhere((status, says): Fault) -> Self {
        let fault = Evidence::new(EvidenceKind::Statement, status, says);
        Self { faults: vec![fault], says: "There was nothing to look at.".to_owned(), ..Self::nothing() }
    }

    /// Takes the checkout away. What cannot be removed now does no harm: it is in a folder that holds nothing else.
    pub(super) fn leave(self) {
        if let Some((trees, tree)) = self.made {
            remove(&trees, &tree);
        }
    }
}

fn remove(trees: &Trees, tree: &Worktree) {
    let _ = trees.remove(tree);
    let _ = trees.sweep_of(tree.name.split('/').next().unwrap_or_default());
}

fn unmade(commit: &str, why: &str) -> String {
    format!("commit {commit} could not be checked out: {why}")
}

/// What is not as the request says: whether that refutes it or keeps it from being looked at, and in a sentence.
type Fault = (Status, String);

/// A name that no other checkout has.
fn name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("validate-{}-{now}/check", std::process::id())
}

/// The folder of the work. The request may only point into the project, or to another working tree of its repository: what
/// is run there is the user's to choose. The inner error is why there is nothing to look at.
fn place(job: &Job<'_>) -> Result<Result<PathBuf, String>, String> {
    let real = |path: &Path| match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(format!("{} is no folder", path.display())),
        Err(error) => Err(format!("{} cannot be looked at: {error}", path.display())),
    };
    let root = real(job.root)?;
    if let Some(named) = job.worktree {
        return real(named).map(Ok);
    }
    let Some(wanted) = &job.request.worktree_path else { return Ok(Ok(root)) };
    let folder = match real(&root.join(wanted.as_str())) {
        Ok(folder) => folder,
        Err(why) => return Ok(Err(format!("the work is not where the request says: {}", show_long(&why)))),
    };
    let common = |folder: &Path| git::ask_one(folder, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    if folder.starts_with(&root) || common(&folder).is_some_and(|its| common(&root) == Some(its)) {
        return Ok(Ok(folder));
    }
    Err(format!(
        "the request points to `{}`, which is neither in the project nor a working tree of its repository; if that is \
         where the work lies, say so yourself with --worktree",
        show(wanted.as_str())
    ))
}

fn show_long(text: &str) -> String {
    countersign_contract::diagnostic::visible(text).into_owned()
}

/// The commit that the request claims; none, if it claims none. The error says what is wrong with the claim.
fn claimed(folder: &Path, request: &ValidationRequest) -> Result<Option<String>, Fault> {
    let hash = request.claimed_evidence.as_ref().and_then(|claimed| claimed.commit_hash.as_ref());
    if hash.is_none() && request.branch.is_none() {
        return Ok(None);
    }
    if git::ask_one(folder, &["rev-parse", "--is-inside-work-tree"]).as_deref() != Some("true") {
        let says = "the request names a commit or a branch, and the work lies in no git repository";
        return Err((Status::Blocked, says.to_owned()));
    }
    let head = match &request.branch {
        None => None,
        Some(branch) => {
            let name = branch.as_str();
            let found =
                ["refs/heads", "refs/remotes"].iter().find_map(|place| find(folder, &format!("{place}/{name}")));
            let missing = || (Status::Fail, format!("the repository has no branch `{}`, as claimed", show(name)));
            Some(found.ok_or_else(missing)?)
        }
    };
    let Some(hash) = hash else { return Ok(head) };
    // A name that is short may be that of a branch, too; only a commit that begins so is meant.
    let written = hash.as_str().to_ascii_lowercase();
    let commit = find(folder, &written).filter(|found| found.starts_with(&written));
    let missing = || (Status::Fail, format!("the repository has no commit `{written}`, as claimed"));
    let commit = commit.ok_or_else(missing)?;
    match head {
        Some(head) if git::ask_one(folder, &["merge-base", &commit, &head]).as_ref() != Some(&commit) => {
            let branch = request.branch.as_ref().map(|branch| show(branch.as_str())).unwrap_or_default();
            Err((Status::Fail, format!("commit {commit} is not on branch `{branch}`, as claimed")))
        }
        _ => Ok(Some(commit)),
    }
}

fn find(folder: &Path, name: &str) -> Option<String> {
    let name = format!("{name}^{{commit}}");
    git::ask_one(folder, &["rev-parse", "--verify", "--quiet", &name]).filter(|commit| is_commit(commit))
}

/// What a commit changes, as resources of the folder. None, if it is the first one.
fn changes(folder: &Path, commit: &str) -> Option<Vec<String>> {
    let prefix = git::ask_one(folder, &["rev-parse", "--show-prefix"]).unwrap_or_default();
    let changes = between(&Git::at(folder), &format!("{commit}^"), commit).ok()?;
    Some(changes.iter().map(|change| called(&change.name, prefix.as_bytes())).collect())
}
