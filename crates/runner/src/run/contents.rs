//! What lies in a scope where there is no git to name it, as one hash.
//!
//! Everything counts by which a program could tell one content from another: what is in a file and whether it can be run, where
//! a link leads, and what is there, folders with nothing in them too. What a link leads to is part of the work, wherever it
//! lies: who changes it afterwards has changed the work.
//!
//! **Absent:** times, owners, rights other than to be run, attributes of the file system, and what is behind a socket, a pipe or a
//! device. Our own folder and git's, and folders that a link leads back to, are not looked into.

use countersign_domain::work::scope::contains;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// How many files and folders of a scope are hashed.
const FILES_MAX: usize = 20_000;
/// How deep folders are looked into, those behind links too.
const DEPTH_MAX: usize = 100;

/// The hash of everything inside a scope of the project at `root`; our own folder and git's are left out.
///
/// # Errors
/// Something cannot be read, or it is too much.
pub(super) fn hash(root: &Path, scope: &[String]) -> Result<String, String> {
    let mut walk = Walk { root, found: BTreeMap::new(), within: BTreeSet::new() };
    for path in scope {
        let path = root.join(path);
        if !walk.add(&path, 0)? {
            walk.note((&path, Side::There), &[b"nothing"])?;
        }
    }
    let mut hash = Sha256::new();
    for ((path, _), what) in walk.found {
        let name = path.strip_prefix(root).unwrap_or(&path).as_os_str();
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name.as_encoded_bytes());
        hash.update(what);
    }
    Ok(format!("sha256:{}", hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

/// A link itself, or what is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Link,
    There,
}

struct Walk<'a> {
    root: &'a Path,
    /// What stands at each path, and behind it, if that is a link.
    found: BTreeMap<(PathBuf, Side), [u8; 32]>,
    /// The folders that are just looked into, by their real names: a link that leads back to one says nothing new.
    within: BTreeSet<PathBuf>,
}

impl Walk<'_> {
    /// Says whether there is anything.
    fn add(&mut self, path: &Path, depth: usize) -> Result<bool, String> {
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if is_absence(&error) => return Ok(false),
            Err(error) => return Err(unreadable(path, &error)),
        };
        let name = path.strip_prefix(self.root).unwrap_or(path).to_string_lossy();
        if contains(".countersign", &name) || contains(".git", &name) {
            return Ok(true);
        }
        if meta.is_symlink() {
            let leads = std::fs::read_link(path).map_err(|error| unreadable(path, &error))?;
            self.note((path, Side::Link), &[b"link", leads.as_os_str().as_encoded_bytes()])?;
            // One that leads nowhere is known by where it would lead.
            return path.metadata().map_or(Ok(true), |meta| self.behind(path, &meta, depth));
        }
        self.behind(path, &meta, depth)
    }

    /// What is at a path, a link to it followed.
    fn behind(&mut self, path: &Path, meta: &Metadata, depth: usize) -> Result<bool, String> {
        if meta.is_file() {
            let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
            let kind: &[u8] = if can_be_run(meta) { b"program" } else { b"file" };
            return self.note((path, Side::There), &[kind, &bytes]);
        }
        if !meta.is_dir() {
            return self.note((path, Side::There), &[b"neither file nor folder"]);
        }
        self.note((path, Side::There), &[b"folder"])?;
        let real = path.canonicalize().map_err(|error| unreadable(path, &error))?;
        if !self.within.insert(real.clone()) {
            return Ok(true);
        }
        if depth >= DEPTH_MAX {
            let shown = path.strip_prefix(self.root).unwrap_or(path).display();
            return Err(format!(
                "{shown} lies more than {DEPTH_MAX} folders deep in the scope, or behind links in it; move it up, or use git"
            ));
        }
        for entry in std::fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
            let entry = entry.map_err(|error| unreadable(path, &error))?;
            self.add(&entry.path(), depth + 1)?;
        }
        self.within.remove(&real);
        Ok(true)
    }

    fn note(&mut self, (path, side): (&Path, Side), what: &[&[u8]]) -> Result<bool, String> {
        let mut hash = Sha256::new();
        for piece in what {
            hash.update((piece.len() as u64).to_be_bytes());
            hash.update(piece);
        }
        self.found.insert((path.to_owned(), side), hash.finalize().into());
        if self.found.len() > FILES_MAX {
            return Err(format!(
                "more than {FILES_MAX} files and folders lie in the scope, or behind links in it; make it smaller, or use git"
            ));
        }
        Ok(true)
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

#[cfg(unix)]
fn can_be_run(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn can_be_run(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn whatever_a_program_could_tell_apart_has_another_hash() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, out) = (folder.path(), outside.path());
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::fs::write(root.join("src/deep/a.sh"), "a").unwrap();
        std::fs::write(out.join("g.sh"), "good").unwrap();
        std::fs::create_dir(out.join("lib")).unwrap();
        std::fs::write(out.join("lib/l.sh"), "good").unwrap();
        symlink(out.join("g.sh"), root.join("src/g.sh")).unwrap();
        symlink(out.join("lib"), root.join("src/lib")).unwrap();
        symlink(root.join("src"), root.join("src/deep/back")).unwrap();
        symlink("nowhere", root.join("src/dead")).unwrap();
        let now = || hash(root, &["src".to_owned()]).unwrap();
        let mut seen = BTreeSet::from([now()]);
        assert!(!seen.insert(now()), "it is the same as long as nothing changes");
        let relink = |to: &Path, at: &str| {
            std::fs::remove_file(root.join(at)).unwrap();
            symlink(to, root.join(at)).unwrap();
        };
        let steps: [(&str, &dyn Fn()); 8] = [
            ("a file", &|| std::fs::write(root.join("src/deep/a.sh"), "b").unwrap()),
            ("what a link leads to", &|| std::fs::write(out.join("g.sh"), "evil").unwrap()),
            ("what is in a folder that a link leads to", &|| std::fs::write(out.join("lib/l.sh"), "evil").unwrap()),
            ("a link that leads nowhere", &|| relink(Path::new("elsewhere"), "src/dead")),
            ("a link that is a file now", &|| {
                std::fs::remove_file(root.join("src/g.sh")).unwrap();
                std::fs::write(root.join("src/g.sh"), "evil").unwrap();
            }),
            ("what may be run", &|| {
                std::fs::set_permissions(root.join("src/g.sh"), PermissionsExt::from_mode(0o755)).unwrap();
            }),
            ("a new file", &|| std::fs::write(root.join("src/new"), "").unwrap()),
            ("a folder with nothing in it", &|| std::fs::create_dir(root.join("src/empty")).unwrap()),
        ];
        for (what, change) in steps {
            change();
            assert!(seen.insert(now()), "{what}");
        }
    }
    #[test]
    fn what_lies_too_deep_is_refused_and_what_is_not_there_has_a_hash_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let deep = |depth: usize| (0..depth).fold(root.join("src"), |path, _| path.join("d"));
        let src = ["src".to_owned()];
        std::fs::create_dir_all(deep(DEPTH_MAX - 1)).unwrap();
        std::fs::write(deep(DEPTH_MAX - 1).join("a"), "a").unwrap();
        hash(root, &src).unwrap();
        std::fs::create_dir_all(deep(DEPTH_MAX)).unwrap();
        assert!(hash(root, &src).unwrap_err().contains("folders deep"));
        let gone = |path: &str| hash(root, &[path.to_owned()]).unwrap();
        assert_ne!(gone("one"), gone("two"));
    }
}
