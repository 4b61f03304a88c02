//! Where the demonstration takes place: a small till in shell, its tests, and the plan.

use crate::cli::words::cut;
use anyhow::{Context, bail};
use countersign_runner::program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long one call of git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is there before anybody works.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("scenery/README.md")),
    ("tests/tap.sh", include_str!("scenery/tests/tap.sh")),
    ("tests/sum.t", include_str!("scenery/tests/sum.t")),
    ("tests/round.t", include_str!("scenery/tests/round.t")),
    ("tests/change.t", include_str!("scenery/tests/change.t")),
    ("tests/refuse.t", include_str!("scenery/tests/refuse.t")),
    ("tests/receipt.t", include_str!("scenery/tests/receipt.t")),
];

const PLAN: &str = include_str!("scenery/plan.yaml");

/// What is to be done on the platform, which here is the repository itself.
const RELEASE: &str = include_str!("scenery/release.yaml");

/// What stands in the plan for this program.
const PROGRAM: &str = "\"PROGRAM\"";

/// The programs of the till as they should be, and a manual that is not quite.
const MENDED: &[(&str, &str)] = &[
    ("till/sum.sh", include_str!("scenery/till/sum.sh")),
    ("till/round.sh", include_str!("scenery/till/round.sh")),
    ("till/change.sh", include_str!("scenery/till/change.sh")),
    ("till/refuse.sh", include_str!("scenery/till/refuse.sh")),
    ("till/receipt.sh", include_str!("scenery/till/receipt.sh")),
    ("doc/manual.md", include_str!("scenery/manual.md")),
];

/// A file of the till as it should be.
pub fn mended(name: &str) -> &'static str {
    MENDED.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

/// Makes the repository, without a commit yet.
pub fn build(dir: &Path) -> anyhow::Result<PathBuf> {
    let root = dir.join("till");
    for (name, text) in FILES {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(&root);
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        crate::files::write(&path, text)?;
    }
    let program = std::env::current_exe().context("it cannot be told which program this is")?;
    let program = program.to_str().context("the name of this program is no text, which a plan needs")?;
    // A text in JSON is one in YAML.
    let plan = PLAN.replace(PROGRAM, &serde_json::Value::from(program).to_string());
    crate::files::write(&root.join("plan.yaml"), &plan)?;
    git(&root, &["init", "--quiet", "--initial-branch=main", "--template="])?;
    git(&root, &["config", "core.autocrlf", "false"])?;
    Ok(root)
}

/// Makes the first commit.
pub fn commit(root: &Path) -> anyhow::Result<()> {
    git(root, &["add", "--all"])?;
    git(root, &["commit", "--quiet", "--no-verify", "--message", "A till without programs"])?;
    Ok(())
}

/// Writes the instruction: a tag on the commit that is there, asked for now.
pub fn instruct(root: &Path) -> anyhow::Result<()> {
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second())?.to_string();
    let day = now.get(..10).unwrap_or_default();
    let release = RELEASE.replace("COMMIT", commit.trim()).replace("NOW", &now).replace("TODAY", day);
    crate::files::write(&root.join("release.yaml"), &release)
}

/// Keeps the instruction and the entry of the audit trail with the rest.
pub fn keep(root: &Path) -> anyhow::Result<()> {
    git(root, &["add", "release.yaml", ".evidence"])?;
    git(root, &["commit", "--quiet", "--no-verify", "--message", "What was done on the platform"])?;
    Ok(())
}

/// Asks git, whatever its user has set up.
pub fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false"]).args(arguments).current_dir(root);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Countersign").env(format!("GIT_{who}_EMAIL"), "countersign@localhost");
    }
    let line = arguments.join(" ");
    let said = program::run(command, &[], Instant::now() + PATIENCE);
    let said = said.context("git cannot be run, and the demonstration needs it; install git 2.40 or newer")?;
    if !said.ok {
        bail!("`git {}` failed in {}", cut(&line, Some(80)), root.display());
    }
    Ok(String::from_utf8_lossy(&said.out).into_owned())
}
