//! `countersign targets`

use super::output::Format;
use super::{Exit, output};
use crate::gather::Input;
use crate::project::Project;
use crate::{files, world};
use anyhow::Context;
use countersign_contract::{Form, Request, SIZE_MAX, check, parse, utf8};
use countersign_diagnostic::render::text;
use countersign_diagnostic::{Source, visible, visible_json};
use countersign_domain::handoff::payload::UniversalHandoff;
use countersign_domain::handoff::targets::{self, Candidate};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Find who could take a handoff over, with scores and their reasons
///
/// Candidates come from registries (`workflows:` with a list of entries) and from the front matter of skill files, which
/// wins over a registry. Without --registry and --skills, `.countersign/registry.yaml`, `.claude/skills` and `skills` of
/// the project are looked at.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign targets handoff.json
  countersign targets handoff.json --skills ~/skills --registry workflows.yaml --format json")]
pub struct Args {
    /// The handoff, or - for standard input
    #[arg(value_name = "HANDOFF")]
    file: PathBuf,

    #[command(flatten)]
    among: Among,

    /// How the list is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Among whom a target is looked for.
#[derive(Debug, clap::Args)]
pub struct Among {
    /// A registry of workflows, YAML or JSON; may be given several times
    #[arg(long, value_name = "FILE")]
    registry: Vec<PathBuf>,

    /// A directory with skill files; may be given several times
    #[arg(long, value_name = "DIR")]
    skills: Vec<PathBuf>,

    /// Prefer targets that work without supervision, or with it
    #[arg(long, value_name = "BOOL")]
    pub autonomous: Option<bool>,
}

pub fn run(args: &Args, project: &Project) -> anyhow::Result<Exit> {
    let input = Input::named(&args.file, None);
    let source = &input.text(project.settings.size_max)?;
    let outside = world::outside(None);
    let request = Request {
        contract: Some("universal_handoff"),
        ..Request::alone(Source { name: &input.name, text: source }, &outside)
    };
    let checked = check(&project.checker(), &request);
    let handoff = checked.records.first().and_then(|record| record.downcast_ref::<UniversalHandoff>());
    let Some(handoff) = handoff else {
        output::say(&text::verdict(&checked.decision));
        output::say(&format!(
            "error: this is not a handoff whose target can be looked for: {}",
            checked.decision.reason
        ));
        return Ok(Exit::Refused);
    };
    let candidates = candidates(&args.among, project)?;
    rank(handoff, &candidates, args.among.autonomous, args.format)
}

/// Shows the best candidates for a handoff, or that there is none.
pub fn rank(
    handoff: &UniversalHandoff,
    candidates: &[Candidate],
    autonomous: Option<bool>,
    format: Format,
) -> anyhow::Result<Exit> {
    let best = targets::best(handoff, candidates, autonomous);
    if best.is_empty() {
        let known: Vec<&str> = candidates.iter().map(|it| it.name.as_str()).collect();
        let known = if known.is_empty() { "none were found".to_owned() } else { known.join(", ") };
        output::say(&format!("error: no workflow can take this handoff; those that are known: {known}"));
        output::say("help: list more in `.countersign/registry.yaml`, or name a place with --registry or --skills");
        return Ok(Exit::Refused);
    }
    if format == Format::Json {
        let list: Vec<Value> = best
            .iter()
            .map(|it| {
                let parts: Vec<Value> = it
                    .parts
                    .iter()
                    .map(|part| json!({ "part": part.name, "points": part.points, "reason": part.reason }))
                    .collect();
                json!({ "skill": it.candidate.name, "score": it.score, "parts": parts })
            })
            .collect();
        output::print(&format!("{}\n", visible_json(&format!("{:#}", json!(list)))));
        return Ok(Exit::Allowed);
    }
    for it in &best {
        let description = it.candidate.description.as_deref().map(|it| format!("  {}", countersign_contract::show(it)));
        let name = visible(&it.candidate.name);
        output::print(&format!("{:>4}  {name}{}\n", it.score, description.unwrap_or_default()));
        for part in &it.parts {
            let reason = visible(&part.reason);
            output::print(&format!("      {:>+4} {}: {reason}\n", part.points, part.name));
        }
    }
    Ok(Exit::Allowed)
}

/// Everyone who could take over. An entry that cannot be read is skipped, and said.
pub fn candidates(args: &Among, project: &Project) -> anyhow::Result<Vec<Candidate>> {
    let root = project.root.clone().unwrap_or_default();
    let there = |path: PathBuf| path.exists().then_some(path);
    let (registries, folders): (Vec<PathBuf>, Vec<PathBuf>) = if args.registry.is_empty() && args.skills.is_empty() {
        let registry = root.join(crate::project::FOLDER).join("registry.yaml");
        let folders = [".claude/skills", "skills"].map(|folder| root.join(folder));
        (there(registry).into_iter().collect(), folders.into_iter().filter_map(there).collect())
    } else {
        (args.registry.clone(), args.skills.clone())
    };
    let mut registered = Vec::new();
    for path in registries {
        let value = read_value(&path, Form::of_name(&path.to_string_lossy()).unwrap_or(Form::Yaml))
            .with_context(|| format!("the registry {} cannot be read", path.display()))?;
        let (found, skipped) = targets::from_registry(&value);
        registered.extend(found);
        for it in skipped {
            let what = match it.name {
                Some(name) => format!("`{name}`"),
                None => format!("an entry of `{}`", path.display()),
            };
            output::say(&format!("warning: could not parse {what}, skipping it: {}", it.why));
        }
    }
    let mut described = Vec::new();
    for path in folders.iter().flat_map(|folder| skill_files(folder)) {
        let found = read_value(&path, Form::Markdown)
            .and_then(|value| targets::from_front_matter(&value).map_err(|skipped| anyhow::anyhow!(skipped.why)));
        match found {
            Ok(found) => described.extend(found),
            Err(error) => {
                output::say(&format!("warning: could not parse `{}`, skipping it: {error}", path.display()));
            }
        }
    }
    Ok(targets::merge(registered, described))
}

/// The Markdown files below a folder that have front matter, in order.
fn skill_files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).hidden(false).sort_by_file_path(Ord::cmp).build();
    let paths = walk.filter_map(Result::ok).map(ignore::DirEntry::into_path);
    paths.filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending == "md")).collect()
}

fn read_value(path: &Path, form: Form) -> anyhow::Result<Value> {
    let bytes = files::read(path, SIZE_MAX).map_err(|why| anyhow::anyhow!(why.why(SIZE_MAX)))?;
    let text = utf8(&bytes).map_err(|fault| anyhow::anyhow!(fault.message))?;
    let document = parse(text, form, SIZE_MAX).map_err(|fault| anyhow::anyhow!(fault.message))?;
    Ok(document.root().to_value())
}
