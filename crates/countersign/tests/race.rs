//! Sixty-four processes reach for one task, and for scopes that overlap: each time one of them wins, and the others are told
//! who did. Twenty rounds here; in a soak as many as `COUNTERSIGN_ROUNDS` says, or `COUNTERSIGN_SOAK` gives time for.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{Answer, House};
use serde_json::Value;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const PROCESSES: usize = 64;
const ROUNDS: usize = 20;

/// Whether another round is due: so many of them, as many as were asked for, or as long as a soak lasts.
fn goes_on(round: usize, since: Instant) -> bool {
    if let Ok(asked) = std::env::var("COUNTERSIGN_ROUNDS") {
        let asked: usize = asked.parse().unwrap();
        if round > 0 && round.is_multiple_of(20) {
            eprintln!("{round} of {asked} rounds");
        }
        return round < asked;
    }
    let minutes = std::env::var("COUNTERSIGN_SOAK").ok().and_then(|it| it.parse::<f64>().ok());
    minutes.map_or(round < ROUNDS, |minutes| since.elapsed() < Duration::from_secs_f64(minutes * 60.0))
}

fn done(answer: &Answer) -> Value {
    assert_eq!(answer.code, 0, "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn of_many_processes_one_wins_a_task_and_one_an_overlapping_scope() {
    let house = House::new();
    done_text(&house.run(&["init", "--name", "race"]));
    done_text(&house.run(&["run", "open", "--objective", "race"]));
    let (since, mut round) = (Instant::now(), 0);
    while goes_on(round, since) {
        // In even rounds all reach for one task; in odd ones for two whose scopes overlap.
        let tasks = if round % 2 == 0 { 1 } else { 2 };
        let ids: Vec<String> = (0..tasks).map(|task| format!("T-{}", round * 2 + task)).collect();
        for (id, path) in ids.iter().zip([format!("src/{round}"), format!("src/{round}/deep/file.rs")]) {
            let add = ["task", "add", id, "--title", "race", "--lock", &path, "--accept", "it is won"];
            done_text(&house.run(&add));
        }
        let start = Barrier::new(PROCESSES);
        let answers: Vec<Answer> = std::thread::scope(|scope| {
            let reach = |number: usize| {
                let (house, start, id) = (&house, &start, &ids[number % ids.len()]);
                scope.spawn(move || {
                    let worker = format!("worker-{number}");
                    start.wait();
                    house.run(&["task", "claim", id, "--as", &worker, "--format", "json"])
                })
            };
            let all: Vec<_> = (0..PROCESSES).map(reach).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let won: Vec<&Answer> = answers.iter().filter(|answer| answer.code == 0).collect();
        assert_eq!(won.len(), 1, "round {round}: {answers:#?}");
        let winner = done(won[0])["owner"].as_str().unwrap().to_owned();
        for lost in answers.iter().filter(|answer| answer.code != 0) {
            assert_eq!(lost.code, 1, "{lost:?}");
            let refusal: Value = serde_json::from_str(&lost.out).unwrap();
            let code = refusal["code"].as_str().unwrap();
            assert!(["CONCURRENCY_CONFLICT", "LOCK_CONFLICT"].contains(&code), "{refusal}");
            let reason = refusal["reason"].as_str().unwrap();
            assert!(reason.contains(&winner) && reason.contains("until 20"), "who, and until when: {reason}");
        }
        round += 1;
    }
    done_text(&house.run(&["verify"]));
    // Rows of a soak are added up.
    eprintln!("count: {round} races of {PROCESSES} processes");
}

fn done_text(answer: &Answer) {
    assert_eq!(answer.code, 0, "{answer:?}");
}
