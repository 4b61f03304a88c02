//! Calling git to change something: with its complaints, so that what fails can say why.

use super::hearing;
use crate::program;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long one call may take. Files are written, and on a slow disk or through filters that takes a while.
const PATIENCE: Duration = Duration::from_secs(300);
/// How much is read of an answer.
const OUT_MAX: u64 = 256 << 20;
/// How much is read of a complaint.
const ERR_MAX: u64 = 8 << 10;

/// How much a pipe takes at once, whether anybody reads or not. What is more is written beside.
const AT_ONCE_MAX: usize = 4 << 10;

/// Settings that would run something of the user's, ask for something, leave something out, or leave an index that cannot be used
/// by itself.
const SETTINGS: &[&str] = &[
    "add.ignoreErrors=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.ignoreStat=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "index.version=2",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "trailer.separators=:",
    "worktree.useRelativePaths=false",
];

/// Who writes a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "Countersign".into(), email: "countersign@localhost".into() }
    }
}

/// How git is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Git<'a> {
    /// Where.
    pub(crate) folder: &'a Path,
    /// On which index; on the one of the working tree, if it is not said.
    pub(crate) index: Option<&'a Path>,
    /// On which repository, with the folder as its working tree; on the one that the folder belongs to, if it is not
    /// said.
    pub(crate) repository: Option<&'a Path>,
    /// Where objects are looked for beside its own store.
    pub(crate) beside: Option<&'a Path>,
}

/// A call that did not do what was wanted.
#[derive(Debug)]
pub(crate) struct Fault {
    /// What git ended with. None, if it could not be run or was ended.
    pub(crate) code: Option<i32>,
    /// What it answered all the same.
    pub(crate) out: Vec<u8>,
    /// What was called, and what it complained of.
    pub(crate) text: String,
}

impl Fault {
    fn of(verb: &str, text: String) -> Self {
        Self { code: None, out: Vec::new(), text: format!("`git {verb}` {text}") }
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.text
    }
}

impl<'a> Git<'a> {
    pub(crate) fn at(folder: &'a Path) -> Self {
        Self { folder, index: None, repository: None, beside: None }
    }

    /// Runs git, with some input, and gives what it answers.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Result<Vec<u8>, Fault> {
        self.run_as(arguments, input, None)
    }

    /// The same, in somebody's name.
    pub(crate) fn run_as<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
        identity: Option<&Identity>,
    ) -> Result<Vec<u8>, Fault> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        self.start(arguments, stdin, identity)?.tell(input)
    }

    /// Begins a call whose answer somebody waits for later. It ends if nobody does.
    pub(crate) fn begin<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Begun, Fault> {
        self.start(arguments, Stdio::null(), None)
    }

    /// Begins a call that waits for its input, and does nothing before it has all of it.
    pub(crate) fn begin_idle<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Begun, Fault> {
        self.start(arguments, Stdio::piped(), None)
    }

    fn start<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        stdin: Stdio,
        identity: Option<&Identity>,
    ) -> Result<Begun, Fault> {
        let verb = arguments.first().map(|verb| verb.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
        let mut command = self.command();
        if let Some(Identity { name, email }) = identity {
            command.env("GIT_AUTHOR_NAME", name).env("GIT_AUTHOR_EMAIL", email);
            command.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email);
        }
        command.args(arguments).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Ok(child) => Ok(Begun { child: Some(child), verb, folder: self.folder.to_owned() }),
            Err(error) => Err(Fault::of(&verb, format!("cannot be run: {error}; install git"))),
        }
    }

    /// A call that is answered more than once.
    pub(super) fn to_be_kept(self, arguments: &[&str]) -> Command {
        let mut command = self.command();
        command.args(arguments);
        command
    }

    fn command(&self) -> Command {
        let mut command = program::named("git");
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_")) {
            command.env_remove(name);
        }
        command.current_dir(self.folder).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_LITERAL_PATHSPECS", "1");
        if let Some(index) = self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some(repository) = self.repository {
            command.env("GIT_DIR", repository).env("GIT_WORK_TREE", self.folder);
        }
        if let Some(beside) = self.beside {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(beside));
        }
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        apart(&mut command);
        command
    }
}

/// A path in a list in which colons stand between them.
fn quoted(path: &Path) -> OsString {
    match path.to_str() {
        Some(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")).into(),
        None => path.into(),
    }
}

/// In a group of its own, so that whoever interrupts us from a terminal does not cut git short in the middle of a
/// change.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}

/// Ends git and what it has started, such as a filter.
pub(super) fn end(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// The code, the answer and the complaint.
type Said = (Option<i32>, Vec<u8>, Vec<u8>);

/// A call of git that was begun. Dropped before its answer was waited for, it is ended.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Something, until its answer is waited for.
    child: Option<Child>,
    verb: String,
    folder: PathBuf,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child);
        }
    }
}

impl Begun {
    /// Waits for the answer.
    pub(crate) fn answer(self) -> Result<Vec<u8>, Fault> {
        self.tell(b"")
    }

    /// Gives it its input, if it takes any, and waits for the answer.
    pub(crate) fn tell(mut self, input: &[u8]) -> Result<Vec<u8>, Fault> {
        let Some(child) = self.child.take() else { return Err(Fault::of(&self.verb, "was not begun".to_owned())) };
        let (code, out, err) = finish(child, input).map_err(|why| Fault::of(&self.verb, why))?;
        if code == Some(0) {
            return Ok(out);
        }
        let err = String::from_utf8_lossy(&err);
        let lines: Vec<&str> = err.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect();
        let said = countersign_contract::diagnostic::visible(&lines.join("; ")).into_owned();
        let said = if said.is_empty() { "it says no more".to_owned() } else { said };
        Err(Fault { code, out, ..Fault::of(&self.verb, format!("in {} failed: {said}", self.folder.display())) })
    }
}

fn finish(mut child: Child, input: &[u8]) -> Result<Said, String> {
    if let Some(mut stdin) = child.stdin.take() {
        if input.len() <= AT_ONCE_MAX {
            let _ = stdin.write_all(input);
        } else {
            let input = input.to_vec();
            std::thread::spawn(move || stdin.write_all(&input));
        }
    }
    let Ok((out, err)) = hearing::hear(&mut child, (OUT_MAX, ERR_MAX), Instant::now() + PATIENCE) else {
        end(&mut child);
        return Err(format!("was not done after {} s and was ended; try again", PATIENCE.as_secs()));
    };
    let status = child.wait().map_err(|error| format!("cannot be waited for: {error}"))?;
    if !out.is_whole {
        return Err(format!("answered more than {OUT_MAX} bytes"));
    }
    Ok((status.code(), out.kept, err.kept))
}

/// Whether a text can only be the name of a commit: nothing that git would take for an option or an expression.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The lines of an answer. None, if there are not as many as were asked for: a path may have a line's end in it.
pub(crate) fn lines<const N: usize>(out: &[u8]) -> Option<[String; N]> {
    let text = std::str::from_utf8(out).ok()?;
    let lines: Vec<String> = text.strip_suffix('\n')?.split('\n').map(str::to_owned).collect();
    lines.try_into().ok()
}

/// One line of an answer that names an object.
pub(crate) fn object(out: &[u8]) -> Result<String, String> {
    let [line] = lines(out).filter(|[line]| is_commit(line)).ok_or("git answered with what is no name of an object")?;
    Ok(line)
}

/// The parts of an answer that end with zero bytes.
pub(crate) fn pieces(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}
