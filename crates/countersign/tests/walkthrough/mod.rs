//! Walkthroughs in the documentation, played: each command is typed in its terminal and prints what is shown.

#[path = "../readme/mod.rs"]
pub mod readme;

use crate::house::House;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program at a terminal that does not repeat what is typed.
const AT_A_TERMINAL: &str = "
import os, pty, subprocess, sys, termios
ours, theirs = pty.openpty()
how = termios.tcgetattr(theirs)
how[1] &= ~termios.OPOST
how[3] &= ~termios.ECHO
termios.tcsetattr(theirs, termios.TCSANOW, how)
child = subprocess.Popen(sys.argv[2:], stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
os.write(ours, sys.argv[1].encode())
while True:
    try:
        said = os.read(ours, 65536)
    except OSError:
        said = b''
    if not said:
        break
    sys.stdout.buffer.write(said)
sys.stdout.flush()
sys.exit(child.wait())
";

/// What a shell says to a command: that of a person at a terminal, who types this, or nobody's.
pub fn shell(house: &House, command: &str, env: &[(String, String)], typed: Option<&str>) -> (i32, String) {
    let own = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others))).unwrap();
    let command = format!("exec 2>&1\n{command}");
    let mut shell = match typed {
        None => Command::new("sh"),
        Some(typed) => {
            let mut person = Command::new("python3");
            person.args(["-c", AT_A_TERMINAL, typed, "sh"]);
            person
        }
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COUNTERSIGN_")) {
        shell.env_remove(name);
    }
    shell.arg("-c").arg(command).current_dir(house.path("")).env("PATH", path);
    shell.env("COUNTERSIGN_HOME", house.path(".home")).env("NO_COLOR", "1").stdin(Stdio::null());
    let output = shell.envs(env.iter().cloned()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// Plays a page. The terminal `you` has a person, who says yes. How many commands were typed.
pub fn play(house: &House, page: &str, terminals: &[&str]) -> usize {
    let mut settings: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    let steps = readme::steps(page, "console walkthrough", terminals);
    for step in &steps {
        let own = settings.entry(&step.terminal).or_default();
        if let Some((name, value)) = step.command.strip_prefix("export ").and_then(|it| it.split_once('=')) {
            own.push((name.to_owned(), value.to_owned()));
            continue;
        }
        let (_, output) = shell(house, &step.command, own, (step.terminal == "you").then_some("y\n"));
        step.must_print(&output);
    }
    steps.len()
}
