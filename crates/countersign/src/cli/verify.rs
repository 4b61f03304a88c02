//! `countersign verify`

use super::output::Format;
use super::{Exit, output, progress};
use crate::files;
use crate::home::{self, Home};
use crate::place::{self, Place};
use anyhow::{Context, bail};
use countersign_engine::Meaning;
use countersign_ledger::{
    self as ledger, Checkpoint, EachPage, Error, Event, EventRow, Exported, Ledger, PublicKey, Verified, Verifying,
    read_export, verify,
};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Recompute everything in the ledger, and say what does not match
///
/// Every event is hashed and compared with its successor, its texts and its place in the tree; everything that is derived
/// is made again from the events and compared row by row. The checkpoint that was kept in the user's configuration is met
/// on the way. An export is verified in the same way, with nothing but the public key.
///
/// Whoever can write the ledger and its key can rewrite all of it consistently. That shows only against a checkpoint that
/// was kept somewhere else: give it with --checkpoint.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign verify
  countersign verify --checkpoint ~/kept/monday.note
  countersign verify audit.jsonl --key countersign.pub
  ssh build countersign export | countersign verify - --key countersign.pub

Exit codes: 0 everything matches, 1 something does not, 3 it could not be read.")]
pub struct Args {
    /// An export to verify instead of the ledger; `-` reads standard input
    #[arg(value_name = "FILE.jsonl")]
    file: Option<PathBuf>,

    /// A signed checkpoint that was kept elsewhere; may be given several times
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,

    /// A public key to trust, as a file; otherwise those in the user's configuration
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    /// Only from this event on: chain and texts, not what is derived; an export is verified as a whole
    #[arg(long, value_name = "SEQ", default_value_t = 1, conflicts_with = "file")]
    from: u64,

    /// Accept an export that nobody has signed
    #[arg(long)]
    unsigned: bool,

    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args, place: impl Fn() -> anyhow::Result<Place>) -> anyhow::Result<Exit> {
    let keys = keys(&args.key)?;
    let mut checkpoints = Vec::new();
    for path in &args.checkpoint {
        let note = files::text(path)?;
        checkpoints.push(Checkpoint::open(&note, &keys).with_context(|| format!("{} cannot be used", path.display()))?);
    }
    if args.from > 1 && !reach(args, &checkpoints) {
        return Ok(Exit::Usage);
    }
    match &args.file {
        Some(file) => of_export(args, file, &keys, &checkpoints),
        None => of_ledger(args, &place()?, checkpoints),
    }
}

/// Whether each checkpoint that was given knows what is looked at. One that ends before would say nothing of it.
fn reach(args: &Args, checkpoints: &[Checkpoint]) -> bool {
    let before = args.checkpoint.iter().zip(checkpoints).find(|(_, it)| it.size + 1 < args.from);
    if let Some((path, early)) = before {
        let (path, size, from) = (path.display(), early.size, args.from);
        output::say(&format!("error: {path} knows {size} events, and --from {from} looks at later ones alone"));
        output::say(&format!("  help: leave --from away, or begin with event {} at the latest", size + 1));
    }
    before.is_none()
}

/// The keys that were named, or those of the user.
pub fn keys(named: &[PathBuf]) -> anyhow::Result<Vec<PublicKey>> {
    if named.is_empty() {
        return Home::find().map_or_else(|_| Ok(Vec::new()), |home| home.public_keys());
    }
    named.iter().map(|path| home::read_public(path)).collect()
}

/// Damage that keeps a ledger from being gone through is a finding, too.
fn of_ledger(args: &Args, place: &Place, checkpoints: Vec<Checkpoint>) -> anyhow::Result<Exit> {
    let gone_through = go_through(args, place, checkpoints);
    match gone_through.as_ref().err().and_then(|error| error.downcast_ref::<Error>()) {
        Some(Error::Damaged(why)) => Ok(differs(args, why)),
        _ => gone_through,
    }
}

/// Says the one thing that kept everything else from being looked at.
fn differs(args: &Args, why: &str) -> Exit {
    match args.format {
        Format::Json => {
            let findings = [serde_json::json!({ "event": null, "what": why })];
            output::print(&format!("{}\n", serde_json::json!({ "matches": false, "findings": findings })));
        }
        Format::Text => output::say(&format!("does not match: {why}")),
    }
    Exit::Refused
}

fn go_through(args: &Args, place: &Place, mut checkpoints: Vec<Checkpoint>) -> anyhow::Result<Exit> {
    let mut store = place.open()?;
    let project = match Ledger::project_in(store.another()?)? {
        Some(project) => project,
        None if store.head()?.seq > 0 => {
            // Says what is wrong with it.
            Ledger::open(store, Arc::new(Meaning))?;
            bail!("this ledger names no project");
        }
        None => bail!("there is no project in this ledger; run `countersign init`"),
    };
    if let Some(name) = place.name_of_log()?.filter(|name| *name != project) {
        return Err(Error::Damaged(format!("the log of project {project} is found as `{name}`")).into());
    }
    let kept = Home::find()?.kept_checkpoint(&project)?.filter(|kept| kept.size >= args.from);
    let had_kept = kept.is_some();
    checkpoints.extend(kept);
    let bar = progress("verifying", store.head()?.seq);
    let verifying = Verifying { from: args.from, checkpoints };
    let verified = verify(&mut *store, &Meaning, &verifying, &mut |done, _| bar.set_position(done));
    bar.finish_and_clear();
    let verified = verified?;
    if args.format == Format::Json {
        output::print(&format!("{}\n", as_json(&verified)));
        return Ok(if verified.findings.is_empty() { Exit::Allowed } else { Exit::Refused });
    }
    if !verified.findings.is_empty() {
        return Ok(tell(&verified));
    }
    output::print(&summary(args, &verified));
    if let Some(why) = &verified.closed {
        output::say(&format!("note: the ledger takes no commands, which no event accounts for: {why}"));
    }
    if !had_kept && args.checkpoint.is_empty() && args.from <= 1 {
        output::say(
            "note: no checkpoint was kept, so a rewrite of the whole ledger would not show; `countersign checkpoint` makes one",
        );
    }
    Ok(Exit::Allowed)
}

fn as_json(verified: &Verified) -> serde_json::Value {
    let Verified { project, head, root, events, texts, erased, rows, checkpoints, closed, findings } = verified;
    let findings: Vec<_> = findings.iter().map(|it| serde_json::json!({ "event": it.seq, "what": it.what })).collect();
    serde_json::json!({
        "matches": findings.is_empty(),
        "project": project,
        "events": events,
        "head": { "seq": head.seq, "hash": head.hash.to_string() },
        "root": root.to_string(),
        "texts": texts,
        "erased": erased,
        "rows": rows,
        "checkpoints": checkpoints,
        "closed": closed,
        "findings": findings,
    })
}

fn tell(verified: &Verified) -> Exit {
    for finding in &verified.findings {
        let about = finding.seq.map_or_else(String::new, |seq| format!("event {seq}: "));
        output::say(&format!("does not match: {about}{}", finding.what));
    }
    let first = verified.findings.iter().filter_map(|finding| finding.seq).min();
    let up_to = first.map_or_else(String::new, |seq| format!("; the first bad event is {seq}"));
    let count = match verified.findings.len() {
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    output::say(&format!("the ledger is not what was recorded: {count}{up_to}"));
    Exit::Refused
}

fn summary(args: &Args, verified: &Verified) -> String {
    let Verified { events, texts, erased, rows, checkpoints, head, root, .. } = verified;
    let scope = if args.from > 1 {
        format!("  from event {} on: what is derived was not compared\n", args.from)
    } else {
        format!("  derived     {rows} rows, each as the events make it\n")
    };
    format!(
        "everything matches\n  events      {events}, to {} {}\n  tree        {root}\n  texts       {texts}, and {erased} erased\n{scope}  checkpoints {checkpoints} met\n",
        head.seq, head.hash
    )
}

/// Reads an export, and holds it against what is known here of its project as well: the checkpoint that was kept, where
/// that lies in it. One that ends before knows less, and contradicts nothing.
pub(super) fn read_known(
    from: &mut dyn BufRead,
    keys: &[PublicKey],
    known: &[Checkpoint],
    each: EachPage<'_>,
) -> ledger::Result<Exported> {
    let (mut kept, mut met) = (None, 0);
    let mut exported = read_export(from, keys, known, &mut |project, first, events, texts| {
        if kept.is_none() {
            kept = Some(kept_of(project)?);
        }
        if let Some(Some(kept)) = &kept {
            met += u64::from(meets(kept, first, &events)?);
        }
        each(project, first, events, texts)
    })?;
    exported.checkpoints += met;
    Ok(exported)
}

/// Whether a page of an export, which begins with event `first`, reaches the end of what a checkpoint knows, which then
/// must be the same. The hash of one event stands for all before it.
fn meets(kept: &Checkpoint, first: u64, page: &[EventRow]) -> ledger::Result<bool> {
    let before = page.first().filter(|row| row.seq == first && first == kept.size + 1);
    let here = match (page.iter().find(|row| row.seq == kept.size), before) {
        (Some(row), _) => row.hash,
        (None, Some(row)) => Event::read(&row.body).map_err(Error::Malformed)?.prev,
        (None, None) => return Ok(false),
    };
    if here == kept.head {
        return Ok(true);
    }
    let why = "this is another log than the one that the checkpoint knows which was kept here";
    Err(Error::Malformed(format!("up to event {} {why}", kept.size)))
}

/// The checkpoint that was kept of a project, where there is a place for such.
fn kept_of(project: &str) -> ledger::Result<Option<Checkpoint>> {
    let Ok(home) = Home::find() else { return Ok(None) };
    let kept = home.kept_checkpoint(project).map(|kept| kept.filter(|it| it.size > 0));
    kept.map_err(|error| Error::Unreadable(format!("{error:#}")))
}

/// Opens an export; `-` is standard input. A ledger is none, and is told from one before anything is said of its lines.
pub(super) fn opened(file: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let mut opened: Box<dyn BufRead> = match file == Path::new("-") {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(files::opened(file)?),
    };
    let begins = opened.fill_buf().with_context(|| format!("`{}` cannot be read", file.display()))?;
    if place::begins_as_ledger(begins) {
        let path = file.display();
        bail!("{path} is a ledger and no export; `countersign --ledger {path} verify` verifies it");
    }
    Ok(opened)
}

fn of_export(args: &Args, file: &Path, keys: &[PublicKey], known: &[Checkpoint]) -> anyhow::Result<Exit> {
    let exported = match read_known(&mut opened(file)?, keys, known, &mut |_, _, _, _| Ok(())) {
        Ok(exported) => exported,
        Err(error @ (Error::Malformed(_) | Error::Newer { .. })) => {
            return Ok(differs(args, &format!("{}: {error}", file.display())));
        }
        Err(error) => return Err(error.into()),
    };
    if !exported.signed && !args.unsigned {
        let exit = differs(args, "no known key has signed this export, so anybody could have made it");
        output::say("  help: give the public key with --key, or accept that with --unsigned");
        return Ok(exit);
    }
    if args.format == Format::Json {
        let Exported { project, from, events, texts, erased, head, root, signed, checkpoints } = &exported;
        let answer = serde_json::json!({
            "matches": true, "project": project, "from": from, "events": events, "texts": texts, "erased": erased,
            "head": { "seq": head.seq, "hash": head.hash.to_string() }, "root": root.to_string(),
            "signed": signed, "checkpoints": checkpoints, "findings": [],
        });
        output::print(&format!("{answer}\n"));
        return Ok(Exit::Allowed);
    }
    let signed = if exported.signed { "signed by a known key" } else { "signed by nobody that is known" };
    output::print(&format!(
        "everything matches\n  project     {}\n  events      {}, from {} to {} {}\n  tree        {}\n  texts       {}, and {} erased\n  signature   {signed}\n  checkpoints {} met\n",
        exported.project,
        exported.events,
        exported.from,
        exported.head.seq,
        exported.head.hash,
        exported.root,
        exported.texts,
        exported.erased,
        exported.checkpoints,
    ));
    Ok(Exit::Allowed)
}
