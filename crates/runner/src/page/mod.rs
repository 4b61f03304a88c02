//! A page, looked at in a real browser: what a reader sees there after its scripts have run, and a picture of it.
//!
//! ```text
//! look ─find─▶ browser ─start─▶ own group, own folder ─pipe─▶ visit ─▶ text, status, picture ─▶ Seen
//! ```
//!
//! The browser is Chromium or one of its kin, driven by its DevTools protocol over a pair of pipes. The other ways were
//! weighed: a debugging port can be talked to by every program on the machine, and needs a client for WebSockets;
//! WebDriver needs one more program of just the right version, and can neither hold requests back nor tell a page's
//! status; and `--dump-dom` knows nothing of status, time or what is visible. Pipes need nothing but the browser, nobody
//! else can reach them, and when this process dies they close, whereupon the browser ends by itself.
//!
//! **Invariant:** nothing is asked of a host that is not allowed: requests are held until their host was looked at, and the
//! browser's resolver knows no other names, for whatever is not held.
//! **Invariant:** when a look is over, so are the browser, everything it started, and its folder.
//! **Invariant:** where there is no browser nothing is seen, and nothing else stands in for it.
//! **Absent on purpose:** what it means that a text is missing. Text in frames within the page is not read.

mod find;
mod hosts;
#[cfg(unix)]
mod picture;
#[cfg(unix)]
mod pipe;
#[cfg(unix)]
mod process;
mod shown;
#[cfg(unix)]
mod visit;

use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The status of the page's last answer, if it had one.
    pub status: Option<u16>,
    /// Its title, cut and without secrets.
    pub title: String,
    /// The beginning of what a reader sees, without secrets.
    pub text_excerpt: String,
    /// Which of the wanted texts a reader does not see.
    pub missing: Vec<String>,
    /// Hosts that the page wanted something of and did not get it, because they are not allowed.
    pub blocked: Vec<String>,
    /// Where the picture is, if one was wanted. It is a PNG.
    pub picture: Option<PathBuf>,
    /// Which browser looked, with its version.
    pub browser: String,
}

/// Why nothing was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// There is no browser; what to install.
    NoBrowser(String),
    /// The page had not loaded when the time was up.
    TimedOut,
    /// Something else, and what to do.
    Failed(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::NoBrowser(why) | Trouble::Failed(why) => out.write_str(why),
            Trouble::TimedOut => out.write_str("the page had not loaded when the time was up; allow it more"),
        }
    }
}

impl std::error::Error for Trouble {}

/// Looks at an address with the browser of this machine: the program that `COUNTERSIGN_BROWSER` names, or else one that is
/// found. `contains` are texts that must be seen, without regard to line breaks and the number of spaces. A picture is
/// written to its place whole or not at all. Beside `allowed_hosts`, only this machine may be asked (`localhost`,
/// `127.0.0.1` and `[::1]`).
///
/// A page is seen when it has loaded and then either shows every text, or has stood still for a while without.
///
/// # Errors
/// There is no browser, the page did not load in time, or it could not be looked at.
pub fn look(
    url: &str,
    contains: &[String],
    picture: Option<&Path>,
    patience: Duration,
    allowed_hosts: &[String],
) -> Result<Seen, Trouble> {
    look_with(&find::browser()?, url, contains, picture, patience, allowed_hosts)
}

/// The same with a browser that is named.
///
/// # Errors
/// As [`look`].
#[cfg(unix)]
pub fn look_with(
    browser: &Path,
    url: &str,
    contains: &[String],
    picture: Option<&Path>,
    patience: Duration,
    allowed_hosts: &[String],
) -> Result<Seen, Trouble> {
    let hosts = hosts::Hosts::new(allowed_hosts).map_err(Trouble::Failed)?;
    hosts.check(url).map_err(Trouble::Failed)?;
    let deadline = std::time::Instant::now() + patience;
    let wanted = visit::Wanted { url, contains, picture, patience, deadline };
    let mut starts = 0;
    loop {
        starts += 1;
        let (mut process, pipe) = process::Process::start(browser, &hosts, deadline)?;
        let visit = visit::Visit::new(pipe, hosts.clone());
        let is_ready = visit.is_ok();
        match visit.and_then(|mut visit| visit.look(&wanted)) {
            Ok(seen) => return Ok(seen),
            Err(pipe::Fault::Late) => return Err(Trouble::TimedOut),
            Err(pipe::Fault::Failed(why)) => return Err(Trouble::Failed(why)),
            Err(pipe::Fault::Gone) if !is_ready && starts < STARTS_MAX => {}
            Err(pipe::Fault::Gone) => {
                let words = process.last_words().map(|words| format!(": {words}")).unwrap_or_default();
                let shown = countersign_contract::show(&browser.to_string_lossy());
                return Err(Trouble::Failed(format!("the browser {shown} ended before the page was seen{words}")));
            }
        }
    }
}

/// How often a browser is started that ends by itself before it was asked for anything. Some do, now and then.
#[cfg(unix)]
const STARTS_MAX: usize = 3;

/// The same where no browser can be driven.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn look_with(
    _browser: &Path,
    url: &str,
    _contains: &[String],
    _picture: Option<&Path>,
    _patience: Duration,
    allowed_hosts: &[String],
) -> Result<Seen, Trouble> {
    hosts::Hosts::new(allowed_hosts).and_then(|hosts| hosts.check(url)).map_err(Trouble::Failed)?;
    Err(Trouble::NoBrowser("pages can be looked at on Linux and macOS alone; run this check there".to_owned()))
}
