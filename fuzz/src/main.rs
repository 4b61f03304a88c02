//! Drives every target from a seed, on any toolchain, within a bounded time.
//!
//! `drive [--target NAME] [--seed N] [--iterations N] [--seconds N] [--trace]`, or `drive --target NAME --input FILE` to
//! try one input again, or `drive --seeds-to FOLDER` to give another fuzzer the corpus to begin with.

use countersign_fuzz::{TARGETS, Target, mutate, seeds};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const SEED: u64 = 0xC0DE_51C4;
/// How many inputs each target is given.
const ITERATIONS: u64 = 100_000;
/// How long all of it may take. A slow machine tries fewer inputs, and says so.
const SECONDS: u64 = 24;
/// How long one input may take before it counts as a hang.
const HANG: Duration = Duration::from_secs(10);

struct Options {
    target: Option<String>,
    input: Option<PathBuf>,
    seeds_to: Option<PathBuf>,
    seed: u64,
    iterations: u64,
    seconds: u64,
    /// Writes each input to a file before it is tried, for faults that end the process.
    trace: bool,
}

fn main() -> ExitCode {
    let outcome = options().and_then(|options| run(&options));
    if let Err(message) = &outcome {
        eprintln!("error: {message}");
    }
    if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        target: None,
        input: None,
        seeds_to: None,
        seed: SEED,
        iterations: ITERATIONS,
        seconds: SECONDS,
        trace: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{name}` wants a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number"));
        match name.as_str() {
            "--target" => options.target = Some(value()?),
            "--input" => options.input = Some(value()?.into()),
            "--seeds-to" => options.seeds_to = Some(value()?.into()),
            "--seed" => options.seed = number(value()?)?,
            "--iterations" => options.iterations = number(value()?)?,
            "--seconds" => options.seconds = number(value()?)?,
            "--trace" => options.trace = true,
            _ => {
                return Err(format!(
                    "`{name}` is not known; known are --target, --input, --seeds-to, --seed, --iterations, --seconds, --trace"
                ));
            }
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    if let Some(folder) = &options.seeds_to {
        return seeds::seeds()
            .iter()
            .try_for_each(|seed| write(folder, &format!("seed-{:016x}", hash(seed)), seed).map(drop));
    }
    let chosen = |name: &str| options.target.as_deref().is_none_or(|target| target == name);
    let targets: Vec<_> = TARGETS.iter().filter(|(name, _)| chosen(name)).collect();
    if targets.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no such target; known are {}", names.join(", ")));
    }
    if let Some(path) = &options.input {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        return targets.iter().try_for_each(|(name, target)| attempt(name, *target, &bytes));
    }
    let corpus = seeds::seeds();
    let watch = Watch::start();
    let share = Duration::from_secs(options.seconds) / u32::try_from(targets.len()).unwrap_or(1);
    for (name, target) in targets {
        drive(name, *target, &corpus, options, share, &watch)?;
    }
    Ok(())
}

fn drive(
    name: &str,
    target: Target,
    corpus: &[Vec<u8>],
    options: &Options,
    share: Duration,
    watch: &Watch,
) -> Result<(), String> {
    let start = Instant::now();
    let mut done = 0;
    while done < options.iterations && start.elapsed() < share {
        let bytes = mutate::input(corpus, options.seed, done);
        if options.trace {
            keep(name, "last", &bytes)?;
        }
        watch.begin(name, &bytes);
        let outcome = attempt(name, target, &bytes);
        watch.end();
        outcome.map_err(|message| format!("{message}\n(seed {}, iteration {done})", options.seed))?;
        done += 1;
    }
    let cut = if done < options.iterations { ", cut by the time allowed" } else { "" };
    println!("{name:<6} {done} inputs in {:.1} s (seed {}){cut}", start.elapsed().as_secs_f64(), options.seed);
    Ok(())
}

/// Tries one input. What a target says when it panics goes to standard error by itself.
fn attempt(name: &str, target: Target, bytes: &[u8]) -> Result<(), String> {
    if catch_unwind(|| target(bytes)).is_ok() {
        return Ok(());
    }
    let path = keep(name, &format!("crash-{:016x}", hash(bytes)), bytes)?;
    Err(failed("panics", name, &path))
}

fn failed(how: &str, name: &str, path: &Path) -> String {
    let path = path.display();
    let again = format!("cargo run --manifest-path fuzz/Cargo.toml -- --target {name} --input {path}");
    format!("target `{name}` {how} on {path}; to try it again: {again}")
}

fn keep(name: &str, file: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name), file, bytes)
}

fn write(folder: &Path, file: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = folder.join(file);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

/// The input being tried: since when, by which target.
type Current = Option<(Instant, String, Vec<u8>)>;

/// Ends the process when one input takes too long, which no target could say of itself.
struct Watch {
    current: Arc<Mutex<Current>>,
}

impl Watch {
    fn start() -> Watch {
        let current: Arc<Mutex<Current>> = Arc::default();
        let seen = Arc::clone(&current);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(HANG / 10);
                let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((since, name, bytes)) = seen.as_ref()
                    && since.elapsed() > HANG
                {
                    let kept = keep(name, &format!("hang-{:016x}", hash(bytes)), bytes);
                    eprintln!("error: {}", kept.map_or_else(|error| error, |path| failed("hangs", name, &path)));
                    std::process::exit(1);
                }
            }
        });
        Watch { current }
    }

    fn begin(&self, name: &str, bytes: &[u8]) {
        self.set(Some((Instant::now(), name.to_owned(), bytes.to_vec())));
    }

    fn end(&self) {
        self.set(None);
    }

    fn set(&self, value: Current) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}
