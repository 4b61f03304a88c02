//! Whether some process has a hand in a folder: works there, or holds something open there.
//!
//! What an agent started is ended with it. One that had itself taken for somebody else's is not found by that; here it is
//! found by what it holds. In doubt there is one.

use std::path::Path;

/// A moment, in ticks since the machine began. Processes know theirs in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

/// Now. None where it cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn now() -> Option<Moment> {
    // In seconds, with two places behind the point, which are ticks.
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_whitespace().next()?.split_once('.')?;
    Some(Moment(seconds.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok().filter(|it| *it < 100)?))
}

/// Whether it is certain that no process has a hand in a folder. Those that cannot be looked at are left out if they were
/// there before the moment when the folder was given to somebody.
#[cfg(target_os = "linux")]
pub(super) fn nobody_holds(folder: &Path, since: Moment) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let own = std::process::id();
    let mut numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.all(|number| {
        if number == own {
            return true;
        }
        let process = Path::new("/proc").join(number.to_string());
        let Some((began, holds_nothing)) = look(&process) else { return process.symlink_metadata().is_err() };
        if holds_nothing {
            return true;
        }
        match holds(&process, folder, began >= since) {
            Ok(holds) => !holds,
            // It is older, or has ended meanwhile; or there is doubt.
            Err(_) => began < since || has_ended(&process),
        }
    })
}

/// Whether a process that was there has ended since. One that nobody has waited for yet is still listed, and holds nothing.
#[cfg(target_os = "linux")]
fn has_ended(process: &Path) -> bool {
    look(process).map_or_else(|| process.symlink_metadata().is_err(), |(_, holds_nothing)| holds_nothing)
}

/// When a process began, and whether it holds nothing because it has ended or is part of the kernel. One whose first thread has
/// ended says the same of itself as one that has ended, but for the threads that go on.
#[cfg(target_os = "linux")]
fn look(process: &Path) -> Option<(Moment, bool)> {
    const KERNEL: u64 = 0x0020_0000;
    let text = crate::proc::read(process.join("stat")).ok()?;
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    // The ninth, the 20th and the 22nd of all; the third is the first behind the name.
    let (flags, threads, began) = (number(6)?, number(17)?, number(19)?);
    let has_ended = matches!(*fields.first()?, "Z" | "X") && threads <= 1;
    Some((Moment(began), flags & KERNEL != 0 || has_ended))
}

#[cfg(target_os = "linux")]
fn holds(process: &Path, folder: &Path, is_young: bool) -> std::io::Result<bool> {
    for link in ["cwd", "root"] {
        if std::fs::read_link(process.join(link))?.starts_with(folder) {
            return Ok(true);
        }
    }
    for open in std::fs::read_dir(process.join("fd"))? {
        // One that has been closed in the meantime is held no more.
        let Ok(target) = std::fs::read_link(open?.path()) else { continue };
        if target.starts_with(folder) {
            return Ok(true);
        }
    }
    if !is_young {
        return Ok(false);
    }
    let maps = crate::proc::read(process.join("maps"))?;
    Ok(memchr::memmem::find(&maps, folder.as_os_str().as_encoded_bytes()).is_some())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> Option<Moment> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn nobody_holds(_: &Path, _: Moment) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// A program that says a line once it is where it should be.
    struct Running(Child);

    impl Running {
        fn python(folder: &Path, text: &str) -> Self {
            let mut program = Command::new("python3");
            program.args(["-c", text]).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
            let mut child = program.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            Self(child)
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn whoever_has_a_hand_in_a_folder_is_found() {
        const STAYS: &str = "import sys; print(flush=True); sys.stdin.close(); import time; time.sleep(60)";
        const HOLDS: &str =
            "import os; f = open('held', 'w'); os.chdir('/'); print(flush=True); import time; time.sleep(60)";
        // Its first thread ends, and another one stays.
        const LEADERLESS: &str = "
import ctypes, threading, time
def stay():
    while open('/proc/self/stat').read().rsplit(')')[1].split()[0] != 'Z': time.sleep(0.001)
    print(flush=True)
    time.sleep(60)
threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall(ctypes.c_long(EXIT), ctypes.c_long(0))";
        let exit = if cfg!(target_arch = "x86_64") { "60" } else { "93" };
        for (what, text) in [("works there", STAYS), ("holds a file", HOLDS), ("has lost its first thread", LEADERLESS)]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().canonicalize().unwrap();
            let since = now().unwrap();
            assert!(nobody_holds(&path, since), "{what}: before");
            let running = Running::python(&path, &text.replace("EXIT", exit));
            assert!(!nobody_holds(&path, since), "{what}");
            drop(running);
            assert!(nobody_holds(&path, since), "{what}: after");
        }
    }

    #[test]
    fn a_process_that_nobody_has_waited_for_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let since = now().unwrap();
        let mut child = Command::new("true").current_dir(folder.path()).spawn().unwrap();
        let process = Path::new("/proc").join(child.id().to_string());
        while !has_ended(&process) {
            std::thread::yield_now();
        }
        assert!(nobody_holds(folder.path(), since));
        child.wait().unwrap();
    }
}
