//! `countersign export`

use super::{Exit, checkpoint, log, output, progress};
use crate::files;
use crate::home::Home;
use crate::place::{Place, must_be_no_ledger};
use countersign_engine::{Engine, Stored};
use countersign_ledger::{PAGE_EVENTS, export};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write the ledger out, to be kept, carried and verified anywhere
///
/// One line for each event with its texts, and a signed end. What was erased is not in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign export --out audit.jsonl
  countersign export --since 4711 --format cloudevents")]
pub struct Args {
    /// From this event on
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    since: u64,

    /// How events are written
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines that `verify` and `import` read
    Jsonl,
    /// CloudEvents 1.0, without texts
    Cloudevents,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    must_be_no_ledger(args.out.as_deref())?;
    let engine = place.engine()?;
    let signs = args.format == Format::Jsonl && Home::find()?.secret_key(engine.ledger().project())?.is_some();
    // What contradicts the kept checkpoint is not signed a second time.
    if signs && checkpoint::signed(&engine)?.is_none() {
        return Ok(Exit::Refused);
    }
    match &args.out {
        Some(path) => to_file(args, &engine, path)?,
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
            match write(args, &engine, &mut out) {
                Err(error) if !output::is_closed_pipe(&error) => return Err(error),
                _ => {}
            }
        }
    }
    Ok(Exit::Allowed)
}

/// Writes the whole file or none.
fn to_file(args: &Args, engine: &Engine, path: &Path) -> anyhow::Result<()> {
    files::write_by(path, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(args, engine, &mut out)?;
        Ok(out.flush()?)
    })
}

fn write(args: &Args, engine: &Engine, out: &mut dyn Write) -> anyhow::Result<()> {
    let project = engine.ledger().project();
    let mut store = engine.ledger().store()?;
    let bar = progress("exporting", store.head()?.seq);
    match args.format {
        Format::Jsonl => {
            let key = Home::find().and_then(|home| home.secret_key(project))?;
            if key.is_none() {
                output::say("note: the signing key is not here, so nobody can tell who made this export");
            }
            export(&mut *store, project, args.since, key.as_ref(), out, &mut |done, _| bar.set_position(done))?;
        }
        Format::Cloudevents => {
            let end = store.head()?.seq;
            let mut next = args.since.max(1);
            while next <= end {
                let page = store.events(next, None, PAGE_EVENTS)?;
                for row in page.into_iter().filter(|row| row.seq <= end) {
                    next = row.seq + 1;
                    writeln!(out, "{}", log::cloud_event(&Stored::of(row)?, project))?;
                }
                bar.set_position(next - 1);
            }
            out.flush()?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}
