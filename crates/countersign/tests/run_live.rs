//! What is seen of a run at a real terminal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

mod run_support;

use run_support::{Yard, task};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Runs a program at a terminal of its own, types something as soon as it has said certain words, and writes down what was
/// shown; then how it ended, and whether the terminal is set as before.
const AT_A_TERMINAL: &str = "
import fcntl, json, os, pty, select, struct, sys, termios
words, typed, program = sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 200, 0, 0))
before, shown = termios.tcgetattr(theirs), b''
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(theirs, stream)
    os.execvp(program[0], program)
fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
status, ended = 0, 0
while True:
    if not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
    try:
        said = os.read(ours, 65536)
    except BlockingIOError:
        said = b''
    shown += said
    if typed and words in shown:
        os.write(ours, typed)
        typed = b''
    if ended and not said:
        break
    if not said:
        select.select([ours], [], [], 0.05)
told = {'code': os.waitstatus_to_exitcode(status), 'same': termios.tcgetattr(theirs) == before, 'shown': shown.decode()}
print(json.dumps(told))
";

/// What was shown, frame by frame: each is drawn over the one before.
struct Shown {
    code: i64,
    same: bool,
    raw: String,
    frames: Vec<String>,
    /// What stands there in the end.
    left: String,
}

fn at_a_terminal(yard: &Yard, arguments: &[&str], words: &str, typed: &str) -> Shown {
    let own = yard.command(arguments);
    let mut command = Command::new("python3");
    command.args(["-c", AT_A_TERMINAL, words, typed]).arg(own.get_program()).args(own.get_args());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TERM", "xterm").env("NO_COLOR", "1").current_dir(yard.root()).stdin(Stdio::null());
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let raw = told["shown"].as_str().unwrap().replace("\r\n", "\n");
    // Up so many lines, to their beginning, and everything below is gone.
    let mut frames: Vec<String> = Vec::new();
    let mut rest = raw.as_str();
    while let Some((frame, after)) = rest.split_once("A\r\u{1b}[J") {
        let (frame, up) = frame.rsplit_once("\u{1b}[").unwrap();
        let up: usize = up.parse().unwrap();
        // What the terminal itself repeats of what is typed stands on a line that is not over.
        let drawn = frame.matches('\n').count();
        assert!(frames.is_empty() || drawn == up, "{drawn} lines were drawn, and {up} taken away:\n{frame}");
        frames.push(frame.to_owned());
        rest = after;
    }
    Shown {
        code: told["code"].as_i64().unwrap(),
        same: told["same"] == true,
        left: rest.to_owned(),
        frames,
        raw: raw.clone(),
    }
}

impl Shown {
    /// A frame in which a row of a task has all of these words.
    #[track_caller]
    fn row(&self, task: &str, words: &[&str]) {
        let is_row = |line: &&str| line.starts_with(task) && words.iter().all(|word| line.contains(word));
        assert!(
            self.frames.iter().any(|frame| frame.lines().any(|line| is_row(&line))),
            "{task} {words:?}:\n{}",
            self.raw
        );
    }

    /// Nothing of the view stays, the terminal is set as before, and nothing of it is hidden.
    #[track_caller]
    fn is_restored(&self) {
        assert!(self.same, "the terminal is set otherwise:\n{}", self.raw);
        assert!(!self.left.contains("GATES") && !self.left.contains('\u{1b}'), "{:?}", self.left);
        for (off, on) in
            [("\u{1b}[?25l", "\u{1b}[?25h"), ("\u{1b}[?1049h", "\u{1b}[?1049l"), ("\u{1b}[?7l", "\u{1b}[?7h")]
        {
            assert_eq!(self.raw.matches(off).count(), self.raw.matches(on).count(), "{off:?}");
        }
    }
}

fn plan(yard: &Yard, script: &str) -> String {
    let judge = "echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    let agents =
        json!({ "coder": yard.agent(script), "arbiter": { "command": yard.agent(judge)["command"], "role": "judge" } });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "depends_on": ["T-1"] }))];
    let more =
        json!({ "gates": { "judge": "arbiter" }, "budgets": { "attempts": 5, "wall_time": "1h", "tokens": 90000 } });
    yard.plan(agents, tasks, more)
}

#[test]
fn tasks_gates_holders_times_and_budgets_are_seen_while_it_goes_on_and_a_report_stays() {
    let yard = Yard::new();
    let plan = plan(&yard, "mkdir -p src; echo x > $scope; claim $scope");
    let shown = at_a_terminal(&yard, &["run", &plan], "", "");
    assert_eq!(shown.code, 0, "{}", shown.raw);
    let head = ["TASK", "AGENT", "GATES", "NOW", "FOR", "ATTEMPT", "HOLDS", "TITLE"];
    shown.row("TASK", &head);
    // Before it is begun, in work, claimed, at the judge, done.
    shown.row("T-2", &["coder", "···", "waits", "do T-2"]);
    shown.row("T-1", &["coder", "…··", "works, attempt 1", "0s", "src/T-1", "do T-1"]);
    shown.row("T-1", &["✓…·", "claims to be done", "src/T-1"]);
    shown.row("T-1", &["✓✓…", "PASS by builtin", "src/T-1"]);
    shown.row("T-1", &["✓✓✓", "done (verified)"]);
    shown.row("T-2", &["✓✓✓", "done (verified)"]);
    let spent = |line: &str| line.contains("of 1h · 1 of 5 attempts · 0 of 90000 tokens");
    assert!(shown.frames.iter().any(|frame| frame.lines().any(spent)), "{}", shown.raw);
    shown.is_restored();
    assert!(shown.left.contains("2 of 2 tasks are done"), "{:?}", shown.left);
    yard.is_tidy();
}

#[test]
fn an_interrupt_stops_it_and_leaves_the_terminal_as_it_was() {
    let yard = Yard::new();
    let plan = plan(&yard, "echo here >&2; sleep 600");
    let shown = at_a_terminal(&yard, &["run", &plan], "T-1: | here", "\u{3}");
    assert_eq!(shown.code, 1, "{}", shown.raw);
    shown.row("T-1", &["coder", "…··", "works, attempt 1", "src/T-1"]);
    assert!(shown.frames.iter().any(|frame| frame.contains("stopping: agents are asked to end")), "{}", shown.raw);
    shown.is_restored();
    assert!(shown.left.contains("--resume"), "{:?}", shown.left);
    assert_eq!(yard.show("T-1")["task"]["status"], "todo");
    assert_eq!(yard.processes(), Vec::<String>::new());
}

#[test]
fn a_run_that_goes_on_shows_what_was_done_and_since_when() {
    let yard = Yard::new();
    let script = "if [ $COUNTERSIGN_TASK = T-2 ]; then exit 1; fi; mkdir -p src; echo x > $scope; claim $scope";
    let plan = plan(&yard, script);
    yard.run(&["run", &plan, "--no-wait"]).says("T-1: done (verified)").ended_with(1);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let shown = at_a_terminal(&yard, &["run", "--resume", "--no-wait"], "", "");
    let row =
        |line: &&str| line.starts_with("T-1") && ["✓✓✓", "done (verified)", "1"].iter().all(|it| line.contains(it));
    let first = shown.frames.iter().find(|frame| frame.contains("GATES")).unwrap();
    let row = first.lines().find(row).unwrap_or_else(|| panic!("{first}"));
    assert!(["2s", "3s", "4s", "5s", "6s"].iter().any(|it| row.contains(it)), "{row}");
    assert!(first.lines().any(|line| line.starts_with("T-2") && line.contains("waits for a person")), "{first}");
}
