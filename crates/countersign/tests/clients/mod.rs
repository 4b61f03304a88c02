//! Clients that others wrote, each of one version, installed once below the target directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of the Python client.
const PYTHON_CLIENT: &str = "mcp==2.3.0";
/// The inspector, and the node that it needs.
const INSPECTOR: [&str; 2] = ["@modelcontextprotocol/inspector@2.12.0", "node@22.23.3"];

/// A Python that has the client.
pub fn python() -> PathBuf {
    python_with(PYTHON_CLIENT)
}

/// A Python that has a package.
pub fn python_with(package: &str) -> PathBuf {
    let folder = folder(package);
    once(&folder, || {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder), "python3 with its venv");
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
        run(Command::new(folder.join("bin/python")).args(pip), "PyPI");
    });
    folder.join("bin/python")
}

/// The inspector on its command line.
pub fn inspector() -> Command {
    let folder = folder(INSPECTOR[0]);
    once(&folder, || {
        std::fs::write(folder.join("package.json"), "{\"private\": true}\n").unwrap();
        let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(install).args(INSPECTOR).current_dir(&folder), "npm and its registry");
    });
    let programs = folder.join("node_modules/.bin");
    let mut inspector = Command::new(programs.join("node"));
    inspector.arg(programs.join("mcp-inspector")).arg("--cli");
    // It keeps a catalogue in the home of its user.
    inspector.env("HOME", &folder);
    inspector
}

fn folder(package: &str) -> PathBuf {
    let name: String =
        package.chars().map(|it| if it.is_ascii_alphanumeric() || it == '.' { it } else { '-' }).collect();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(name)
}

/// Makes what is in a folder, unless it is there; of several tests at once one makes it.
fn once(folder: &Path, make: impl FnOnce()) {
    std::fs::create_dir_all(folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let made = folder.join("made");
    if !made.exists() {
        make();
        std::fs::write(made, "").unwrap();
    }
}

fn run(command: &mut Command, needs: &str) {
    let output = command.output();
    let fine = output.as_ref().is_ok_and(|output| output.status.success());
    assert!(fine, "{command:?} does not work; this test needs {needs}: {output:?}");
}
