//! Places that are small or can only be read. They go when the test ends, however it ends.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr, reason = "tests; not each of them uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What tells a test that it runs in a namespace of its own.
const APART: &str = "COUNTERSIGN_TEST_APART";

/// Does a test where something can be mounted: here, or, where only root may do that, in a namespace in which the same test is
/// root. Where there is neither, it fails: what was not tried has not passed.
pub fn where_mounting_is_allowed(name: &str, test: impl FnOnce()) {
    let folder = tempfile::tempdir().unwrap();
    if Mounted::small(folder.path(), "1m").is_some() {
        return test();
    }
    let why = "nothing can be mounted here; run this as root, or where namespaces of users are allowed";
    assert!(std::env::var_os(APART).is_none(), "{why}");
    let mut apart = Command::new("unshare");
    apart.args(["--user", "--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    apart.args(["--exact", name, "--nocapture"]).env(APART, "1");
    assert!(apart.status().is_ok_and(|status| status.success()), "{name}, in a namespace of its own; or {why}");
}

/// A file system that is unmounted when this is dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    /// A file system in memory, of some size. Nothing, where that is not allowed.
    pub fn small(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let options = format!("size={size}");
        run(&["mount", "-t", "tmpfs", "-o", &options, "countersign-test"], &[at]).then(|| Self(at.to_owned()))
    }

    /// Lets it be written to here, or not any more. That may be said also where one is root in a namespace only.
    pub fn remount(&self, how: &str) -> bool {
        run(&["mount", "-o", &format!("remount,bind,{how}")], &[&self.0])
    }

    /// What is in a folder, to be read only.
    pub fn read_only(folder: &Path, at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = run(&["mount", "--bind"], &[folder, at]).then(|| Self(at.to_owned()))?;
        run(&["mount", "-o", "remount,ro,bind"], &[at]).then_some(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // One that is still in use goes when its last user does.
        if !run(&["umount"], &[&self.0]) {
            run(&["umount", "--lazy"], &[&self.0]);
        }
    }
}

fn run(words: &[&str], paths: &[&Path]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(paths).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
