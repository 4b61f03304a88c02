//! Running another program: as a list of arguments, for a limited time, with limited output.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// How much a program may say.
const OUTPUT_MAX: u64 = 64 << 20;

/// What a program said and whether it was content.
#[derive(Debug)]
pub struct Said {
    /// Whether it ended with zero.
    pub ok: bool,
    /// What it wrote to standard output.
    pub out: Vec<u8>,
}

/// A call of a program by its name, as it is found on our own `PATH`.
pub(crate) fn named(name: &str) -> Command {
    called(name, std::env::var_os("PATH").as_deref())
}

/// A call of a program by its name, as it is found on a `PATH`. It is called by its path, and still told the same name: a
/// name is looked for by the process that becomes the program, in every folder and each time, and if its `PATH` is another
/// than ours, it even has to be a copy of this whole process.
pub(crate) fn called(name: &str, path: Option<&OsStr>) -> Command {
    match path.and_then(|path| find(name, path)) {
        #[cfg(unix)]
        Some(found) => {
            let mut command = Command::new(found);
            std::os::unix::process::CommandExt::arg0(&mut command, name);
            command
        }
        _ => Command::new(name),
    }
}

/// Where a name leads. None, where that is not as plain as it usually is: the system decides then, and says what is wrong.
#[cfg(unix)]
fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    use rustix::fs::{Access, access};
    if name.is_empty() || name.contains('/') {
        return None;
    }
    for folder in std::env::split_paths(path) {
        // Seen from the folder in which the program will run.
        if !folder.is_absolute() {
            return None;
        }
        let file = folder.join(name);
        if file.metadata().is_ok_and(|found| found.is_file()) {
            return Some(file).filter(|file| access(file, Access::EXEC_OK).is_ok() && is_binary(file));
        }
    }
    None
}

/// Whether a program is found by its name on our own `PATH`. Where nobody can tell, it is.
#[cfg(unix)]
pub(crate) fn is_on_path(name: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return true };
    std::env::split_paths(&path).any(|folder| !folder.is_absolute() || is_program(&folder.join(name)))
}

/// Whether something is a file that may be executed. Where nobody can tell, it is.
#[cfg(unix)]
pub(crate) fn is_program(file: &Path) -> bool {
    use rustix::fs::{Access, access};
    file.metadata().is_ok_and(|found| found.is_file()) && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
pub(crate) fn is_program(_: &Path) -> bool {
    true
}

#[cfg(not(unix))]
pub(crate) fn is_on_path(_: &str) -> bool {
    true
}

/// Whether a file is a program by itself, or says which program reads it. Others are given to a shell, by whoever looks names
/// up.
#[cfg(unix)]
fn is_binary(file: &Path) -> bool {
    let mut start = [0; 4];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && (start == *b"\x7fELF" || start.starts_with(b"#!"))
}

#[cfg(not(unix))]
fn find(_: &str, _: &OsStr) -> Option<PathBuf> {
    None
}

/// Runs a program to its end, with some input. None, if it cannot be run, is not done in time or says too much; then it is
/// ended.
pub fn run(command: Command, input: &[u8], until: Instant) -> Option<Said> {
    finish(command, input, until, |child| drop(child.kill()))
}

/// The same for a program that may start others: they are ended with it.
pub(crate) fn run_with_its_own(mut command: Command, input: &[u8], until: Instant) -> Option<Said> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    finish(command, input, until, |child| {
        #[cfg(unix)]
        let _ =
            rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
        drop(child.kill());
    })
}

fn finish(mut command: Command, input: &[u8], until: Instant, end: impl FnOnce(&mut Child)) -> Option<Said> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // One that does not read its input closes it early.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let mut stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    // The pipe is read beside, because reading it knows no time limit.
    std::thread::spawn(move || {
        let mut out = Vec::new();
        let read = Read::by_ref(&mut stdout).take(OUTPUT_MAX + 1).read_to_end(&mut out);
        let _ = send.send(read.ok().map(|_| out));
    });
    let out = receive.recv_timeout(until.saturating_duration_since(Instant::now()));
    let out = out.ok().flatten().filter(|out| out.len() as u64 <= OUTPUT_MAX);
    if out.is_none() {
        end(&mut child);
    }
    let ended = child.wait().ok()?;
    Some(Said { ok: ended.success(), out: out? })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_that_is_called_by_its_path_is_still_told_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str, mode: u32| {
            std::fs::write(folder.path().join(name), text).unwrap();
            std::fs::set_permissions(folder.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        write("spoken", "#!/bin/sh\necho \"$1\"\n", 0o755);
        write("unspoken", "echo \"$1\"\n", 0o755);
        write("closed", "#!/bin/sh\n", 0o644);
        let path = std::env::join_paths([folder.path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let program = |name: &str| called(name, Some(&path)).get_program().to_owned();
        assert_eq!(Path::new(&program("spoken")), folder.path().join("spoken"));
        assert!(Path::new(&program("sh")).is_absolute());
        // What a shell has to read, what cannot be run, and what is a path or nowhere to be found, is left to the system.
        for name in ["unspoken", "closed", "./spoken", "no-such-program", ""] {
            assert_eq!(program(name), name);
        }
        let elsewhere = std::env::join_paths([Path::new("bin"), folder.path()]).unwrap();
        assert_eq!(called("spoken", Some(&elsewhere)).get_program(), "spoken");
        let said = called("sh", Some(&path)).args(["-c", "echo $0"]).output().unwrap().stdout;
        assert_eq!(said, b"sh\n");
        let said = called("unspoken", Some(&path)).arg("a").env("PATH", &path).output().unwrap().stdout;
        assert_eq!(said, b"a\n");
    }

    #[test]
    fn what_a_program_has_started_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("left");
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", left.display()));
        // It is not done in time once it has started the other.
        let began = Instant::now();
        let path = left.clone();
        let until = std::thread::spawn(move || {
            while !path.exists() {
                std::thread::yield_now();
            }
        });
        let waits = std::thread::spawn(move || {
            run_with_its_own(command, b"", began + std::time::Duration::from_secs(1)).is_none()
        });
        until.join().unwrap();
        assert!(waits.join().unwrap());
        let other = std::fs::read_to_string(&left).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", other.trim())).unwrap_or_default();
        // Ended, whether or not somebody has taken note of that yet.
        while !matches!(state().rsplit(')').next().and_then(|rest| rest.trim().chars().next()), None | Some('Z' | 'X'))
        {
            std::thread::yield_now();
        }
    }
}
