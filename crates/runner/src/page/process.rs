//! The browser's process: started quietly in a folder and a group of its own, and ended with everything it started.

use super::Trouble;
use super::hosts::Hosts;
use super::pipe::Pipe;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The browser talks on the descriptors 3 and 4. A shell puts the pipes there and becomes the browser; it is handed words
/// and never reads them as its own.
const SHELL: &str = "/bin/sh";
const BECOME: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// What every browser is told: to show itself to nobody, to ask nobody anything of its own, and to leave no trace.
const FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--block-new-web-contents",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-proxy-server",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,800",
];

/// How much of what the browser says is kept to tell why it ended.
const WORDS_MAX: u64 = 64 * 1024;
/// How long its last words are waited for.
const WORDS_PATIENCE: Duration = Duration::from_secs(1);
/// How often its folder is tried to be removed: what was ended may take a moment to be gone.
const REMOVALS: u32 = 40;

/// A browser that runs. Dropping it ends it.
pub(super) struct Process {
    child: Child,
    folder: TempDir,
    words: Receiver<Vec<u8>>,
    ended: bool,
}

impl Process {
    /// Starts a browser that knows the given hosts alone.
    pub(super) fn start(browser: &Path, hosts: &Hosts, deadline: Instant) -> Result<(Self, Pipe), Trouble> {
        let failed = |error: std::io::Error| {
            let shown = countersign_contract::show(&browser.to_string_lossy());
            Trouble::Failed(format!("the browser {shown} cannot be started: {error}"))
        };
        let folder = tempfile::Builder::new().prefix("countersign-page-").tempdir().map_err(failed)?;
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(BECOME).arg(browser).args(FLAGS);
        command.arg(format!("--host-resolver-rules={}", hosts.resolver_rules()));
        command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        if geteuid().is_root() {
            // The sandbox does not work for root, and the browser would not start.
            command.arg("--no-sandbox");
        }
        command.arg("about:blank");
        clean(&mut command, folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let (to, from, said) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child, folder, words: words(said), ended: false };
        match (to, from) {
            (Some(to), Some(from)) => Ok((process, Pipe::new(to, from, deadline))),
            _ => Err(failed(std::io::Error::other("it has no pipes"))),
        }
    }

    /// Why the browser ended, in its own words. It is ended for good, if it was not.
    pub(super) fn last_words(&mut self) -> Option<String> {
        self.end();
        let words = self.words.recv_timeout(WORDS_PATIENCE).ok()?;
        let words = String::from_utf8_lossy(&words);
        let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let line = lines.iter().find(|line| line.contains(":FATAL:")).or(lines.last())?;
        Some(super::shown::beginning(line, 300))
    }

    /// Ends the browser and everything in its group. What left the group, its crash handler, watches the browser and goes
    /// with it.
    fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        // Not waited for yet, so that the number still is its own.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        for _ in 0..REMOVALS {
            if std::fs::remove_dir_all(self.folder.path()).is_ok() || !self.folder.path().exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// An environment without anything of ours but the path; what the browser wants to keep goes to its folder.
fn clean(command: &mut Command, folder: &Path) {
    command.env_clear().current_dir(folder).env("LANG", "C.UTF-8");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        command.env(name, folder);
    }
}

/// What the browser says, once it has ended. Read to the end, so that it never waits for somebody to listen.
fn words(said: Option<ChildStderr>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    if let Some(mut said) = said {
        std::thread::spawn(move || {
            let mut words = Vec::new();
            let _ = said.by_ref().take(WORDS_MAX).read_to_end(&mut words);
            let _ = std::io::copy(&mut said, &mut std::io::sink());
            let _ = send.send(words);
        });
    }
    receive
}
