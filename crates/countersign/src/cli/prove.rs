//! `countersign prove`

use super::asking::{How, answer};
use super::output::Format;
use super::{Exit, checkpoint, output, show};
use crate::place::{Place, must_be_no_ledger};
use countersign_ledger::prove;
use serde_json::json;
use std::path::PathBuf;

/// Prove that an event is in the ledger, to somebody who does not have it
///
/// The proof holds the event, the hashes that lead from it to the root, and a signed checkpoint, in the form of
/// c2sp.org/tlog-proof. What can be erased is not in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign prove 12 --out 12.tlog-proof
  countersign verify-proof 12.tlog-proof --key countersign.pub")]
pub struct Args {
    /// The event's number or id
    #[arg(value_name = "SEQ")]
    what: String,

    /// Write it to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    must_be_no_ledger(args.out.as_deref())?;
    let engine = place.engine()?;
    let seq = show::find(&engine, &args.what)?;
    let Some((checkpoint, note)) = checkpoint::signed(&engine)? else { return Ok(Exit::Refused) };
    let proof = prove(&mut *engine.ledger().store()?, seq, &checkpoint, &note)?;
    if let Some(path) = &args.out {
        crate::files::write(path, &proof)?;
    }
    if args.out.is_none() || args.how.format == Format::Json {
        let shown = json!({ "event": seq, "size": checkpoint.size, "proof": proof, "out": args.out });
        output::print(&answer(&shown, args.how.format, |_| proof.clone()));
    }
    Ok(Exit::Allowed)
}
