//! Examples are true: every command that a document shows is run, and what it says is what the document says.
//!
//! ````text
//! ```console
//! $ countersign check examples/good/assignment.json
//! checked 1 file: 1 allowed
//! ```
//! ````
//!
//! A line that begins with `$ ` is a command, a line that ends with `\` goes on in the next, and what follows up to the
//! next command is what it prints, on both streams. A line `...` stands for any number of lines. Commands that do not
//! run `countersign` are for the reader alone, and so is what follows them.
//!
//! The commands of one document run one after the other in one copy of the workspace's files, so that an example may
//! build on the one before it and none can change the workspace.

use super::markdown::{self, Block};
use super::{Fault, Tree};
use crate::house;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command that a document shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Its line in the document, from 1.
    line: usize,
    command: String,
    /// What it is said to print.
    printed: Vec<String>,
}

pub(crate) fn check(tree: &Tree, root: &Path) -> Result<Vec<Fault>, String> {
    let mut documents: Vec<(&str, Vec<Shown>)> = Vec::new();
    for (path, text) in markdown::documents(tree) {
        let blocks = markdown::blocks(text);
        let shown: Vec<Shown> = blocks.iter().filter(|block| block.info == "console").flat_map(commands).collect();
        if shown.iter().any(|shown| runs_ours(&shown.command)) {
            documents.push((path, shown));
        }
    }
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let binary = house::build_tested_binary()?;
    let mut faults = Vec::new();
    for (path, shown) in documents {
        let copy = copy(tree, root)?;
        for shown in shown.iter().filter(|shown| runs_ours(&shown.command)) {
            let printed = run(&shown.command, &binary, copy.path())?;
            faults.extend(differs(shown, &printed).map(|message| Fault::new(path, shown.line, message)));
        }
    }
    Ok(faults)
}

/// The commands in a block.
fn commands(block: &Block<'_>) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for (index, line) in block.lines.iter().enumerate() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.command.push(' ');
                last.command.push_str(line.trim());
            }
            (Some(command), _) => {
                found.push(Shown { line: block.line + index, command: command.to_owned(), printed: Vec::new() });
            }
            (None, Some(last)) => last.printed.push((*line).to_owned()),
            (None, None) => {}
        }
        let last = found.last_mut();
        goes_on = last.is_some_and(|last| {
            let cut = last.printed.is_empty().then(|| last.command.strip_suffix('\\')).flatten();
            let cut = cut.map(|cut| cut.trim_end().to_owned());
            cut.map(|cut| last.command = cut).is_some()
        });
    }
    found
}

/// Whether a part of a command line runs the binary.
fn runs_ours(command: &str) -> bool {
    command.split(['|', ';', '&']).any(|part| part.split_whitespace().next() == Some("countersign"))
}

/// The workspace's files, where a command may do what it likes with them.
fn copy(tree: &Tree, root: &Path) -> Result<tempfile::TempDir, String> {
    let broken = |error: std::io::Error| format!("the files cannot be copied to try the examples: {error}");
    let dir = tempfile::tempdir().map_err(broken)?;
    for (path, _) in tree.files() {
        let to = dir.path().join(path);
        std::fs::create_dir_all(to.parent().unwrap_or(dir.path())).map_err(broken)?;
        std::fs::copy(root.join(path), &to).map_err(broken)?;
    }
    Ok(dir)
}

/// What a command prints on both streams, in the order in which it does.
fn run(command: &str, binary: &Path, folder: &Path) -> Result<String, String> {
    let own = binary.parent().map(Path::to_path_buf);
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others).collect::<Vec<PathBuf>>()));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", path.map_err(|error| format!("PATH cannot be set: {error}"))?);
    // The reader's own settings must play no part; nor must ours.
    shell.env("HOME", folder).env_remove("XDG_CONFIG_HOME").env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    let foreign = std::env::vars_os().map(|it| it.0).filter(|name| name.to_string_lossy().starts_with("COUNTERSIGN_"));
    for name in foreign {
        shell.env_remove(name);
    }
    let output = shell.output().map_err(|error| format!("`sh` cannot be run: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What to say if a command printed something else than is shown.
fn differs(shown: &Shown, printed: &str) -> Option<String> {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let wanted: Vec<&str> = shown.printed.iter().map(|line| line.trim_end()).collect();
    let (wanted, printed) = (without_blank_end(&wanted), without_blank_end(&printed));
    if matches(wanted, printed) {
        return None;
    }
    let indent = |lines: &[&str]| lines.iter().map(|line| format!("\n           | {line}")).collect::<String>();
    Some(format!("`{}` does not print this; it prints{}", shown.command, indent(printed)))
}

fn without_blank_end<'l, 't>(lines: &'l [&'t str]) -> &'l [&'t str] {
    let length = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    &lines[..length]
}

/// Whether lines are as wanted, where `...` stands for any number of them.
fn matches(wanted: &[&str], lines: &[&str]) -> bool {
    match wanted.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| first == line && matches(rest, lines)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_what_they_print() {
        let lines = vec!["intro", "$ countersign a \\", "    b", "x", "", "$ ls", "y"];
        let found = commands(&Block { info: "console", line: 10, lines });
        let shown = |line, command: &str, printed: &[&str]| {
            let printed = printed.iter().map(|line| (*line).to_owned()).collect();
            Shown { line, command: command.to_owned(), printed }
        };
        assert_eq!(found, [shown(11, "countersign a b", &["x", ""]), shown(15, "ls", &["y"])]);
    }

    #[test]
    fn only_commands_that_run_the_binary_are_tried() {
        assert!(runs_ours("countersign check a.json"));
        assert!(runs_ours("cat a.json | countersign check -"));
        assert!(!runs_ours("cargo install --path crates/countersign"));
    }

    #[test]
    fn dots_stand_for_any_number_of_lines() {
        assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
        assert!(matches(&["a", "...", "d"], &["a", "d"]));
        assert!(!matches(&["a", "...", "d"], &["a", "b"]));
        assert!(!matches(&["a"], &["a", "b"]));
    }

    /// The binary is stood in for by a script of two lines, which is all that the runner can tell.
    #[cfg(unix)]
    #[test]
    fn an_example_that_is_not_true_is_found() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir()?;
        let binary = dir.path().join("countersign");
        std::fs::write(&binary, "#!/bin/sh\necho to stdout: $1\necho to stderr >&2\n")?;
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755))?;
        let printed = run("countersign one", &binary, dir.path())?;
        assert_eq!(printed, "to stdout: one\nto stderr\n");
        let shown = |printed: &[&str]| {
            let printed = printed.iter().map(|line| (*line).to_owned()).collect();
            Shown { line: 1, command: "countersign one".to_owned(), printed }
        };
        assert_eq!(differs(&shown(&["to stdout: one", "to stderr"]), &printed), None);
        assert!(differs(&shown(&["to stdout: two", "..."]), &printed).is_some());
        Ok(())
    }
}
