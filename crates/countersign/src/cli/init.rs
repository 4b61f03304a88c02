//! `countersign init`

use super::{Exit, Global, failed, output};
use crate::home::{Home, private_folder};
use crate::place::{self, Place};
use crate::project::FOLDER;
use anyhow::{Context, bail};
use countersign_domain::project::Init;
use countersign_engine::Engine;
use countersign_ledger::{Hash, Ledger};
use std::path::{Path, PathBuf};

/// Make this directory a project, with a ledger of its own
///
/// Makes `.countersign/` with the ledger, the settings (each explained) and a .gitignore, and a pair of signing keys in
/// the user's configuration. What is there already stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign init
  countersign init ../service --name billing")]
pub struct Args {
    /// The project's directory
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// What the project is called [default: the directory's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// What stands in a new `config.toml`.
const CONFIG: &str = include_str!("init/config.toml");
const GITIGNORE: &str =
    "# The ledger belongs to this checkout; the settings belong to the project.\n*\n!.gitignore\n!config.toml\n";

pub fn run(args: &Args, global: &Global) -> anyhow::Result<Exit> {
    if !args.directory.is_dir() {
        bail!("`{}` is not a directory; make it first", args.directory.display());
    }
    let root =
        args.directory.canonicalize().with_context(|| format!("`{}` cannot be used", args.directory.display()))?;
    let folder = root.join(FOLDER);
    private_folder(&folder)?;
    write_absent(&folder.join(".gitignore"), GITIGNORE)?;
    write_absent(&folder.join("config.toml"), CONFIG)?;
    let place = match &global.ledger {
        Some(named) => Place::parse(named, Path::new(""))?,
        None => Place::File(folder.join(place::FILE)),
    };
    let name = args.name.clone().or_else(|| Some(root.file_name()?.to_string_lossy().into_owned()));
    let name = name.unwrap_or_else(|| "project".to_owned());
    let engine = begin(&place)?;
    let call = place::call(global.actor.as_deref(), None)?;
    let answer = match engine.submit(&call, Hash::of(name.as_bytes()), Init { name: name.clone() }) {
        Ok(answer) => answer,
        Err(failure) => return failed(failure),
    };
    let id = engine.ledger().project();
    let home = Home::find()?;
    let key = home.make_keys(id)?;
    let done = if answer.events.is_empty() { "is a project already" } else { "is a project now" };
    output::print(&format!(
        "{} {done}: {id}\n  ledger      {place}\n  settings    {}\n  public key  {}\n              {key}\n\n\
         Keep the public key where others can find it: with it, exports and proofs are verified anywhere.\n",
        root.display(),
        folder.join("config.toml").display(),
        home.public_path(id).display(),
    ));
    Ok(Exit::Allowed)
}

/// Opens the ledger, or begins one under a new id. One that was begun and not finished is taken up.
fn begin(place: &Place) -> anyhow::Result<Engine> {
    let store = place.open_or_create()?;
    match Ledger::project_in(store.another()?)? {
        Some(project) => Ok(Engine::create(store, &project)?),
        None => Ok(Engine::create(store, &uuid::Uuid::now_v7().to_string())?),
    }
}

fn write_absent(path: &Path, text: &str) -> anyhow::Result<()> {
    if path.exists() { Ok(()) } else { crate::files::write_new(path, text) }
}
