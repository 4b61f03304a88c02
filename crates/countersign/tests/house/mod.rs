//! A directory of its own for each test, and the binary in it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory with files in it, gone when the test ends.
pub struct House(tempfile::TempDir);

/// What the binary said and how it ended.
#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl House {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The smallest example of a contract with a merge patch on it.
    pub fn document(&self, name: &str, contract: &str, patch: Value) -> &Self {
        self.write(name, format!("{:#}\n", document(contract, patch)))
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The owner's token, as `init` made it.
    pub fn owner_token(&self) -> String {
        let tokens = std::fs::read_dir(self.path(".home/tokens")).unwrap().map(|entry| entry.unwrap().path());
        let owner = tokens.into_iter().find(|path| path.extension().is_some_and(|it| it == "owner"));
        owner.unwrap().display().to_string()
    }

    /// Every file below, with its text.
    pub fn all(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, all) } else { all.push((path.clone(), std::fs::read(&path).unwrap())) }
            }
        }
        let mut all = Vec::new();
        walk(self.0.path(), &mut all);
        all.sort();
        all
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(arguments, "", &[])
    }

    pub fn run_with(&self, arguments: &[&str], stdin: &str, env: &[(&str, &str)]) -> Answer {
        self.run_in(self.0.path(), arguments, stdin, env)
    }

    /// The same for somebody who stands elsewhere.
    pub fn run_in(&self, folder: &Path, arguments: &[&str], stdin: &str, env: &[(&str, &str)]) -> Answer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(folder);
        // Settings of whoever runs the tests are not the tests'.
        let foreign = std::env::vars_os().map(|it| it.0).filter(|it| it.to_string_lossy().starts_with("COUNTERSIGN_"));
        for name in foreign.chain(["PGPASSWORD".into(), "CLAUDE_PROJECT_DIR".into()]) {
            command.env_remove(name);
        }
        // Keys of tests are not the user's.
        command.env("COUNTERSIGN_HOME", self.path(".home"));
        // Nor are the settings of the user's clients.
        command.env("CLAUDE_CONFIG_DIR", self.path(".home/claude")).env("CODEX_HOME", self.path(".home/codex"));
        command.envs(env.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that does not read its input closes it early.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        Answer {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The decisions of a check, one for each document.
    pub fn decisions(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let answer = self.run(&[&["check", "--format", "json"], arguments].concat());
        (answer.code, answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// The codes of a check, one for each document.
    pub fn codes(&self, arguments: &[&str]) -> (i32, Vec<String>) {
        let (code, decisions) = self.decisions(arguments);
        (code, decisions.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect())
    }
}

/// The smallest example of a contract with a merge patch on it.
pub fn document(contract: &str, patch: Value) -> Value {
    let contract = countersign_domain::contract(contract).unwrap();
    let mut document = (contract.example)();
    countersign_contract::prove::merge(&mut document, &patch);
    (contract.seal)(&mut document);
    document
}
