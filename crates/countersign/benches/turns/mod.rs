//! Candidates that take turns, so that a busy machine slows all of them alike; the best of many rounds counts.

use std::time::{Duration, Instant};

/// Rounds, and how long a candidate runs in each.
const ROUNDS: usize = 60;
const TURN: Duration = Duration::from_millis(10);

/// Nanoseconds for one call, over one turn.
pub fn turn(candidate: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    let mut count = 0u32;
    while start.elapsed() < TURN {
        for _ in 0..8 {
            candidate();
        }
        count += 8;
    }
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// Measures the candidates on one document and prints a line for each; the last column is the ratio to the first.
pub fn report(name: &str, text: &str, candidates: &mut [(&str, &mut dyn FnMut())]) {
    println!("{name}, {} bytes", text.len());
    let mut best = vec![f64::INFINITY; candidates.len()];
    for _ in 0..ROUNDS {
        for ((_, candidate), best) in candidates.iter_mut().zip(&mut best) {
            *best = best.min(turn(candidate));
        }
    }
    for ((label, _), nanos) in candidates.iter().zip(&best) {
        line(label, text.len(), *nanos, best[0]);
    }
}

/// One line of the table.
pub fn line(label: &str, bytes: usize, nanos: f64, first: f64) {
    let speed = bytes as f64 * 1e3 / nanos;
    println!("  {label:<32} {:>8.2} µs {speed:>8.0} MB/s {:>6.2}", nanos / 1e3, nanos / first);
}
