//! The process is killed at any moment, and everything that was acknowledged is there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod appender;
mod dice;

use appender::{Heard, Under, ask, commands, is_whole, open, start};
use dice::{Dice, Rounds};
use std::path::Path;
use std::time::Duration;

/// Reopens what a killed process left, holds it against what that one said, and goes on with it.
fn take_up(folder: &Path, heard: &Heard) {
    let ledger = open(folder).unwrap();
    heard.holds(&commands(&ledger));
    is_whole(&ledger);
    // Whatever was not acknowledged is done once by being repeated, whether it was there or not.
    for key in heard.open() {
        let done = ask(&ledger, &key).unwrap();
        assert_eq!(ask(&ledger, &key).unwrap(), done);
    }
    let there = commands(&ledger);
    assert!(heard.open().iter().all(|key| there.contains_key(key)));
    is_whole(&ledger);
}

#[test]
fn a_process_killed_at_any_moment_has_kept_what_it_acknowledged() {
    const LIVES_OF_A_FOLDER: u64 = 25;
    let mut dice = Dice::thrown();
    let mut folder = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut lost_answers) = (0, 0);
    let mut rounds = Rounds::of(20);
    for life in rounds.by_ref() {
        if life % LIVES_OF_A_FOLDER == 0 {
            folder = tempfile::tempdir().unwrap();
        }
        let mut running = start("many", folder.path(), &format!("life{life}"), Under::Nothing);
        // Some are killed while they open, most while they write.
        if dice.below(5) > 0 {
            running.until("ok ");
        }
        std::thread::sleep(Duration::from_micros(dice.below(60_000)));
        let heard = running.kill();
        acknowledged += heard.acknowledged().len() as u64;
        lost_answers += heard.open().len() as u64;
        take_up(folder.path(), &heard);
    }
    dice::count("kills at a random moment survived", rounds.done());
    dice::count("appends acknowledged before a kill, all of them there once", acknowledged);
    dice::count("appends cut off by a kill, each done once by repeating it", lost_answers);
}
