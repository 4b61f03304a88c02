//! Opening a file beneath a folder, so that no link leads out of it.
//!
//! On Linux the system itself sees to it. Elsewhere, and where the system refuses to, the way is walked step by step
//! and no link is followed at all.

use std::fs::File;
use std::io;
use std::path::Path;

/// What stands at a place.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A file, opened.
    File(File),
    /// A folder, a pipe or the like.
    Other,
    /// A link that leads nowhere, out of the folder, or in a circle.
    Link,
}

/// Opens what stands at a resource in normal form. A link to another file beneath the folder may be followed.
pub(super) fn open(folder: &Path, resource: &str) -> io::Result<Found> {
    match look(folder, resource) {
        Ok(file) => Ok(if file.metadata()?.is_file() { Found::File(file) } else { Found::Other }),
        Err(error) if leads_out(&error) => Ok(Found::Link),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            // A link that leads nowhere is not nothing.
            let is_there = resource != "." && folder.join(resource).symlink_metadata().is_ok();
            Ok(if is_there { Found::Link } else { Found::Nothing })
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn leads_out(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::XDEV | Errno::LOOP | Errno::MLINK))
}

#[cfg(not(unix))]
fn leads_out(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(unix)]
fn look(folder: &Path, resource: &str) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let root = openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&root, resource, READ, Mode::empty(), resolve) {
            Ok(file) => return Ok(File::from(file)),
            // Old systems know no such call, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    walk(root, resource)
}

/// A pipe that took a file's place is not waited for.
#[cfg(unix)]
const READ: rustix::fs::OFlags =
    rustix::fs::OFlags::RDONLY.union(rustix::fs::OFlags::NONBLOCK).union(rustix::fs::OFlags::CLOEXEC);

/// Opens step by step, following no link.
#[cfg(unix)]
fn walk(root: std::os::fd::OwnedFd, resource: &str) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let mut here = root;
    let mut steps = countersign_domain::work::scope::segments(resource).peekable();
    while let Some(step) = steps.next() {
        let kind = if steps.peek().is_some() { OFlags::DIRECTORY } else { OFlags::empty() };
        here = openat(&here, step, READ | OFlags::NOFOLLOW | kind, Mode::empty())?;
    }
    Ok(File::from(here))
}

#[cfg(not(unix))]
fn look(folder: &Path, resource: &str) -> io::Result<File> {
    let (folder, place) = (folder.canonicalize()?, folder.join(resource).canonicalize()?);
    if !place.starts_with(&folder) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    File::open(place)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn holds(found: io::Result<Found>) -> Option<String> {
        let Ok(Found::File(mut file)) = found else { return None };
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn links_are_followed_inside_and_never_out() {
        let (outside, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        let root = inside.path();
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::write(root.join("d/a"), "a").unwrap();
        symlink("d/a", root.join("in")).unwrap();
        symlink(outside.path().join("secret"), root.join("out")).unwrap();
        symlink("../../../../../../etc/passwd", root.join("up")).unwrap();
        symlink(outside.path(), root.join("folder")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();

        assert_eq!(holds(open(root, "d/a")).as_deref(), Some("a"));
        assert_eq!(holds(open(root, "in")).as_deref(), Some("a"));
        for name in ["out", "up", "folder/secret", "circle", "dangling"] {
            assert!(matches!(open(root, name), Ok(Found::Link)), "{name}: {:?}", open(root, name));
        }
        for name in ["absent", "d/absent", "d/a/b"] {
            assert!(matches!(open(root, name), Ok(Found::Nothing)), "{name}: {:?}", open(root, name));
        }
        for name in ["d", "."] {
            assert!(matches!(open(root, name), Ok(Found::Other)), "{name}");
        }
    }

    #[test]
    fn walking_follows_no_link() {
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir(inside.path().join("d")).unwrap();
        std::fs::write(inside.path().join("d/a"), "a").unwrap();
        symlink("d", inside.path().join("link")).unwrap();
        let root = || std::os::fd::OwnedFd::from(File::open(inside.path()).unwrap());
        assert!(walk(root(), "d/a").is_ok());
        assert!(walk(root(), "link/a").is_err());
        assert!(walk(root(), "link").is_err());
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let inside = tempfile::tempdir().unwrap();
        let pipe = inside.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(matches!(open(inside.path(), "pipe"), Ok(Found::Other)));
    }
}
