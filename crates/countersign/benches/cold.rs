//! What `countersign check` takes from its start to its end: one small file beside a program that does nothing, one whose tokens
//! must be counted exactly, and a directory of many.
//!
//! ```text
//! cargo bench -p countersign --bench cold [FILES]
//! ```
//!
//! The other program is the smallest that the same compiler makes: it prints a line. Programs are started in turns. What a process
//! used is read from `/proc`, so the figures of the directory beside its time are to be had on Linux alone.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]
#![allow(dead_code, reason = "a measurement uses its part of the house")]

mod documents;
mod hello;
#[path = "../tests/house/mod.rs"]
mod house;

use countersign_contract::Settings;
use countersign_domain::handoff::budget;
use house::House;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TURNS: usize = 200;
/// How many files of 4 KB the directory has, unless another number is named.
const FILES: usize = 10_000;

fn main() {
    let asked = std::env::args().skip(1).find_map(|it| it.parse::<usize>().ok());
    one_small_file();
    many_files(asked.unwrap_or(FILES));
}

fn one_small_file() {
    let house = House::new();
    let hello = hello::program(&house);
    house.document("small.json", "assignment", json!({}));
    house.write("counted.json", handoff_to_count().to_string());
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        times[0].push(took(Command::new(&hello)));
        times[1].push(took(check(&house, "small.json")));
        times[2].push(took(check(&house, "counted.json")));
    }
    let [nothing, small, counted] = times.map(median);
    let ratio = small.as_secs_f64() / nothing.as_secs_f64();
    println!("a small file, cold: {small:?}, a program that does nothing {nothing:?}: {ratio:.2} times (limit 2)");
    let millis = counted.as_secs_f64() * 1e3;
    println!("a handoff whose tokens are counted exactly, cold: {millis:.1} ms (limit 15 ms)");
}

fn many_files(files: usize) {
    let house = House::new();
    let document: Value = serde_json::from_str(&documents::assignment()).unwrap();
    std::fs::create_dir(house.path("many")).unwrap();
    for number in 0..files {
        let mut document = document.clone();
        // Tasks that have nothing to do with each other: each is in a run of its own.
        document["run_id"] = json!(format!("3f56dc4d-35cf-4f97-925c-{number:012x}"));
        house.write(&format!("many/{number:05}.json"), serde_json::to_string_pretty(&document).unwrap());
    }
    // Once for nothing, so that both times the files come from memory.
    took(check(&house, "many"));
    let (before, started) = (ticks_of_children(), Instant::now());
    let mut child = check(&house, "many").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = None;
    while child.try_wait().unwrap().is_none() {
        peak = peak_of(child.id()).or(peak);
        std::thread::sleep(Duration::from_millis(1));
    }
    let time = started.elapsed();
    let (after, peak) = (ticks_of_children(), peak.unwrap_or_default());
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    let busy = (after - before) as f64 / TICKS_A_SECOND / time.as_secs_f64();
    println!(
        "{files} files of 4 KB: {time:.2?}, {:.0} % of {cores} cores, at most {:.1} MB of memory",
        busy / cores as f64 * 100.0,
        peak as f64 / 1024.0
    );
}

/// A handoff that its estimate says too little about: it is far more tokens than a quarter of its characters, and states how many.
fn handoff_to_count() -> Value {
    let text = "一份需要逐字計數的文件。".repeat(60);
    let patch = json!({ "handoff": { "payload": { "working": { "text": text } } } });
    let mut document = house::document("universal_handoff", patch);
    budget::state_count(&mut document, &Settings::default());
    document
}

fn check(house: &House, what: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["check", what]).current_dir(house.path(""));
    command.env("COUNTERSIGN_HOME", house.path(".home"));
    command
}

fn took(mut command: Command) -> Duration {
    let started = Instant::now();
    let ended = command.stdin(Stdio::null()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// How the kernel counts the time of a process, on every machine of today.
const TICKS_A_SECOND: f64 = 100.0;

/// How long all processes that were started here and have ended used a core, in ticks.
fn ticks_of_children() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let numbers: Vec<u64> = behind_name.split_whitespace().map(|it| it.parse().unwrap_or(0)).collect();
    // The sixteenth and seventeenth field; the first two stand before the end of the name.
    numbers.get(13..15).map_or(0, |times| times.iter().sum())
}

/// The most memory that a process had so far, in KiB.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
