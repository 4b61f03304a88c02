//! Finding what a program started and let go of.
//!
//! A process can leave its group. What it cannot leave, unless it means to, is the environment that it was started
//! with: every program gets a mark there, and on Linux, where the environments of one's own processes can be read, its
//! bearers are ended with it. Marks are added to those above, so that a check inside of a check ends with both.
//!
//! **Absent on purpose:** certainty. A process that was given another environment is not found; only a sandbox could do
//! that.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that carries marks.
const NAME: &str = "COUNTERSIGN_CHECK";

/// What tells the processes of one program from all others.
pub(super) struct Mark(String);

impl Mark {
    /// A new one.
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}-{now}", std::process::id()))
    }

    /// Makes a program bear it.
    pub fn put_on(&self, command: &mut Command) {
        let above = std::env::var(NAME).unwrap_or_default();
        let marks = if above.is_empty() { self.0.clone() } else { format!("{above}/{}", self.0) };
        command.env(NAME, marks);
    }

    /// Ends whoever still bears it, and waits until they are gone: while some are ended, others may be started.
    #[cfg(target_os = "linux")]
    pub fn end_bearers(&self) {
        const PATIENCE: Duration = Duration::from_secs(2);
        const PAUSE: Duration = Duration::from_millis(2);
        let until = Instant::now() + PATIENCE;
        while self.end_those_found() && Instant::now() < until {
            std::thread::sleep(PAUSE);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn end_bearers(&self) {}

    #[cfg(target_os = "linux")]
    fn end_those_found(&self) -> bool {
        use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let mut found = false;
        for number in numbers.filter(|number| self.is_borne_by(*number)) {
            let Some(pid) = Pid::from_raw(number) else { continue };
            // Whoever has the number now is held, and asked again: then no other can be meant.
            let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if self.is_borne_by(number) {
                found |= pidfd_send_signal(held, Signal::KILL).is_ok();
            }
        }
        found
    }

    #[cfg(target_os = "linux")]
    fn is_borne_by(&self, process: i32) -> bool {
        // One that has ended has no environment any more, and one of somebody else's cannot be read.
        let Ok(environment) = crate::proc::read(format!("/proc/{process}/environ")) else { return false };
        let mut variables = environment.split(|byte| *byte == 0);
        let marks = variables.find_map(|it| it.strip_prefix(NAME.as_bytes())?.strip_prefix(b"="));
        marks.is_some_and(|marks| marks.split(|byte| *byte == b'/').any(|mark| mark == self.0.as_bytes()))
    }
}
