//! `cargo xtask bench-peers`: what a check costs beside ajv and pydantic. Both are installed under `target/peers` where they
//! are missing, and measured in the same run as ours.

use crate::house::{cargo, run, target_dir};
use crate::{Outcome, Verb, no_arguments};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "bench-peers",
    arguments: "",
    summary: "measure a check beside ajv and pydantic (needs node and python3)",
    run: verb,
};

/// The peers, at the versions that were compared.
const NODE_PACKAGES: &[&str] = &["ajv@8", "ajv-formats@3"];
const PYTHON_PACKAGES: &[&str] = &["pydantic>=2,<3"];

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let peers = target_dir().join("peers");
    std::fs::create_dir_all(&peers).map_err(|error| format!("{}: {error}", peers.display()))?;
    if !peers.join("node_modules/ajv").exists() {
        println!("installing ajv into {}", peers.display());
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).args(NODE_PACKAGES).current_dir(&peers))?;
    }
    let venv = peers.join("venv");
    if !venv.join("bin/python").exists() {
        println!("installing pydantic into {}", venv.display());
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        run(Command::new(venv.join("bin/pip")).args(["install", "--quiet"]).args(PYTHON_PACKAGES))?;
    }
    run(cargo(&["bench", "-p", "countersign", "--bench", "peers"]).env("COUNTERSIGN_PEERS", &peers))
}
