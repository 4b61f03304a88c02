//! Sessions of coding agents: what each is called here, and which of them made a call.
//!
//! A session meets Countersign at two doors: its hooks, and the server that its client starts. Both must know it by the same
//! name, or what it claims at the one is somebody else's at the other. A client tells its hooks the session, the agent inside
//! of it and the call; the server is told the call alone. So the hook notes whose call it is, and the server reads that.

use crate::files;
use crate::project::{FOLDER, Project};
use countersign_ledger::Hash;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The name that our server has in a client's list.
pub const SERVER: &str = "countersign";
/// How many letters stand for a session or an agent in a name.
const LETTERS: usize = 8;
/// How long a note is kept that nobody took away: a user may take their time to approve of a call.
const NOTE_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a note may be.
const NOTE_MAX: usize = 1024;

/// What a session is called, or an agent inside of it. The same session always has the same name.
pub fn name(client: &str, session: &str, agent: Option<&str>) -> String {
    let brief = |id: &str| Hash::of(id.as_bytes()).hex()[..LETTERS].to_owned();
    let session = brief(session);
    match agent {
        Some(agent) => format!("{client}:{session}.{}", brief(agent)),
        None => format!("{client}:{session}"),
    }
}

/// Whose call is whose, beside the ledger: it is no fact about the work.
#[derive(Debug, Clone)]
pub struct Calls(PathBuf);

impl Calls {
    /// Those of a project.
    pub fn of(project: &Project) -> Option<Self> {
        Some(Self(project.root.as_ref()?.join(FOLDER).join("calls")))
    }

    fn path(&self, call: &str) -> PathBuf {
        self.0.join(&Hash::of(call.as_bytes()).hex()[..32])
    }

    /// Notes whose call it is, before it is made.
    pub fn note(&self, call: &str, actor: &str) -> anyhow::Result<()> {
        crate::home::private_folder(&self.0)?;
        sweep(&self.0);
        files::write(&self.path(call), actor)
    }

    /// Whose call it is. None, if that was not noted.
    pub fn whose(&self, call: &str) -> Option<String> {
        let bytes = files::read(&self.path(call), NOTE_MAX).ok()?;
        String::from_utf8(bytes).ok().filter(|actor| crate::place::must_be_usable("a note", Some(actor)).is_ok())
    }

    /// The call is over.
    pub fn forget(&self, call: &str) {
        let _ = std::fs::remove_file(self.path(call));
    }
}

/// Removes what sessions left behind in a folder of notes, once it is of no use to anybody.
pub fn sweep(folder: &Path) {
    let now = SystemTime::now();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_old(&entry.path(), now) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_old(path: &Path, now: SystemTime) -> bool {
    let changed = path.symlink_metadata().and_then(|found| found.modified());
    changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > NOTE_KEPT))
}
