//! The appender as a process: started, listened to, stopped, and in any case ended.

use super::{FOLDER, Heard, MARK, NAME, PROGRAM, ROLE};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything that must happen may take.
const DEADLINE: Duration = Duration::from_secs(90);

/// What it runs under.
pub enum Under<'a> {
    Nothing,
    /// strace, which breaks in where this says, at these files if any are named; what it did is written to a file.
    Strace {
        inject: &'a str,
        at: &'a [PathBuf],
        log: &'a Path,
    },
    /// strace, which changes nothing, and writes down all that is done to files.
    Recorded {
        log: &'a Path,
    },
}

/// The calls that change what is on a disk, or make it safe.
const RECORDED: &str = "trace=openat,pwrite64,write,ftruncate,fdatasync,fsync,rename,renameat,renameat2,unlink,unlinkat,mkdir,\
    mkdirat,link,linkat";

/// A process that ends when this is dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    pub heard: Heard,
}

/// Starts the appender in a role.
pub fn start(role: &str, folder: &Path, name: &str, under: Under<'_>) -> Running {
    let program = std::env::current_exe().unwrap();
    let mut command = match under {
        Under::Nothing => Command::new(&program),
        Under::Strace { inject, at, log } => {
            strace_is_here();
            let calls = inject.split(':').next().unwrap();
            let mut strace = Command::new("strace");
            strace.args(["-f", "--quiet=all", "-e", &format!("trace={calls}"), "-e", "signal=none"]);
            strace.args(["-e", &format!("inject={inject}"), "-o"]).arg(log);
            for path in at {
                strace.arg("-P").arg(path);
            }
            strace.arg(&program);
            strace
        }
        Under::Recorded { log } => {
            strace_is_here();
            let mut strace = Command::new("strace");
            // Whole, and every byte as a number.
            strace.args(["-f", "--quiet=all", "-y", "-xx", "-s", "1000000", "-e", RECORDED, "-e", "signal=none"]);
            strace.arg("-o").arg(log).arg(&program);
            strace
        }
    };
    command.args(["--exact", PROGRAM, "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env(FOLDER, folder).env(NAME, name).env("RUST_BACKTRACE", "0");
    // A group of its own, so that what strace started ends with it.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (say, lines) = channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            let said = line.split_once(MARK).map(|(_, said)| said.to_owned());
            if said.is_some_and(|said| say.send(said).is_err()) {
                return;
            }
        }
    });
    Running { child, lines, heard: Heard::default() }
}

/// Fails in words where strace is missing: a fault that is not injected is a test that did not run.
pub fn strace_is_here() {
    let found = Command::new("strace").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    assert!(
        found,
        "this test breaks system calls with strace, which is not installed; run `cargo xtask test`, which installs it, or `apt-get install strace`"
    );
}

impl Running {
    /// The process itself. Under strace it is strace.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until it says something that begins so, and gives that line.
    pub fn until(&mut self, begins: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("it never said `{begins}`: {:?}", self.heard.said));
            self.heard.take(&line);
            if line.starts_with(begins) {
                return line;
            }
        }
    }

    /// Says something to it.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Holds the process where it is, and waits until the system says that it stands.
    pub fn pause(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        let deadline = Instant::now() + DEADLINE;
        let status = format!("/proc/{}/status", self.id());
        while !std::fs::read_to_string(&status).unwrap().contains("State:\tT") {
            assert!(Instant::now() < deadline, "it does not stop");
            std::thread::yield_now();
        }
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    /// Kills it where it stands.
    pub fn kill(mut self) -> Heard {
        self.end();
        self.drain();
        std::mem::take(&mut self.heard)
    }

    /// Waits for its end.
    pub fn finish(mut self) -> (Heard, ExitStatus) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.drain();
                return (std::mem::take(&mut self.heard), status);
            }
            assert!(Instant::now() < deadline, "it does not end; it said {:?}", self.heard);
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(2)) {
                self.heard.take(&line);
            }
        }
    }

    /// What it said to its end. The pipe is closed when all who hold it are gone.
    fn drain(&mut self) {
        while let Ok(line) = self.lines.recv_timeout(DEADLINE) {
            self.heard.take(&line);
        }
    }

    fn end(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.end();
        }
    }
}
