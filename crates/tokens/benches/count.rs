//! How fast tokens are counted, as a ratio to `bpe-openai` in the same run.
//!
//! `cargo bench -p countersign-tokens --features peer`. With `TEXTS=<directory>` each file in it is one more text.
//! The ratios are printed at the end; above 1 this crate is faster.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and stops where it cannot read")]

use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{env, fs};

use bpe_openai::{Normalizable, Tokenizer};
use countersign_tokens::Encoding;
use criterion::{Criterion, Throughput};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    let texts = texts();
    counts(&mut criterion, &texts);
    within(&mut criterion, &texts);
    criterion.final_summary();
    print_ratios(&texts);
}

type Peer = fn() -> &'static Tokenizer;

const PAIRS: [(Encoding, Peer); 2] =
    [(Encoding::O200kBase, bpe_openai::o200k_base), (Encoding::Cl100kBase, bpe_openai::cl100k_base)];

fn counts(criterion: &mut Criterion, texts: &[(String, String)]) {
    for (encoding, peer) in PAIRS {
        let mut group = criterion.benchmark_group(format!("{encoding}/count"));
        for (name, text) in texts {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("{name}/countersign"), |b| b.iter(|| encoding.count(black_box(text))));
            group.bench_function(format!("{name}/bpe-openai"), |b| b.iter(|| peer().count(black_box(text.as_str()))));
        }
    }
}

/// A budget of a hundred tokens for texts that are far above it.
fn within(criterion: &mut Criterion, texts: &[(String, String)]) {
    for (encoding, peer) in PAIRS {
        let mut group = criterion.benchmark_group(format!("{encoding}/within 100"));
        for (name, text) in texts {
            group.bench_function(format!("{name}/countersign"), |b| {
                b.iter(|| encoding.count_within(black_box(text), 100));
            });
            let normal = text.as_str().normalize(false);
            group.bench_function(format!("{name}/bpe-openai"), |b| {
                b.iter(|| peer().count_till_limit(black_box(&normal), 100));
            });
        }
    }
}

/// Criterion does not compare two functions, so the ratio is measured here: the best of rounds that alternate.
fn print_ratios(texts: &[(String, String)]) {
    println!("\n{:<12} {:<16} {:>9} {:>12} {:>12} {:>7}", "", "text", "bytes", "countersign", "bpe-openai", "ratio");
    for (encoding, peer) in PAIRS {
        for (name, text) in texts {
            assert_eq!(encoding.count(text), peer().count(text.as_str()), "{encoding} {name}");
            let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
            for _ in 0..10 {
                ours = ours.min(time(text, || encoding.count(black_box(text))));
                theirs = theirs.min(time(text, || peer().count(black_box(text.as_str()))));
            }
            let rate = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
            let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
            println!(
                "{encoding:<12} {name:<16} {:>9} {:>7.1} MB/s {:>7.1} MB/s {ratio:>6.2}x",
                text.len(),
                rate(ours),
                rate(theirs)
            );
        }
    }
}

/// The time of one count, over enough of them to be measured.
fn time(text: &str, count: impl Fn() -> usize) -> Duration {
    let rounds = u32::try_from(200_000 / text.len().max(1)).unwrap_or(0) + 1;
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(count());
    }
    start.elapsed() / rounds
}

fn texts() -> Vec<(String, String)> {
    let code = [
        include_str!("../src/encoding.rs"),
        include_str!("../src/merge/chain.rs"),
        include_str!("../src/merge/queue.rs"),
        include_str!("../src/merge/window.rs"),
        include_str!("../src/vocabulary.rs"),
        include_str!("../src/split/mod.rs"),
        include_str!("../src/split/o200k.rs"),
        include_str!("../build/main.rs"),
        include_str!("../build/merges.rs"),
        include_str!("../build/perfect.rs"),
        include_str!("count.rs"),
    ]
    .concat();
    let prose =
        code.lines().filter_map(|line| line.trim().strip_prefix("//")).map(|line| line.trim_start_matches(['/', '!']));
    let mut texts = vec![
        ("prose".to_owned(), prose.collect()),
        ("code".to_owned(), code),
        ("json".to_owned(), (0..200).map(event).collect()),
        ("unicode".to_owned(), unicode(30_000)),
        ("one letter".to_owned(), "a".repeat(20_000)),
        ("spaces".to_owned(), " ".repeat(20_000)),
    ];
    if let Some(directory) = env::var_os("TEXTS") {
        for entry in fs::read_dir(directory).expect("TEXTS is a directory") {
            let entry = entry.expect("TEXTS can be read");
            let text = fs::read_to_string(entry.path()).expect("each file of TEXTS is UTF-8");
            texts.push((entry.file_name().to_string_lossy().into_owned(), text));
        }
    }
    texts
}

fn event(n: u32) -> String {
    let id = scramble(n);
    format!(
        "{{\"seq\":{n},\"id\":\"evt_{id:08x}\",\"kind\":\"work.claimed\",\"time\":\"2026-01-{:02}T{:02}:{:02}:07Z\",\
         \"actor\":\"agent/{}\",\"data\":{{\"task\":\"run-{}/parse-input\",\"paths\":[\"src/lib.rs\",\"tests/{id:x}.rs\"],\
         \"tokens\":{},\"ok\":{}}}}}\n",
        n % 28 + 1,
        n % 24,
        id % 60,
        id % 9,
        n / 7,
        id % 100_000,
        id.is_multiple_of(3)
    )
}

fn unicode(chars: u32) -> String {
    (0..chars).filter_map(|n| char::from_u32(scramble(n) % 0x11_0000)).collect()
}

/// Numbers without a pattern, the same in every run.
fn scramble(n: u32) -> u32 {
    let n = n.wrapping_add(1).wrapping_mul(0x9E37_79B9);
    (n ^ n >> 15).wrapping_mul(0x85EB_CA6B) ^ n >> 13
}
