//! What an agent left in its working tree becomes one commit: a claim.

use super::call::{Fault, Git, Identity, is_commit, object, pieces};
use super::change::{self, called, inside, is_there};
use super::index::Index;
use super::objects::Edit;
use super::removing::remove_all;
use super::{Layout, Trees, Worktree, message, number};
use std::collections::{BTreeMap, BTreeSet};

/// The index that a claim is made with.
const CLAIM: &str = "countersign-claim";
/// Our own folder in a project. What agents do there is not their work.
const OWN: &[u8] = b".countersign/";

/// What an agent left, as one commit on top of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The commit; the base itself, if nothing changed.
    pub commit: String,
    /// Its tree.
    pub tree_hash: String,
    /// The files that it changes, as resources of the project.
    pub changed: Vec<String>,
    /// What was changed and is not part of it: files outside of the project's folder, named from the top, repositories
    /// inside of the tree, and submodules.
    pub left_out: Vec<String>,
    /// Those of them that are submodules.
    pub modules: Vec<String>,
}

impl Trees {
    /// Makes one commit on top of the base of everything that an agent left: staged or not, untracked but not ignored.
    pub fn commit_all(&self, tree: &Worktree, message: &str, trailers: &[(String, String)]) -> Result<Claimed, String> {
        let message = message::with_trailers(message, trailers)?;
        if !tree.top.is_dir() {
            return Err(format!("the working tree {} is gone, and with it what the agent did", tree.top.display()));
        }
        let index = tree.git_dir.join(CLAIM);
        // Neither the tree's own `.git` nor its index: an agent may have done anything to them.
        let git = Git { index: Some(&index), repository: Some(&self.layout.common), ..Git::at(&tree.top) };
        let whole = |tree_hash: &str| self.layout.write_commit(tree_hash, &tree.base, &message, &self.identity);
        let put_back = || {
            remove_all(&index)?;
            // A lock is of a call that was ended.
            remove_all(&tree.git_dir.join(format!("{CLAIM}.lock")))?;
            tree.index.write_new(&index).map_err(|error| format!("{} cannot be written: {error}", index.display()))
        };
        let mut at_once = None;
        if self.can_be_taken_at_once(&tree.index, &tree.base) {
            put_back()?;
            at_once = self.taken_at_once(&git, &tree.base, &tree.index)?;
        }
        let mut claimed = match at_once {
            Some(taken) => self.commit_taken(&git, &tree.base, taken, &whole)?,
            None => {
                put_back()?;
                let listed = git.run(&["ls-files", "-o", "-m", "-d", "--exclude-standard", "-z"], &[])?;
                self.commit_listed(&git, &tree.base, &listed, &whole)?
            }
        };
        claimed.modules = self.changed_modules(tree)?;
        claimed.left_out.extend(claimed.modules.iter().cloned());
        claimed.left_out.sort();
        claimed.left_out.dedup();
        Ok(claimed)
    }

    /// Makes one commit on top of a base of what lies in some places of the working tree that people use, and is not ignored. It
    /// is the same commit as long as the same lies there and the same is said about it, `at` some second of all time.
    pub fn commit_places(
        &self,
        base: &str,
        places: &[String],
        message: &str,
        trailers: &[(String, String)],
        at: i64,
    ) -> Result<Claimed, String> {
        let message = message::with_trailers(message, trailers)?;
        if !is_commit(base) {
            return Err(format!("`{}` is no full name of a commit", base.escape_debug()));
        }
        let index = self.layout.git_dir.join(format!("{CLAIM}-{}-{}", std::process::id(), number()));
        let git = Git { index: Some(&index), repository: Some(&self.layout.git_dir), ..Git::at(&self.layout.top) };
        let claim = || {
            git.run(&["read-tree", &format!("{base}^{{commit}}")], &[])?;
            let mut arguments: Vec<String> =
                ["ls-files", "-o", "-m", "-d", "--exclude-standard", "-z", "--"].map(str::to_owned).into();
            arguments.extend(places.iter().map(|place| match format!("{}{place}", self.layout.prefix) {
                top if top.is_empty() => ".".to_owned(),
                place => place,
            }));
            let listed = git.run(&arguments, &[])?;
            let Identity { name, email } = &self.identity;
            let whole = |tree_hash: &str| {
                let who = format!("{name} <{email}> {at} +0000");
                let text = format!("tree {tree_hash}\nparent {base}\nauthor {who}\ncommitter {who}\n\n{message}");
                object(&git.run(&["hash-object", "-t", "commit", "-w", "--stdin"], text.as_bytes())?)
            };
            self.commit_listed(&git, base, &listed, &whole)
        };
        let claimed = claim();
        remove_all(&index)?;
        claimed
    }

    /// Whether git may put everything into the index in one step. Where the case of letters does not count, it changes names; a
    /// project inside of a repository takes a part only; and in a submodule it would go by settings which are an agent's to write,
    /// and run whatever these name.
    fn can_be_taken_at_once(&self, kept: &Index, base: &str) -> bool {
        let Layout { is_plain, is_exact, prefix, .. } = &self.layout;
        *is_plain && *is_exact && prefix.is_empty() && kept.is_usual(base.len() / 2)
    }

    /// Has git put everything into the index in one step, and gives what that was. None, if anything is there that is no part
    /// of a claim, or if git has to be asked more closely: the index may hold anything then.
    ///
    /// What git finds, how it reads a file and which it ignores is the same as when it lists first and is then told what to
    /// take; only that it takes repositories, too, and refuses all where it cannot read one file. That a part of the files is
    /// not to be looked at, which somebody may have said since the tree was made, does not count.
    fn taken_at_once(&self, git: &Git, base: &str, kept: &Index) -> Result<Option<Taken>, String> {
        match git.run(&["add", "--all", "--sparse"], &[]) {
            Ok(_) => {}
            // It was ended, and would take as long again.
            Err(fault @ Fault { code: None, .. }) => return Err(fault.into()),
            Err(_) => return Ok(None),
        }
        let taken = || {
            let index = Index::read(git.index?).ok()?;
            let (there, gone) = index.since(kept, base.len() / 2)?;
            let is_own = |name: &&[u8]| name.starts_with(OWN);
            if there.iter().chain(&gone).any(is_own) {
                return None;
            }
            let [there, gone] = [there, gone].map(|names| names.into_iter().map(<[u8]>::to_vec).collect());
            Some(Taken { there, gone, left_out: BTreeSet::new() })
        };
        Ok(taken())
    }

    /// Puts what differs into the index, and makes a commit of that.
    fn commit_listed(
        &self,
        git: &Git,
        base: &str,
        listed: &[u8],
        whole: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Claimed, String> {
        let prefix = self.layout.prefix.as_bytes();
        let (mut taken, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        for name in pieces(listed) {
            let is_repository = name.ends_with(b"/");
            match inside(name, prefix) {
                _ if name.starts_with(OWN) => {}
                Some(inner) if inner.starts_with(OWN) => {}
                Some(_) if !is_repository => {
                    taken.insert(name.to_vec());
                }
                _ => {
                    left_out.insert(called(name.strip_suffix(b"/").unwrap_or(name), prefix));
                }
            }
        }
        let (there, gone): (Vec<Vec<u8>>, Vec<Vec<u8>>) =
            taken.into_iter().partition(|name| is_there(git.folder, name));
        // Those that are gone first, so that a folder or a link can come where they were.
        for (how, names) in [("--force-remove", &gone), ("--add", &there)] {
            let input: Vec<u8> = names.iter().flat_map(|name| [name.as_slice(), b"\0"].concat()).collect();
            if !input.is_empty() {
                git.run(&["update-index", "-z", "--replace", how, "--stdin"], &input)?;
            }
        }
        self.commit_taken(git, base, Taken { there, gone, left_out }, whole)
    }

    /// Makes a commit of what was put into the index.
    fn commit_taken(
        &self,
        git: &Git,
        base: &str,
        taken: Taken,
        whole: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Claimed, String> {
        let prefix = self.layout.prefix.as_bytes();
        let mut tree_hash = match self.tree_with(git, base, &taken) {
            Some(tree) => tree,
            None => object(&git.run(&["write-tree"], &[])?)?,
        };
        let mut left_out = taken.left_out;
        let mut changes = self.layout.between(base, &tree_hash)?;
        if changes.iter().any(change::Change::is_repository) {
            let restored = restore_repositories(git, &changes)?;
            left_out.extend(restored.iter().map(|name| called(name, prefix)));
            tree_hash = object(&git.run(&["write-tree"], &[])?)?;
            changes = self.layout.between(base, &tree_hash)?;
        }
        let changed: Vec<String> = changes.iter().map(|it| called(&it.name, prefix)).collect();
        let (left_out, modules) = (left_out.into_iter().collect(), Vec::new());
        if changed.is_empty() {
            return Ok(Claimed { commit: base.to_owned(), tree_hash, changed, left_out, modules });
        }
        Ok(Claimed { commit: whole(&tree_hash)?, tree_hash, changed, left_out, modules })
    }

    /// The tree of the base, with some files as the index has them by now, and without others: what the index is, since nothing
    /// else was put into it. None, if git has to say.
    fn tree_with(&self, git: &Git, base: &str, Taken { there, gone, .. }: &Taken) -> Option<String> {
        let index = Index::read(git.index?).ok()?;
        let there: Vec<&[u8]> = there.iter().map(Vec::as_slice).collect();
        let mut edits: BTreeMap<Vec<u8>, Edit> = gone.iter().map(|name| (name.clone(), None)).collect();
        for (name, mode, object) in index.files(&there, base.len() / 2)? {
            edits.insert(name.to_vec(), Some((mode, object)));
        }
        self.layout.objects.edited(base, edits)
    }
}

/// What was put into an index, by its names from the top.
struct Taken {
    /// Files that are there.
    there: Vec<Vec<u8>>,
    /// Files that are not there any more.
    gone: Vec<Vec<u8>>,
    /// What was changed and was not put into it.
    left_out: BTreeSet<String>,
}

/// Puts repositories inside of this one back to what they are in the base. Gives their names.
fn restore_repositories(git: &Git, changes: &[change::Change]) -> Result<Vec<Vec<u8>>, String> {
    let (mut input, mut names) = (Vec::new(), Vec::new());
    for change in changes.iter().filter(|change| change.is_repository()) {
        input.extend_from_slice(&change.entry(false));
        names.push(change.name.clone());
    }
    git.run(&["update-index", "-z", "--replace", "--index-info"], &input)?;
    Ok(names)
}
