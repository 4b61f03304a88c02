//! The working tree, as git sees it.

use crate::content::{self, Content};
use crate::{names, program};
use countersign_domain::deciding::{NO_COMMIT, Tree};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long looking at a tree may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How deep repositories inside of each other are looked into.
const DEPTH_MAX: usize = 3;
/// How many submodules are looked into.
const SUBMODULES_MAX: usize = 256;
/// Settings that would run something, wait for something, hide changes or leave something behind.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "submodule.recurse=false",
    "status.renames=false",
];

/// The working tree below a folder, compared with a commit, or with the one that is checked out: every file that differs
/// from it, whether that is committed, staged, only in the tree or not tracked; what git ignores is left out. Names are
/// relative to the folder. None, where there is no working tree, no such commit, or not enough time.
pub fn tree(root: &Path, base: Option<&str>) -> Option<Tree> {
    if base.is_some_and(|base| !is_commit(base)) || !may_be_tracked(root) {
        return None;
    }
    Look { root, until: Instant::now() + PATIENCE }.tree(base, 0)
}

/// The files that a commit of what is staged would change, as paths below the folder. The index is the one that git names to
/// its hooks, if it names one. None, where there is no working tree.
pub fn staged(root: &Path, index: Option<&Path>) -> Option<BTreeSet<PathBuf>> {
    let look = Look { root, until: Instant::now() + PATIENCE };
    let stand = look.stand(None)?;
    let base = stand.head.as_deref().unwrap_or(stand.empty);
    let mut command =
        look.git(&["diff-index", "--cached", "--name-only", "-z", "--no-renames", "--relative", base, "--", "."]);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let said = program::run(command, &[], look.until).filter(|said| said.ok)?;
    Some(pieces(&said.out).map(names::path).collect())
}

/// Whether a file below the folder is in neither of a commit, the one that is checked out, and the index. In doubt it is.
pub fn is_new(root: &Path, place: &Path, base: &str) -> bool {
    let look = Look { root, until: Instant::now() + PATIENCE };
    let Some(stand) = look.stand(None).filter(|_| is_commit(base)) else { return false };
    let lacks = |arguments: &[&str]| {
        let mut command = look.git(arguments);
        command.arg("--").arg(place);
        program::run(command, &[], look.until).is_some_and(|said| said.ok && said.out.is_empty())
    };
    let commits = stand.head.as_deref().into_iter().chain([base].into_iter().filter(|base| *base != NO_COMMIT));
    lacks(&["ls-files"]) && commits.into_iter().all(|commit| lacks(&["ls-tree", "--name-only", commit]))
}

/// Writes an index in which one empty file below the folder is staged beyond what is committed, so that a hook can be tried
/// with it. Nothing in the repository is changed. Gives back the top of the working tree, where git runs its hooks.
pub fn stage_aside(root: &Path, index: &Path, name: &str) -> Option<PathBuf> {
    let prefix = String::from_utf8(Look { root, until: Instant::now() + PATIENCE }.stand(None)?.prefix).ok()?;
    let top = PathBuf::from(ask_one(root, &["rev-parse", "--show-toplevel"])?);
    let empty = ask_one(&top, &["hash-object", "--stdin"])?;
    let look = Look { root: &top, until: Instant::now() + PATIENCE };
    let write = |arguments: &[&str]| {
        let mut command = look.git(arguments);
        command.env("GIT_INDEX_FILE", index);
        program::run(command, &[], look.until).is_some_and(|said| said.ok)
    };
    let head = look.stand(None)?.head;
    let is_written = write(&["read-tree", head.as_deref().unwrap_or("--empty")])
        && write(&["update-index", "--add", "--cacheinfo", &format!("100644,{empty},{prefix}{name}")]);
    is_written.then_some(top)
}

/// What git answers to a question that has one line for an answer, such as where its hooks are. None, if it has none.
pub fn ask_one(root: &Path, arguments: &[&str]) -> Option<String> {
    let look = Look { root, until: Instant::now() + PATIENCE };
    let mut command = look.bare();
    command.args(arguments);
    let said = program::run(command, &[], look.until).filter(|said| said.ok)?;
    let text = String::from_utf8(said.out).ok()?;
    let line = text.strip_suffix('\n').unwrap_or(&text).trim_end_matches('\r');
    Some(line.to_owned()).filter(|line| !line.is_empty())
}

/// Whether a folder can lie in a working tree: git finds one by what is called `.git` in the folder or above. Where there is
/// none, git need not be asked, which takes longer than all the rest of a command.
pub fn may_be_tracked(root: &Path) -> bool {
    let real = root.canonicalize();
    real.is_ok_and(|real| marks(&real).any(|mark| mark.symlink_metadata().is_ok()))
}

/// What git looks for to tell whether a folder lies in a working tree.
pub fn marks(real: &Path) -> impl Iterator<Item = PathBuf> {
    real.ancestors().map(|folder| folder.join(".git"))
}

/// Whether a text can only be the name of a commit: nothing that git would take for an option or an expression.
fn is_commit(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The tree that has nothing in it: what is compared with before the first commit.
fn empty_tree(format: &str) -> Option<&'static str> {
    match format {
        "sha1" => Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        "sha256" => Some("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
        _ => None,
    }
}

/// How a working tree stands.
struct Stand {
    /// The folder's place below the top of the working tree: empty, or with `/` at its end.
    prefix: Vec<u8>,
    /// The commit that is checked out; none before the first.
    head: Option<String>,
    /// The commit that was asked about, or the tree that has nothing in it.
    base: Option<String>,
    /// The tree that has nothing in it.
    empty: &'static str,
}

/// Looking at a folder for as long as there is time.
struct Look<'a> {
    root: &'a Path,
    until: Instant,
}

impl Look<'_> {
    /// A call of git that knows nothing of whoever calls, save where to find their settings.
    fn bare(&self) -> Command {
        let mut command = Command::new("git");
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_")) {
            command.env_remove(name);
        }
        command
            .current_dir(self.root)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0");
        // What a replacement or a server would say is not what is here.
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_NO_LAZY_FETCH", "1").env("GIT_LITERAL_PATHSPECS", "1");
        command.arg("--no-pager");
        command
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare();
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command
    }

    fn ask(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        program::run(self.git(arguments), &[], self.until).filter(|said| said.ok).map(|said| said.out)
    }

    fn stand(&self, base: Option<&str>) -> Option<Stand> {
        let wanted = base.filter(|base| *base != NO_COMMIT).map(|base| format!("{base}^{{commit}}"));
        let mut arguments = vec!["rev-parse", "--is-inside-work-tree", "--show-object-format", "--show-prefix"];
        arguments.push("HEAD^{commit}");
        arguments.extend(wanted.as_deref());
        // Before the first commit it complains after it has answered the rest.
        let said = program::run(self.git(&arguments), &[], self.until)?;
        let mut lines = said.out.split(|byte| *byte == b'\n');
        let inside = lines.next() == Some(b"true");
        let empty = empty_tree(std::str::from_utf8(lines.next()?).ok()?)?;
        let prefix = lines.next()?.to_vec();
        let mut commit = || {
            let line = lines.next().and_then(|line| std::str::from_utf8(line).ok())?;
            Some(line.to_owned()).filter(|line| said.ok && is_commit(line))
        };
        let (head, found) = (commit(), commit());
        let found = if base == Some(NO_COMMIT) { Some(empty.to_owned()) } else { found };
        // A folder whose name has a line's end in it cannot be told from two lines.
        let is_known = inside && (base.is_none() || found.is_some()) && (prefix.is_empty() || prefix.ends_with(b"/"));
        is_known.then_some(Stand { prefix, head, base: found, empty })
    }

    fn tree(&self, base: Option<&str>, depth: usize) -> Option<Tree> {
        let stand = self.stand(base)?;
        let mut found: BTreeSet<Vec<u8>> = self.status(&stand)?;
        if let (Some(base), Some(head)) = (&stand.base, &stand.head)
            && base != head
        {
            let arguments =
                ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", "--relative"];
            let out = self.ask(&[arguments.as_slice(), &[base.as_str(), head.as_str(), "--", "."]].concat())?;
            found.extend(pieces(&out).map(<[u8]>::to_vec));
        }
        found.extend(self.hidden()?);
        let (mut changed, others) = (Changed::default(), OnceCell::new());
        for name in found {
            let name = name.strip_suffix(b"/").unwrap_or(&name);
            let path = self.root.join(names::path(name));
            let hash = match content::of(&path, self.until)? {
                Content::Gone => None,
                Content::Hash(hash) => Some(hash),
                Content::Folder if self.is_worktree(&path, &others) => continue,
                Content::Folder => Some(self.inner(&path, depth)),
            };
            changed.add(name, hash);
        }
        self.submodules(&stand, depth, &mut changed)?;
        Some(Tree { commit: stand.head, changed: changed.0 })
    }

    /// Whether a folder is another working tree of the same repository. What lies there is on a branch of its own and in none of
    /// this tree's commits: it is looked at where it is worked on.
    fn is_worktree(&self, path: &Path, others: &OnceCell<Vec<PathBuf>>) -> bool {
        if !path.join(".git").symlink_metadata().is_ok_and(|it| it.is_file()) {
            return false;
        }
        let others = others.get_or_init(|| {
            let out = self.ask(&["worktree", "list", "--porcelain", "-z"]).unwrap_or_default();
            pieces(&out).filter_map(|line| line.strip_prefix(b"worktree ")).map(names::path).collect()
        });
        path.canonicalize().is_ok_and(|path| others.contains(&path))
    }

    /// The names of what is staged, changed and untracked, relative to the folder.
    fn status(&self, stand: &Stand) -> Option<BTreeSet<Vec<u8>>> {
        let arguments =
            ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];
        let out = self.ask(&[arguments.as_slice(), &["--", "."]].concat())?;
        let mut found = BTreeSet::new();
        for line in pieces(&out) {
            // Fields before the name: `1` a change, `u` a conflict, `?` untracked.
            let fields = match line.first() {
                Some(b'1') => 8,
                Some(b'u') => 10,
                Some(b'?') => 1,
                _ => continue,
            };
            let name = line.splitn(fields + 1, |byte| *byte == b' ').nth(fields)?;
            found.insert(name.strip_prefix(stand.prefix.as_slice())?.to_vec());
        }
        Some(found)
    }

    /// The names of files that git was told not to look at. Whether they changed is then for their hashes to say, so they
    /// count as different; those that a sparse checkout leaves out are not there.
    fn hidden(&self) -> Option<BTreeSet<Vec<u8>>> {
        let out = self.ask(&["ls-files", "-v", "-z", "--", "."])?;
        let is_there = |name: &[u8]| self.root.join(names::path(name)).symlink_metadata().is_ok();
        let hidden = pieces(&out).filter_map(|line| {
            let (tag, name) = (*line.first()?, line.get(2..)?);
            let left_out = tag.eq_ignore_ascii_case(&b'S') && !is_there(name);
            ((tag.is_ascii_lowercase() || tag == b'S') && !left_out).then(|| name.to_vec())
        });
        Some(hidden.collect())
    }

    /// A repository inside of this one that is not its submodule, as one hash.
    fn inner(&self, path: &Path, depth: usize) -> String {
        let inside = Look { root: path, until: self.until };
        let tree = if depth < DEPTH_MAX { inside.tree(None, depth + 1) } else { None };
        content::hash(&[b"repository", format!("{tree:?}").as_bytes()])
    }

    /// What differs in submodules that are checked out, as files of their own.
    fn submodules(&self, stand: &Stand, depth: usize, changed: &mut Changed) -> Option<()> {
        if depth >= DEPTH_MAX || self.root.join(".gitmodules").symlink_metadata().is_err() {
            return Some(());
        }
        let Some(base) = stand.base.as_ref().or(stand.head.as_ref()) else { return Some(()) };
        let Some(out) = self.ask(&["config", "-z", "-f", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$"])
        else {
            return Some(());
        };
        let places = pieces(&out).filter_map(|entry| entry.splitn(2, |byte| *byte == b'\n').nth(1));
        for place in places.take(SUBMODULES_MAX) {
            let Ok(text) = std::str::from_utf8(place) else { continue };
            let path = self.root.join(text);
            // It is a file's own to say where a submodule is; only one inside is looked at.
            let inside = countersign_domain::work::scope::normal(text).is_ok_and(|normal| normal == text);
            if !inside || path.join(".git").symlink_metadata().is_err() {
                continue;
            }
            let recorded = self.ask(&["rev-parse", "--verify", "--quiet", &format!("{base}:./{text}")]);
            let recorded = recorded.and_then(|out| Some(String::from_utf8(out).ok()?.trim().to_owned()));
            let look = Look { root: &path, until: self.until };
            match look.tree(recorded.as_deref().filter(|it| is_commit(it)), depth + 1) {
                Some(tree) => {
                    tree.changed.into_iter().for_each(|(name, hash)| changed.put(format!("{text}/{name}"), hash))
                }
                None => changed.add(place, Some(content::hash(&[b"submodule", format!("{recorded:?}").as_bytes()]))),
            }
        }
        Some(())
    }
}

/// What differs, by resource.
#[derive(Default)]
struct Changed(BTreeMap<String, Option<String>>);

impl Changed {
    fn add(&mut self, name: &[u8], hash: Option<String>) {
        let resource = names::resource(name);
        // Two names can have one normal form; neither may hide the other.
        let resource = if self.0.contains_key(&resource) { names::escaped(name) } else { resource };
        self.put(resource, hash);
    }

    fn put(&mut self, resource: String, hash: Option<String>) {
        self.0.insert(resource, hash);
    }
}

/// The parts of a list that ends each with a zero byte.
fn pieces(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}
