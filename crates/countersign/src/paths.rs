//! Paths on the command line are meant from where somebody stands; in requests they are meant from the project's root.

use crate::project::{Project, main_project};
use crate::worktrees;
use std::path::{Component, Path, PathBuf};

/// A path as a request has it: relative to the project's root, or to the worktree's where somebody works in one. Says why,
/// if it leads out of the project.
pub fn in_project(project: &Project, path: &str) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| format!("the current directory cannot be read: {error}"))?;
    from(&here, project, path)
}

fn from(here: &Path, project: &Project, path: &str) -> Result<String, String> {
    // What is joined with nothing stays where it is: a variable that was not set would mean the whole directory.
    if path.trim().is_empty() {
        return Err("a path is blank; name one, or write `.` for the directory that you are in".to_owned());
    }
    let Some(root) = &project.root else { return Err("there is no project here; run `countersign init`".to_owned()) };
    let bases = [worktree(here, root), Some(root.clone())];
    let bases: Vec<PathBuf> = bases.into_iter().flatten().map(|base| base.canonicalize().unwrap_or(base)).collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = plain(&real(here).join(path));
    // Only if it is not inside as it is written: a link in the project is the project's.
    for wanted in [wanted.clone(), with_links(&wanted)] {
        let from_above = bases.last().and_then(|root| worktrees::called_from_above(&wanted, root).ok()?);
        let inside = || bases.iter().find_map(|base| wanted.strip_prefix(base).ok());
        if let Some(inside) = from_above.as_deref().or_else(inside) {
            let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
            let inside = parts.map(|parts| parts.join("/"));
            let inside = inside.ok_or_else(|| format!("`{path}` is not written in UTF-8"))?;
            return Ok(if inside.is_empty() { ".".to_owned() } else { inside });
        }
    }
    let base = bases.last().unwrap_or(root);
    Err(format!("`{path}` is outside of the project, which is {}; name a path inside of it", base.display()))
}

/// The project as it lies in the worktree that somebody stands in, if that is another one than the project's own.
fn worktree(here: &Path, root: &Path) -> Option<PathBuf> {
    let main = main_project(here).ok()??;
    let real = root.canonicalize().ok().filter(|real| main.canonicalize().is_ok_and(|main| main == *real))?;
    worktrees::in_worktree(here, &real).ok()?
}

/// The path with its steps upwards done.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The path with the links followed in as much of it as there is.
fn with_links(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|part| Some((part.canonicalize().ok()?, path.strip_prefix(part).ok()?)));
    there.map_or_else(|| path.to_owned(), |(real, rest)| real.join(rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn paths_are_meant_from_where_one_stands() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(root.join(".countersign")).unwrap();
        std::fs::create_dir_all(root.join("src/money")).unwrap();
        let project = Project::find(Some(&root), None).unwrap();
        let whole = root.join("src/a.rs").display().to_string();
        for (here, path, wanted) in [
            ("", "src", "src"),
            ("", "./src/", "src"),
            ("src", "a.rs", "src/a.rs"),
            ("src", "../docs/new.md", "docs/new.md"),
            ("src/money", "../..", "."),
            ("src", whole.as_str(), "src/a.rs"),
        ] {
            assert_eq!(from(&root.join(here), &project, path).as_deref(), Ok(wanted), "{here} {path}");
        }
        for (here, path) in [("", ".."), ("src", "../../other"), ("", "/etc"), ("", "../project-2/a")] {
            let why = from(&root.join(here), &project, path).unwrap_err();
            assert!(why.contains("outside of the project"), "{why}");
        }
        for blank in ["", " ", "\t\n"] {
            assert!(from(&root, &project, blank).unwrap_err().contains("a path is blank"), "{blank:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_project_may_be_reached_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join(".countersign")).unwrap();
        std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
        let project = Project::find(Some(&folder.path().join("link")), None).unwrap();
        let absolute = folder.path().join("link/src/new.rs").display().to_string();
        for here in [root.clone(), folder.path().join("link")] {
            assert_eq!(from(&here, &project, "src/new.rs").as_deref(), Ok("src/new.rs"));
            assert_eq!(from(&here, &project, &absolute).as_deref(), Ok("src/new.rs"));
        }
    }
}
