//! The README as a script: what it says to type is typed, and what it shows must be printed.

use crate::house::House;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command, in which terminal it is typed, and what it prints.
pub struct Step {
    pub terminal: String,
    pub command: String,
    pub printed: Vec<String>,
}

pub fn text() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

/// The lines of the fenced blocks that are called so, one after the other.
pub fn lines<'t>(readme: &'t str, block: &str) -> Vec<&'t str> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line.strip_prefix("```") {
            Some(info) => inside = info == block,
            None if inside => lines.push(line),
            None => {}
        }
    }
    lines
}

/// The commands of the fenced blocks that are called so. A prompt is the name of a terminal and `$`.
pub fn steps(readme: &str, block: &str, terminals: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in lines(readme, block) {
        let prompt = line.split_once("$ ").filter(|(prompt, _)| terminals.contains(prompt));
        match (prompt, steps.last_mut()) {
            (_, Some(last)) if last.printed.is_empty() && last.command.ends_with('\\') => {
                last.command.pop();
                last.command.push_str(line.trim());
            }
            (Some((terminal, command)), _) => {
                steps.push(Step { terminal: terminal.to_owned(), command: command.to_owned(), printed: Vec::new() });
            }
            (None, Some(last)) => last.printed.push(line.to_owned()),
            (None, None) => {}
        }
    }
    steps
}

impl Step {
    /// Types the command in a directory, and expects what is shown.
    pub fn play(&self, house: &House, settings: &[(String, String)]) {
        let own = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap().to_owned();
        let others = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others))).unwrap();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec 2>&1\n{}", self.command)).current_dir(house.path(""));
        let foreign = std::env::vars_os().map(|it| it.0);
        for name in
            foreign.filter(|it| ["COUNTERSIGN_", "GIT_"].iter().any(|its| it.to_string_lossy().starts_with(its)))
        {
            shell.env_remove(name);
        }
        shell.env("PATH", path).env("COUNTERSIGN_HOME", house.path(".home")).stdin(Stdio::null());
        shell.envs(settings.iter().cloned());
        self.must_print(&String::from_utf8(shell.output().unwrap().stdout).unwrap());
    }

    pub fn must_print(&self, output: &str) {
        let printed: Vec<&str> = output.lines().map(str::trim_end).collect();
        let wanted: Vec<&str> = self.printed.iter().map(|line| line.trim_end()).collect();
        assert!(matches(&wanted, &printed), "`{}` does not print what is shown, but\n{output}", self.command);
    }
}

/// Whether lines are as shown, where a line `...` stands for any number of them and `…` for anything in a line.
fn matches(wanted: &[&str], lines: &[&str]) -> bool {
    let alike = |wanted: &str, line: &str| match wanted.split_once('…') {
        None => wanted == line,
        Some((before, after)) => {
            line.len() >= before.len() + after.len() && line.starts_with(before) && line.ends_with(after)
        }
    };
    match wanted.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| alike(first, line) && matches(rest, lines))
        }
    }
}
