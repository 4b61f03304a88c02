//! Where the house stands, and how its tools are called.

use crate::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The crate of the fuzz targets, a workspace of its own.
pub(crate) fn fuzz_manifest() -> PathBuf {
    root().join("fuzz").join("Cargo.toml")
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The cargo that runs this, in the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end, with its output where ours goes.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("{} cannot be run: {error}", line_of(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", line_of(command))) }
}

/// Runs a command to its end and gives its standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", line_of(command)))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("`{}` failed ({})", line_of(command), output.status))
    }
}

/// Whether a command is there and ends well; what it says is not shown.
pub(crate) fn answers(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Whether the crate of the binary is there.
pub(crate) fn has_binary() -> bool {
    root().join("crates").join("countersign").join("Cargo.toml").is_file()
}

/// What of the workspace tests are built of. Benchmarks are left out: they are programs that measure, and fail for reasons
/// that are not ours.
pub(crate) const TESTED: &[&str] = &["--workspace", "--lib", "--bins", "--tests", "--examples"];

/// Builds the binary as it is shipped, and gives its path.
pub(crate) fn build_binary(profile: &str) -> Result<PathBuf, String> {
    build(&["--package", "countersign", "--bin", "countersign", "--profile", profile])
}

/// Builds the binary together with all tests, and gives its path. Alone it would be built from crates with other features,
/// and everything below it a second time: on two cores that took seven minutes.
pub(crate) fn build_tested_binary() -> Result<PathBuf, String> {
    build(TESTED)
}

/// Cargo is asked for the path, because it alone knows the target directory and the ending of executables here.
fn build(what: &[&str]) -> Result<PathBuf, String> {
    let messages = output(cargo(&["build", "--message-format=json-render-diagnostics"]).args(what))?;
    let messages = String::from_utf8_lossy(&messages);
    let made = messages.lines().filter_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'));
    // Tests have names of their own, and carry a hash.
    let mut made = made.map(|(path, _)| PathBuf::from(path.replace("\\\\", "\\")));
    made.find(|path| path.file_stem().is_some_and(|name| name == "countersign"))
        .ok_or_else(|| "cargo built no executable called `countersign`".to_owned())
}

fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}
