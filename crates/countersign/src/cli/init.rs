//! `countersign init`

use super::asking::{How, answer, refused};
use super::{Exit, Global, checkpoint, output};
use crate::home::{Home, private_folder};
use crate::place::{self, Place};
use crate::project::{FOLDER, Project, main_project};
use crate::token::Tokens;
use crate::world::Around;
use anyhow::{Context, bail};
use countersign_contract::Text;
use countersign_diagnostic::visible_lines;
use countersign_domain::project::Init;
use countersign_engine::Engine;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Make this directory a project, with a ledger of its own
///
/// Makes `.countersign/` with the ledger, the settings (each explained) and a .gitignore, and a pair of signing keys in
/// the user's configuration. What is there already stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign init
  countersign init ../service --name billing
  PGPASSWORD=… countersign init --ledger postgres://countersign@db.example/agents")]
pub struct Args {
    /// The project's directory
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// What the project is called [default: the directory's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Begin another project although one was made here and its ledger is gone, or elsewhere
    #[arg(long)]
    new: bool,

    #[command(flatten)]
    how: How,
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
    if let Some(main) = main_project(&root)? {
        bail!("this is a worktree of {}, whose project and ledger are used here too", main.display());
    }
    let folder = root.join(FOLDER);
    let home = Home::find()?;
    // Whoever comes second finds what the first has made, and its settings.
    let _held = home.hold(&root)?;
    let project = Project::find(Some(&root), None)?;
    let place = Place::of(&project, global.ledger.as_deref())?;
    let configured = place.to_configure(&root)?;
    let known = known(&place, &project, args.new)?;
    furnish(&folder)?;
    let name = args.name.clone().or_else(|| Some(root.file_name()?.to_string_lossy().into_owned()));
    let name = name.unwrap_or_else(|| "project".to_owned());
    let engine = begin(&place, known)?;
    let id = engine.ledger().project();
    // Before the first event: a ledger without a key could sign nothing.
    let key = home.make_keys(id)?;
    home.pin(&root, id)?;
    if let Some(address) = configured {
        configure(&folder.join("config.toml"), &address, id)?;
    }
    let call = place::call(global, id, None)?;
    Tokens::of(&home, id).make_owner(&call.actor)?;
    let name = Text::parse(&name).context("the name of a project has 1 to 200 characters")?;
    let reply = match engine.submit(&Around::of(&project), &call, &Init { name }) {
        Ok(reply) => reply,
        Err(failure) => return refused(failure, args.how.format),
    };
    // From here on, a ledger that is cut or made anew is found out.
    if checkpoint::signed(&engine)?.is_none() {
        return Ok(Exit::Refused);
    }
    let is_new = !reply.events.is_empty();
    let (settings, public) = (folder.join("config.toml"), home.public_path(id, &key));
    let shown = json!({
        "project": id, "new": is_new, "directory": root, "ledger": place.to_string(), "settings": settings,
        "public_key": key.to_string(), "public_key_file": public,
    });
    let said = |_: &_| {
        let done = if is_new { "is a project now" } else { "is a project already" };
        visible_lines(&format!(
            "{} {done}: {id}\n  ledger      {place}\n  settings    {}\n  public key  {}\n              {key}\n\n\
             Keep the public key where others can find it: with it, exports and proofs are verified anywhere.\n",
            root.display(),
            settings.display(),
            public.display(),
        ))
        .into_owned()
    };
    output::print(&answer(&shown, args.how.format, said));
    Ok(Exit::Allowed)
}

/// Makes the folder of a project with what belongs beside a ledger. What is there stays as it is.
pub(super) fn furnish(folder: &Path) -> anyhow::Result<()> {
    private_folder(folder)?;
    write_absent(&folder.join(".gitignore"), GITIGNORE)?;
    write_absent(&folder.join("config.toml"), CONFIG)
}

/// The project that was made here before, if its ledger is in this place. Where it is not, nothing is begun in its stead
/// unless that is asked for.
fn known(place: &Place, project: &Project, new: bool) -> anyhow::Result<Option<String>> {
    let Some(expected) = place.expected(project) else { return Ok(None) };
    let lost = match place.holds(&expected)? {
        true if !was_emptied(place, &expected)? => return Ok(Some(expected)),
        true => "has nothing in it any more",
        false => "is gone",
    };
    if new {
        return Ok(None);
    }
    let root = project.root.as_deref().unwrap_or(Path::new(".")).display();
    let begin = "To begin another one here: `countersign init --new`";
    if place.is_own_of(project) {
        bail!(
            "{root} was made project {expected}, and its ledger {place} {lost}; put a backup in its place, or make it again \
             with `countersign import`. {begin}"
        );
    }
    bail!(
        "{root} is project {expected} already, and its ledger is not {place}; `countersign migrate` moves it there. {begin}"
    );
}

/// Whether a ledger that is there has lost everything: a checkpoint was kept of it, and it has no event. One that was begun
/// and not finished has no checkpoint yet.
fn was_emptied(place: &Place, project: &str) -> anyhow::Result<bool> {
    let kept = Home::find()?.kept_checkpoint(project)?.is_some_and(|it| it.size > 0);
    Ok(kept && place.open()?.head()?.seq == 0)
}

/// Opens the ledger, or begins one under a new id. One that was begun and not finished is taken up.
fn begin(place: &Place, known: Option<String>) -> anyhow::Result<Engine> {
    let project = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let engine = Engine::create(place.open_or_create(&project)?, &project)?;
    let found = engine.ledger().project();
    // A database is asked for a project by its id, and would never give this one out again.
    if matches!(place, Place::Database(..)) && found != project {
        bail!("what {place} holds as project {project} says that it is project {found}; put a backup in its place");
    }
    Ok(engine)
}

/// Names the place and the project in the settings.
fn configure(path: &Path, url: &str, project: &str) -> anyhow::Result<()> {
    crate::files::write(path, &configured(path, url, project)?)
}

/// The settings with the place and the project named, where they stand as comments.
pub fn configured(path: &Path, url: &str, project: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let line = |name: &str, value: &str| format!("{name} = {}", toml::Value::String(value.to_owned()));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (name, value) in [("place", url), ("project", project)] {
        let starts = |it: &String| it.starts_with(&format!("{name} =")) || it.starts_with(&format!("# {name} ="));
        match lines.iter_mut().find(|it| starts(it)) {
            Some(found) => *found = line(name, value),
            None => bail!(
                "{} has no place for the ledger's address; add `[ledger]` with {} to it",
                path.display(),
                line(name, value)
            ),
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// Somebody else may write it at the same time, and then theirs stays.
fn write_absent(path: &Path, text: &str) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    crate::files::write_new(path, text).or_else(|error| if path.exists() { Ok(()) } else { Err(error) })
}
