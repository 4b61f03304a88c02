//! `cargo xtask bench-peers`: what a check costs beside ajv and pydantic, and what handoffs cost beside a script with
//! jsonschema and tiktoken. They are installed under `target/peers` where they are missing, and measured in the same run as
//! ours.

use crate::house::{cargo, output, run, target_dir};
use crate::{Outcome, Verb, no_arguments};
use std::path::Path;
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "bench-peers",
    arguments: "",
    summary: "measure checks and handoffs beside ajv, pydantic, jsonschema and tiktoken (needs node and python3)",
    run: verb,
};

/// The peers, at the versions that were compared.
const NODE_PACKAGES: &[&str] = &["ajv@8", "ajv-formats@3"];
const PYTHON_PACKAGES: &[&str] = &["pydantic>=2,<3", "jsonschema>=4,<5", "tiktoken>=0.14,<1"];
/// Says in the environment of Python which packages it has.
const INSTALLED: &str = "countersign-packages";

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let peers = target_dir().join("peers");
    std::fs::create_dir_all(&peers).map_err(|error| format!("{}: {error}", peers.display()))?;
    if !peers.join("node_modules/ajv").exists() {
        println!("installing ajv into {}", peers.display());
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).args(NODE_PACKAGES).current_dir(&peers))?;
    }
    install_python(&peers.join("venv"))?;
    let vocabulary = peers.join("tiktoken");
    place_vocabulary(&vocabulary)?;
    let bench = ["bench", "-p", "countersign", "--bench", "peers", "--bench", "handoff"];
    run(cargo(&bench).env("COUNTERSIGN_PEERS", &peers).env("TIKTOKEN_CACHE_DIR", &vocabulary))
}

fn install_python(venv: &Path) -> Outcome {
    let (installed, packages) = (venv.join(INSTALLED), PYTHON_PACKAGES.join("\n"));
    if std::fs::read_to_string(&installed).is_ok_and(|it| it == packages) {
        return Ok(());
    }
    println!("installing {} into {}", PYTHON_PACKAGES.join(", "), venv.display());
    run(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    run(Command::new(venv.join("bin/pip")).args(["install", "--quiet"]).args(PYTHON_PACKAGES))?;
    std::fs::write(&installed, packages).map_err(|error| format!("{}: {error}", installed.display()))
}

/// Puts the vocabulary where tiktoken looks before it asks the network. The crate from which our tables are made has the same
/// file, and tiktoken compares its hash.
fn place_vocabulary(cache: &Path) -> Outcome {
    /// The SHA-1 of the address from which tiktoken would take it.
    const NAME: &str = "fb374d419588a4632f3f557e76b4b70aebbca790";
    let place = cache.join(NAME);
    if place.exists() {
        return Ok(());
    }
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1"]))?;
    let metadata = String::from_utf8_lossy(&metadata);
    let manifests = metadata.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut folders = manifests.filter_map(|path| Path::new(path).parent());
    let folder = folders.find(|it| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("tiktoken-rs-")));
    let folder = folder.ok_or("cargo knows no folder of the crate `tiktoken-rs`, which has the vocabulary")?;
    std::fs::create_dir_all(cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    let from = folder.join("assets").join("o200k_base.tiktoken");
    std::fs::copy(&from, &place).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}
