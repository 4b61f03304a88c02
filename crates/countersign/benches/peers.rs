//! What a check costs beside the tools that people use today: `JSON.parse` with compiled ajv in Node, and pydantic in
//! Python, each from bytes, in a warm process. `cargo xtask bench-peers` installs them and runs this.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark whose peers are missing should stop")]
#![allow(dead_code, reason = "the other benchmark uses the rest of the shared files")]

mod documents;
mod turns;

use countersign_contract::{Checker, Outside, Request, Settings, check};
use countersign_diagnostic::Source;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often ours and the peers take turns.
const ROUNDS: usize = 5;

fn main() {
    let Some(peers) = std::env::var_os("COUNTERSIGN_PEERS").map(PathBuf::from) else {
        println!("peers are measured by `cargo xtask bench-peers`, which installs them first");
        return;
    };
    let documents = [
        ("assignment", documents::assignment()),
        ("universal_handoff", documents::handoff()),
        ("universal_handoff", documents::handoff_without_hash()),
    ];
    for (contract, text) in documents {
        let document = peers.join(format!("{contract}.json"));
        let schema = peers.join(format!("{contract}.schema.json"));
        std::fs::write(&document, &text).unwrap();
        std::fs::write(&schema, (countersign_domain::contract(contract).unwrap().schema)().to_string()).unwrap();
        let settings = Settings { encoding: "chars4", ..Settings::default() };
        let mut best = [f64::INFINITY; 4];
        let has_hash = text.contains("payload_hash");
        for _ in 0..ROUNDS {
            for _ in 0..20 {
                best[0] = best[0].min(turns::turn(&mut || checked(&text, &settings)));
            }
            let scripts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
            let ajv = peers.join("ajv.mjs");
            // Node looks for packages beside the script.
            std::fs::copy(scripts.join("ajv.mjs"), &ajv).unwrap();
            best[1] = best[1].min(nanos(Command::new("node").arg(&ajv).args([&document, &schema])));
            if has_hash {
                best[3] = best[3].min(nanos(Command::new("node").arg(ajv).args([&document, &schema]).arg("hash")));
            }
            let python = peers.join("venv/bin/python");
            best[2] = best[2]
                .min(nanos(Command::new(python).arg(scripts.join("pydantic_peer.py")).arg(contract).arg(&document)));
        }
        println!("{contract}, {} bytes", text.len());
        let labels = ["check", "JSON.parse + ajv", "pydantic", "JSON.parse + ajv + hash and size"];
        for (label, nanos) in labels.into_iter().zip(best).filter(|(_, nanos)| nanos.is_finite()) {
            turns::line(label, text.len(), nanos, best[0]);
        }
    }
}

fn checked(text: &str, settings: &Settings) {
    let checker = Checker { contracts: countersign_domain::contracts(), foreign: &[], settings, raised: &[] };
    let outside = Outside::default();
    let text = std::str::from_utf8(black_box(text.as_bytes())).unwrap();
    black_box(check(&checker, &Request::alone(Source { name: "document.json", text }, &outside)));
}

/// A peer prints the nanoseconds of its best turn.
fn nanos(command: &mut Command) -> f64 {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().parse().unwrap_or_else(|_| {
        println!("a peer failed: {}", String::from_utf8_lossy(&output.stderr));
        std::process::exit(1)
    })
}
