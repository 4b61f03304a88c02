//! A project in a git repository of its own, plans with small scripts as agents, and `countersign run` in it.
//!
//! Agents are shell scripts: they begin with what `lib.sh` reads of their assignment, and end with `claim FILE…`.

#![allow(dead_code, reason = "each test uses a part")]

use countersign_domain::deciding::Role;
use countersign_engine::{Call, Engine, Failure, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What every scripted agent begins with.
const LIB: &str = r#"assignment=$(cat)
inside() { printf %s "$assignment" | sed "s/.*\"$1\":\[\([^]]*\)\].*/\1/"; }
scope=$(inside lock_scope | sed 's/^"\([^"]*\)".*/\1/')
checks() { inside acceptance_criteria | sed "s/\"\([^\"]*\)\"/{\"criterion\":\"\1\",\"status\":\"$1\",\"evidence\":\"ran it and saw it hold\"}/g"; }
changes() {
  between=
  for file in "$@"; do
    printf '%s{"resource":"%s","action":"modified","summary":"as asked"}' "$between" "$file"
    between=,
  done
}
claim() {
  printf '{"schema_version":"1.0.0","run_id":"%s","task_id":"%s","status":"done","changes":[%s],"acceptance_check":[%s],"notes_for_orchestrator":[],"worklog_path":"worklogs/%s.jsonl"}\n' \
    "$COUNTERSIGN_RUN" "$COUNTERSIGN_TASK" "$(changes "$@")" "$(checks pass)" "$COUNTERSIGN_TASK"
}
"#;

/// What the binary said and how it ended.
#[derive(Debug, Clone)]
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// Its output, if it ended so.
    #[track_caller]
    pub fn ended(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self.out
    }

    /// Whether it ended so.
    #[track_caller]
    pub fn ended_with(&self, code: i32) {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
    }

    /// Whether it says something, on either stream.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(self.out.contains(words) || self.err.contains(words), "`{words}` in\n{}\n{}", self.out, self.err);
        self
    }
}

/// A project, and all that belongs to it: keys, working trees, scripts. Gone when the test ends.
pub struct Yard {
    folder: tempfile::TempDir,
    /// Where the project is below the repository.
    inside: &'static str,
}

impl Yard {
    /// A project that is a whole repository, with a test that passes once `src/T-1` is there.
    pub fn new() -> Self {
        Self::at("")
    }

    /// A project in a folder of a repository.
    pub fn at(inside: &'static str) -> Self {
        let yard = Self::bare(inside);
        yard.git(&["init", "--quiet", "--initial-branch=main"]);
        yard.init();
        yard.commit("the beginning");
        yard
    }

    /// A project in no repository.
    pub fn plain() -> Self {
        let yard = Self::bare("");
        yard.init();
        yard
    }

    /// Files, and neither a repository nor a project.
    pub fn bare(inside: &'static str) -> Self {
        let yard = Self { folder: tempfile::tempdir().unwrap(), inside };
        std::fs::create_dir_all(yard.root()).unwrap();
        std::fs::write(yard.path("lib.sh"), LIB).unwrap();
        yard.write("src/start", "start\n");
        yard.write("tests/t.sh", "echo 1..1\nif [ -f src/T-1 ]; then echo ok 1; else echo not ok 1; fi\n");
        yard
    }

    pub fn init(&self) {
        self.run(&["init", "--name", "yard"]).ended(0);
    }

    /// Something beside the repository.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub fn root(&self) -> PathBuf {
        self.repository().join(self.inside)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(name)).ok()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(arguments);
        let output = command.current_dir(self.repository()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// An agent that does what a script says.
    pub fn agent(&self, script: &str) -> Value {
        json!({ "command": ["sh", "-c", format!(". {}\n{script}", self.path("lib.sh").display())] })
    }

    /// An agent that writes the first file of its scope.
    pub fn honest(&self) -> Value {
        self.agent("mkdir -p \"$(dirname \"$scope\")\"; echo \"$COUNTERSIGN_TASK\" > \"$scope\"; claim \"$scope\"")
    }

    /// Writes a plan, and gives its path.
    pub fn plan(&self, agents: Value, tasks: Vec<Value>, more: Value) -> String {
        let mut plan = json!({ "plan": "1.0", "objective": "o", "agents": agents, "tasks": tasks });
        for (name, value) in more.as_object().unwrap() {
            plan[name] = value.clone();
        }
        let path = self.path("plan.json");
        std::fs::write(&path, plan.to_string()).unwrap();
        path.display().to_string()
    }

    /// Runs a plan of one task, `T-1`, which changes `src/T-1`; the patch is laid over the task.
    pub fn one(&self, agents: Value, patch: Value, more: Value) -> Answer {
        let plan = self.plan(agents, vec![task("T-1", patch)], more);
        self.run(&["run", &plan])
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        let foreign = std::env::vars_os().map(|it| it.0).filter(|it| it.to_string_lossy().starts_with("COUNTERSIGN_"));
        for name in foreign {
            command.env_remove(name);
        }
        command.env("COUNTERSIGN_HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(arguments).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(arguments, &[])
    }

    pub fn run_with(&self, arguments: &[&str], env: &[(&str, &str)]) -> Answer {
        let mut command = self.command(arguments);
        command.envs(env.iter().copied());
        Going::of(command).end()
    }

    pub fn start(&self, arguments: &[&str]) -> Going {
        self.start_with(arguments, &[])
    }

    pub fn start_with(&self, arguments: &[&str], env: &[(&str, &str)]) -> Going {
        let mut command = self.command(arguments);
        command.envs(env.iter().copied());
        Going::of(command)
    }

    /// Goes on with the run until it ends by itself.
    pub fn resume(&self) -> Answer {
        self.run(&["run", "--resume"])
    }

    pub fn events(&self) -> Vec<Value> {
        let log = self.run(&["log", "--format", "json"]).ended(0);
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone()).collect()
    }

    /// How many events of a kind a task has.
    pub fn count(&self, kind: &str, task: &str) -> usize {
        self.events().iter().filter(|it| it["kind"] == kind && it["facts"]["task"] == task).count()
    }

    /// The tasks that landed, the last first.
    pub fn landed(&self) -> Vec<String> {
        let log = self.git(&["log", "--format=%(trailers:key=Countersign-Task,valueonly,separator=%x2C)"]);
        log.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    pub fn show(&self, task: &str) -> Value {
        self.look("task.show", json!({ "task_id": task }))
    }

    pub fn engine(&self) -> Engine {
        let path = self.root().join(".countersign/ledger.db");
        Engine::open(Box::new(Sqlite::open(&path, Clock::System).unwrap())).unwrap()
    }

    /// The ledger for somebody whose clock is ahead.
    pub fn engine_ahead(&self, by: Duration) -> Engine {
        let path = self.root().join(".countersign/ledger.db");
        let now = Clock::System.now().unwrap().0 + i64::try_from(by.as_millis()).unwrap();
        let (clock, _) = Clock::manual(countersign_ledger::Time(now));
        Engine::open(Box::new(Sqlite::open(&path, clock).unwrap())).unwrap()
    }

    pub fn look(&self, view: &str, question: Value) -> Value {
        self.engine().look(&Nowhere, &Call::declared("lead"), view, &question.to_string()).unwrap()
    }

    /// A person who owns the project answers.
    pub fn owner(&self, command: &str, request: Value) -> Result<Value, String> {
        let call = Call { roles: vec![Role::Owner], ..Call::declared("ann") };
        match self.engine().ask(&Nowhere, &call, command, &request.to_string()) {
            Ok(reply) => Ok(reply.answer),
            Err(Failure::Refused(refusal)) => Err(format!("{}: {}", refusal.code.as_str(), refusal.reason)),
            Err(failure) => panic!("{command}: {failure:?}"),
        }
    }

    /// The file with the owner's token.
    pub fn owner_token(&self) -> String {
        let mut tokens = std::fs::read_dir(self.path("home/tokens")).unwrap().flatten().map(|it| it.path());
        tokens.find(|path| path.extension().is_some_and(|it| it == "owner")).unwrap().display().to_string()
    }

    /// A person who owns the project says on the command line how a run goes on; of a task that waits for them, with the
    /// mark of what they are asked.
    pub fn decide(&self, arguments: &[&str]) -> Answer {
        let inbox = self.look("inbox.list", json!({}));
        let run = arguments.iter().skip_while(|it| **it != "--run").nth(1);
        let is_asked = |item: &&Value| {
            arguments.get(2).is_some_and(|task| item["task_id"] == *task)
                && run.is_none_or(|run| item["run_id"] == *run)
        };
        let item = inbox["items"].as_array().unwrap().iter().find(is_asked).filter(|_| arguments[0] == "task");
        let mark = item.and_then(|item| item["shown"].as_str()).unwrap_or_default();
        let shown: &[&str] = if mark.is_empty() { &[] } else { &["--shown", mark] };
        self.run(&[arguments, shown, &["--token-file", &self.owner_token()]].concat())
    }

    /// A person accepts something that was changed beside the run, exactly as it is.
    #[track_caller]
    pub fn accept(&self, content: &str) {
        self.decide(&["run", "accept", content, "--reason", "it is fine"]).ended_with(0);
    }

    /// A person commits everything while a run goes on, and answers for it before anybody asks.
    #[track_caller]
    pub fn commit_and_accept(&self, message: &str) {
        self.commit(message);
        self.accept(&self.git(&["rev-parse", "HEAD"]));
    }

    /// The only thing that waits for a person.
    pub fn asked(&self) -> Value {
        let inbox = self.look("inbox.list", json!({}));
        assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
        inbox["items"][0].clone()
    }

    /// Asserts that nothing of a run is left lying about, and that the ledger holds.
    #[track_caller]
    pub fn is_tidy(&self) {
        assert_eq!(self.processes(), Vec::<String>::new(), "processes are left");
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1, "working trees are left");
        assert_eq!(self.git(&["for-each-ref", "refs/countersign"]), "", "references are left");
        assert_eq!(self.git(&["status", "--porcelain"]), "", "the tree is not clean");
        assert_eq!(files(&self.path("state")), Vec::<PathBuf>::new(), "files of working trees are left");
        assert_eq!(files(&self.root().join(".countersign/runs")), Vec::<PathBuf>::new(), "files of attempts are left");
        self.run(&["verify"]).ended(0);
    }

    /// Processes that carry the mark of an attempt in this project.
    pub fn processes(&self) -> Vec<String> {
        let own = format!("COUNTERSIGN_PROJECT={}", self.root().display());
        let runs: Vec<String> = self.runs().iter().map(|run| format!("COUNTERSIGN_ATTEMPT={run}.")).collect();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let found = entries.filter(|entry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            environment.split('\0').any(|it| it == own || runs.iter().any(|run| it.starts_with(run)))
        });
        let name = |path: PathBuf| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ");
        found.map(|entry| name(entry.path())).filter(|name| !name.is_empty()).collect()
    }

    pub fn runs(&self) -> Vec<String> {
        let runs = self.look("run.list", json!({}));
        runs["runs"].as_array().unwrap().iter().map(|it| it["run_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Every byte of the ledger.
    pub fn ledger(&self) -> Vec<u8> {
        let names = ["ledger.db", "ledger.db-wal"].map(|name| self.root().join(".countersign").join(name));
        names.iter().flat_map(|path| std::fs::read(path).unwrap_or_default()).collect()
    }
}

/// A test that fails leaves nothing running: whoever carries the mark of an attempt and works in this yard is ended.
impl Drop for Yard {
    fn drop(&mut self) {
        let Ok(own) = self.folder.path().canonicalize() else { return };
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            let is_here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|it| it.starts_with(&own))
                || environment.contains(&*own.to_string_lossy());
            if is_here && environment.split('\0').any(|it| it.starts_with("COUNTERSIGN_ATTEMPT=")) {
                let _ = Command::new("kill").arg("-9").arg(entry.file_name()).status();
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

/// A task that changes `src/ID` and is done when that file is there, with a patch over it.
pub fn task(id: &str, patch: Value) -> Value {
    let path = format!("src/{id}");
    let mut task = json!({
        "id": id, "title": format!("do {id}"), "agent": "coder", "lock_scope": [path],
        "acceptance": [{ "text": "the file is there", "check": { "file": { "path": path } } }],
    });
    for (name, value) in patch.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

/// `countersign run` while it runs. Ended for good when it is dropped.
pub struct Going {
    child: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
    pub out: String,
}

impl Going {
    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, errors) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, lines, errors, out: String::new() }
    }

    /// Waits for its next line. None, when there is none any more.
    pub fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.out.push_str(&line);
                self.out.push('\n');
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing was said for {PATIENCE:?} after\n{}", self.out),
        }
    }

    /// Waits until it says something.
    #[track_caller]
    pub fn until(&mut self, words: &str) -> &mut Self {
        while let Some(line) = self.line() {
            if line.contains(words) {
                return self;
            }
        }
        panic!("it ended without `{words}`:\n{}\n{}", self.out, self.errors.iter().collect::<Vec<_>>().join("\n"));
    }

    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn end(mut self) -> Answer {
        while self.line().is_some() {}
        let err = self.errors.iter().fold(String::new(), |all, line| all + &line + "\n");
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Answer { code, out: std::mem::take(&mut self.out), err }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Waits until something holds.
#[track_caller]
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}
